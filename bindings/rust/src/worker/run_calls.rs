//! How each call of a run is carried out.

use crate::os::disk;
use crate::os::env::Env;
use crate::os::mutex::lock;
use crate::storage::io_failure::io_failure;
use crate::worker::lease_cache::LeaseFiles;
use crate::worker::settings::SnowflakeSettings;
use crate::worker::source::not_asked;
use crate::worker::worker_locks::{RecordFiles, WorkerLocks};
use leafid_core::call::FileAction;
use leafid_core::run::{RunCall, RunCallEnd};
use std::sync::Mutex;

/// Whether a call needs a thread of its own, because it may take any time, and because its transaction is not the caller's.
pub(crate) fn is_of_user(call: &RunCall) -> bool {
    matches!(
        call,
        RunCall::PeerTimes(_)
            | RunCall::Claim(_)
            | RunCall::Renew(_)
            | RunCall::Release(_)
            | RunCall::Http(_)
    )
}

/// Carries out a call.
pub(crate) fn carry_out(
    env: &Env,
    settings: &SnowflakeSettings,
    held: &Mutex<WorkerLocks>,
    call: RunCall,
) -> RunCallEnd {
    let directory = settings.directory.as_path();
    let files = RecordFiles { env, directory, access: settings.sharing().access() };
    let leases = LeaseFiles { env, directory };
    match (call, &settings.source) {
        (RunCall::PeerTimes(call), _) => match &settings.peer_times {
            Some(peers) => peers.ask(call),
            None => call.end(Ok(Vec::new())),
        },
        (RunCall::Claim(call), Some(source)) => source.claim(call, env.number()),
        (RunCall::Renew(call), Some(source)) => source.renew(call),
        (RunCall::Release(call), Some(source)) => source.release(call),
        (RunCall::Http(call), Some(source)) => source.send(env, *call).into(),
        (RunCall::LockHost(call), _) => lock(held).lock_host(env, call),
        (RunCall::UnlockHost(call), _) => {
            lock(held).unlock_host();
            call.end()
        }
        // A cleaner may have removed the directory since the opening. In another root it is not this one's path.
        (RunCall::OpenRecord(call), _) if settings.root == disk::root() => {
            match env.disk.directory(directory, files.access) {
                Ok(_) => lock(held).open(&files, call).into(),
                Err(error) => call.failed(FileAction::Open, directory.display(), &io_failure(&error)).into(),
            }
        }
        (RunCall::OpenRecord(call), _) => lock(held).open(&files, call).into(),
        (RunCall::WriteRecord(call), _) => lock(held).write(*call, || env.number()).into(),
        (RunCall::CloseRecord(call), _) => {
            lock(held).close();
            call.end()
        }
        (RunCall::Holder(call), _) => files.holder(call),
        (RunCall::Names(call), _) => files.names(call),
        (RunCall::ListRecords(call), _) => files.list(call),
        (RunCall::PeekRecord(call), _) => files.peek(call),
        (RunCall::ListLeaseCaches(call), _) => leases.list(call).into(),
        (RunCall::ReadLeaseCache(call), _) => leases.find(call).into(),
        (RunCall::WriteLeaseCache(call), _) => leases.write(*call).into(),
        (RunCall::DropLeaseCache(call), _) => leases.drop_lease(*call).into(),
        (call, None) => call.refused(not_asked()),
    }
}
