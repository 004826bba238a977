//! The calls of a run in the words of a host.

use super::host_terms::{FileSeen, HostEnd, HostFound, HostKind, HostRequest, of_another_kind};
use crate::call::FileAdvice;
use crate::format::file_steps::FileStep;
use crate::run::record_open::record_file_name;
use crate::run::{RunCall, RunCallEnd, SourceFailure};
use crate::{Code, Error, Lease, Result};
use alloc::string::ToString;
use alloc::vec::Vec;

/// What a call asks for.
pub(super) fn request(call: &RunCall, random: u128, to: &mut HostRequest) {
    let mut file = |kind, worker_id: u32| {
        to.numbers.push(worker_id.into());
        to.texts.push(Some(record_file_name(worker_id)));
        kind
    };
    to.kind = match call {
        RunCall::PeerTimes(_) => HostKind::PeerTimes,
        RunCall::Claim(call) => {
            let request = call.request(random);
            let previous = request.previous.map_or(f64::NAN, f64::from);
            to.numbers.extend([previous, request.now_ms as f64, request.until_ms as f64]);
            to.texts.extend([Some(request.name), Some(request.instance)]);
            HostKind::Claim
        }
        RunCall::Renew(call) => {
            let request = call.request();
            lease(&request.lease, request.wish_ms, to);
            HostKind::Renew
        }
        RunCall::Release(call) => {
            lease(call.lease(), call.until_ms(), to);
            to.texts.extend(call.lease().peer_times_ms.iter().map(|time| Some(time.to_string())));
            HostKind::Release
        }
        RunCall::LockHost(call) => {
            to.numbers.push(call.worker_id().into());
            to.texts.push(Some(call.name().into()));
            HostKind::Lock
        }
        RunCall::UnlockHost(call) => {
            to.numbers.push(call.worker_id().into());
            HostKind::Unlock
        }
        RunCall::ListRecords(_) => {
            to.texts.push(Some("worker-".into()));
            HostKind::List
        }
        RunCall::PeekRecord(call) => file(HostKind::Read, call.worker_id()),
        RunCall::OpenRecord(call) => file(HostKind::Open, call.worker_id()),
        RunCall::WriteRecord(call) => file(HostKind::Update, call.worker_id()),
        RunCall::CloseRecord(call) => file(HostKind::Close, call.worker_id()),
        // A host of few words has no others.
        _ => HostKind::Close,
    };
}

/// The numbers and the text of a lease, and a time.
fn lease(lease: &Lease, ms: i64, to: &mut HostRequest) {
    let kept = lease.lease_ms.map_or(f64::NAN, |ms| ms as f64);
    let numbers = [lease.worker_id as f64, lease.from_ms as f64, lease.until_ms as f64, kept, ms as f64];
    to.numbers.extend(numbers);
    to.texts.push(lease.token.clone());
}

/// The content of a new file.
pub(super) fn initial(call: &RunCall) -> Result<Vec<u8>> {
    match call {
        RunCall::OpenRecord(call) => Ok(Vec::from(call.initial()?)),
        _ => Ok(Vec::new()),
    }
}

/// The next step of a file. `is_first`: what was done before is undone.
pub(super) fn step(call: &mut RunCall, seen: FileSeen, is_first: bool, found: &mut HostFound) -> FileStep {
    if is_first {
        found.checked = None;
    }
    match call {
        RunCall::WriteRecord(write) if found.checked.is_none() => {
            let bytes = write.check(seen.bytes.as_deref()).and_then(|()| write.bytes(seen.random));
            match bytes {
                Ok(bytes) => {
                    found.checked = Some(Ok(()));
                    let (offset, syncs_name) = (write.offset(), write.syncs_name());
                    return FileStep::Write { offset, bytes: bytes.into(), syncs_name };
                }
                Err(error) => found.checked = Some(Err(error)),
            }
        }
        RunCall::WriteRecord(_) => {}
        _ => found.file = Some(seen),
    }
    FileStep::Done
}

/// How a call ended, in the host's words.
pub(super) fn end(call: RunCall, how: HostEnd, found: HostFound) -> RunCallEnd {
    match (call, how) {
        (RunCall::PeerTimes(call), HostEnd::Times(times)) => call.end(Ok(times)),
        (RunCall::PeerTimes(call), how) => call.end(Err(failure(how))),
        (RunCall::Claim(call), HostEnd::Claimed(claimed)) => call.end(Ok(Some(claimed))),
        (RunCall::Claim(call), HostEnd::No) => call.end(Ok(None)),
        (RunCall::Claim(call), how) => call.end(Err(failure(how))),
        (RunCall::Renew(call), HostEnd::Renewed(renewal)) => call.end(Ok(Some(renewal))),
        (RunCall::Renew(call), HostEnd::No) => call.end(Ok(None)),
        (RunCall::Renew(call), how) => call.end(Err(failure(how))),
        (RunCall::Release(call), HostEnd::Done) => call.end(Ok(())),
        (RunCall::Release(call), how) => call.end(Err(failure(how))),
        (RunCall::LockHost(call), HostEnd::Done) => call.taken(),
        (RunCall::LockHost(call), HostEnd::No) => call.held(),
        (RunCall::LockHost(call), how) => call.failed(error(how)),
        (RunCall::UnlockHost(call), _) => call.end(),
        (RunCall::ListRecords(call), _) => call.end(found.names.iter().map(|name| &name[..])),
        (RunCall::PeekRecord(call), HostEnd::Io(_, path, failure)) => call.failed(path, &failure).into(),
        (RunCall::PeekRecord(call), _) => match found.file {
            Some(FileSeen { bytes: Some(bytes), path, .. }) => call.read(&bytes, path).into(),
            _ => call.missing().into(),
        },
        (RunCall::OpenRecord(call), HostEnd::No) => call.held().into(),
        (RunCall::OpenRecord(call), HostEnd::Io(action, path, failure)) => {
            call.failed(action, path, &failure).into()
        }
        (RunCall::OpenRecord(call), how) => match (how, found.file) {
            (HostEnd::Done, Some(file)) => call.read(&file.bytes.unwrap_or_default(), file.path).into(),
            (how, _) => call.refused(error(how)).into(),
        },
        // Without its steps that is an error.
        (RunCall::WriteRecord(call), HostEnd::Done) => call.end(found.checked.unwrap_or(Ok(()))).into(),
        (RunCall::WriteRecord(call), HostEnd::Io(action, _, failure)) => call.failed(action, &failure).into(),
        (RunCall::WriteRecord(call), how) => call.end(Err(error(how))).into(),
        (RunCall::CloseRecord(call), _) => call.end(),
        // A host of few words has no others.
        _ => RunCallEnd::needs_loop(),
    }
}

/// What a call of user code failed with.
fn failure(how: HostEnd) -> SourceFailure {
    match how {
        HostEnd::Text(text) => SourceFailure::Text(text),
        HostEnd::Io(_, _, failure) => SourceFailure::Text(failure.text),
        how => SourceFailure::Coded(error(how)),
    }
}

fn error(how: HostEnd) -> Error {
    match how {
        HostEnd::Error(error) => error,
        HostEnd::Text(text) => Error::new(Code::StateIo, text),
        HostEnd::Io(action, path, failure) => failure.of_file(action, path, FileAdvice::Store),
        _ => of_another_kind(),
    }
}
