//! The record of a generator: extends its span, and writes the end of a closed generator.

use crate::os::env::{Env, HostLock};
use crate::storage::state_file::StateFile;
use crate::storage::state_file::stamp;
use crate::worker::claim::Claim;
use crate::worker::renewable_lease::RenewableLease;
use leafid_core::format::state::Writer;
use leafid_core::{Error, ExtensionAction, Record, Result, Snowflake as Core, Span, SpanExtension};
use std::time::Duration;

/// The record, the host lock, and the lease if there is one. Its lock is held while the disk is written.
pub(crate) struct SpanWriter {
    pub(crate) extension: SpanExtension,
    /// Dropped first: the record's lock is released before the host lock.
    pub(crate) file: StateFile,
    pub(crate) host_lock: Box<dyn HostLock>,
    writer: Writer,
    pub(crate) lease: Option<RenewableLease>,
}

/// The result of a write of a longer span.
#[derive(Clone)]
pub(crate) enum SpanResult {
    Granted,
    /// The logical clock is so far ahead that no span may be granted yet.
    NoRoom,
    Failed(Error),
}

/// The result of an extension.
pub(crate) enum Extension {
    /// Enough of the span is left.
    NotNeeded,
    Tried(SpanResult),
    /// The lease has no more ticks. Its source is called now, or must be called.
    LeaseShort,
}

impl SpanWriter {
    /// `opened` is the boot time.
    pub(crate) fn new(claim: Claim, opened: Duration) -> SpanWriter {
        let Claim { file, host_lock, writer, lease, .. } = claim;
        SpanWriter { extension: SpanExtension::new(opened), file, host_lock, writer, lease }
    }

    /// Extends the span if half of it is used. `first_unused` is the core's.
    pub(crate) fn extend(&mut self, env: &Env, core: &Core, first_unused: u64, now_ms: i64) -> Extension {
        let (record, boot_time) = (self.file.record(), env.clock.boot_time());
        let lease_until = self.lease.as_ref().map_or(u64::MAX, |lease| lease.held.bound(boot_time));
        match self.extension.poll(core.rules(), record, first_unused, lease_until, now_ms, boot_time) {
            ExtensionAction::Extend(span) => {
                let record = record.clone();
                stamp(&mut self.writer, env);
                Extension::Tried(self.write(core, record, span, now_ms))
            }
            ExtensionAction::NotNeeded => Extension::NotNeeded,
            ExtensionAction::NoRoom => Extension::Tried(SpanResult::NoRoom),
            ExtensionAction::LeaseShort => Extension::LeaseShort,
        }
    }

    /// Records the span, then grants it. This order must not change.
    fn write(&mut self, core: &Core, record: Record, goal: Span, now_ms: i64) -> SpanResult {
        match self.file.write(record.extend(goal, now_ms), &self.writer) {
            Ok(()) => {
                self.extension.written();
                core.grant(goal);
                SpanResult::Granted
            }
            Err(error) => {
                self.extension.failed();
                SpanResult::Failed(error)
            }
        }
    }

    /// Writes the exact end of a sealed generator.
    pub(crate) fn write_end(&mut self, first_unused: u64, env: &Env) -> Result<()> {
        let record = self.file.record();
        let closed = record.clone().closed(first_unused, env.clock.filtered_ms());
        // Not after a step back, which the next start must detect.
        if closed.granted_at_ms > record.granted_at_ms {
            stamp(&mut self.writer, env);
        }
        // After an error the record covers more than was used, which is safe.
        self.file.write(closed, &self.writer)
    }
}
