//! How each call of a run is carried out. Calls of user code and requests to servers have threads of their own.

use crate::os::env::Env;
use crate::os::mutex::lock;
use crate::worker::lease_cache::LeaseFiles;
use crate::worker::settings::SnowflakeSettings;
use crate::worker::worker_locks::{RecordFiles, WorkerLocks};
use leafid_core::call::IoFailure;
use leafid_core::http::{HttpCall, NoResponse};
use leafid_core::run::{ClaimCall, PeersCall, ReleaseCall, RenewCall, RunCall, RunCallEnd, SourceFailure};
use std::sync::Mutex;

/// A call that needs a thread of its own, because it may take any time, and because its transaction is not the caller's.
#[derive(Clone)]
pub(crate) enum UserCall {
    PeerTimes(PeersCall),
    Claim(ClaimCall),
    Renew(RenewCall),
    Release(ReleaseCall),
    Http(Box<HttpCall>),
}

/// Whether it needs a thread of its own; or else the call as it is.
pub(crate) fn of_user(call: RunCall) -> Result<UserCall, RunCall> {
    Ok(match call {
        RunCall::PeerTimes(call) => UserCall::PeerTimes(call),
        RunCall::Claim(call) => UserCall::Claim(call),
        RunCall::Renew(call) => UserCall::Renew(call),
        RunCall::Release(call) => UserCall::Release(call),
        RunCall::Http(call) => UserCall::Http(call),
        other => return Err(other),
    })
}

impl UserCall {
    pub(crate) fn carry_out(self, env: &Env, settings: &SnowflakeSettings) -> RunCallEnd {
        let source = settings.source.as_ref();
        match (self, source) {
            (UserCall::PeerTimes(call), _) => match &settings.peer_times {
                Some(peers) => peers.ask(call),
                None => call.end(Ok(Vec::new())),
            },
            (UserCall::Claim(call), Some(source)) => source.claim(call, env.number()),
            (UserCall::Renew(call), Some(source)) => source.renew(call),
            (UserCall::Release(call), Some(source)) => source.release(call),
            (UserCall::Http(call), Some(source)) => source.send(env, *call).into(),
            (call, _) => call.not_begun(IoFailure::other("there is none")),
        }
    }

    /// The end of a call for which there was no thread.
    pub(crate) fn not_begun(self, failure: IoFailure) -> RunCallEnd {
        match self {
            UserCall::PeerTimes(call) => call.end(Err(SourceFailure::NotBegun(failure))),
            UserCall::Claim(call) => call.end(Err(SourceFailure::NotBegun(failure))),
            UserCall::Renew(call) => call.end(Err(SourceFailure::NotBegun(failure))),
            UserCall::Release(call) => call.end(Err(SourceFailure::NotBegun(failure))),
            UserCall::Http(call) => {
                let error = failure.of_worker_source();
                call.failed(NoResponse::Other(error.message()), false).into()
            }
        }
    }
}

/// Carries out a call of the disk or of the cache. `None` for a call of [`of_user`].
pub(crate) fn carry_out(
    env: &Env,
    settings: &SnowflakeSettings,
    held: &Mutex<WorkerLocks>,
    call: RunCall,
) -> Option<RunCallEnd> {
    let directory = settings.directory.as_path();
    let files = RecordFiles { env, directory, access: settings.sharing().access() };
    let leases = LeaseFiles { env, directory };
    Some(match call {
        RunCall::LockHost(call) => lock(held).lock_host(env, call),
        RunCall::UnlockHost(call) => {
            lock(held).unlock_host();
            call.end()
        }
        RunCall::OpenRecord(call) => lock(held).open(&files, call).into(),
        RunCall::WriteRecord(call) => lock(held).write(*call, || env.number()).into(),
        RunCall::CloseRecord(call) => {
            lock(held).close();
            call.end()
        }
        RunCall::Holder(call) => files.holder(call),
        RunCall::Names(call) => files.names(call),
        RunCall::ListRecords(call) => files.list(call),
        RunCall::PeekRecord(call) => files.peek(call),
        RunCall::ListLeaseCaches(call) => leases.list(call).into(),
        RunCall::ReadLeaseCache(call) => leases.find(call).into(),
        RunCall::WriteLeaseCache(call) => leases.write(*call).into(),
        RunCall::DropLeaseCache(call) => leases.drop_lease(*call).into(),
        RunCall::PeerTimes(_)
        | RunCall::Claim(_)
        | RunCall::Renew(_)
        | RunCall::Release(_)
        | RunCall::Http(_) => return None,
    })
}
