//! What is locked for a worker id: the host lock, and the record, which is unlocked first.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | free | the host lock was taken | host lock |
//! | free, host lock | the record was opened | record, with or without the host lock |
//! | record | the record was closed | host lock, or free |
//! | host lock | the host lock was given back | free |

use crate::aside::OfCall;
use crate::run::disk_calls::{HostUnlockCall, RecordCloseCall};
use crate::run::lanes::RunCall;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Locks {
    host: Option<u32>,
    record: Option<u32>,
}

impl Locks {
    pub(crate) fn host_taken(&mut self, worker_id: u32) {
        self.host = Some(worker_id);
    }

    pub(crate) fn record_opened(&mut self, worker_id: u32) {
        self.record = Some(worker_id);
    }

    pub(crate) fn record_closed(&mut self) {
        self.record = None;
    }

    pub(crate) fn host_given_back(&mut self) {
        self.host = None;
    }

    pub(crate) fn are_free(&self) -> bool {
        self.host.is_none() && self.record.is_none()
    }

    /// The next call that unlocks.
    pub(crate) fn unlock(&self) -> Option<RunCall> {
        let of = OfCall::default();
        let record = self.record.map(|worker_id| RunCall::CloseRecord(RecordCloseCall { worker_id, of }));
        record.or_else(|| self.host.map(|worker_id| RunCall::UnlockHost(HostUnlockCall { worker_id, of })))
    }
}
