//! Writes the record of a generator: extends its span, and writes the end of a closed one.

use crate::os::env::{Env, HostLock};
use crate::storage::record_format::Writer;
use crate::storage::state_file::StateFile;
use crate::worker::claim::Claim;
use crate::worker::renewable_lease::RenewableLease;
use leafid_core::{Error, Record, Result, Snowflake as Core, Span, next_until};
use std::time::Duration;

/// The record, the mark on the host, and the lease, if there is one. Held under a lock while the disk is written.
pub(crate) struct SpanWriter {
    /// Extensions that failed since the last that did not.
    pub(crate) failed: u32,
    /// Dropped first: the lock goes before the mark.
    pub(crate) file: StateFile,
    pub(crate) presence: Box<dyn HostLock>,
    writer: Writer,
    pub(crate) lease: Option<RenewableLease>,
}

/// The result of writing a longer span.
#[derive(Clone)]
pub(crate) enum SpanResult {
    Granted,
    /// The logical clock is so far ahead that no span may be given yet.
    NoRoom,
    Failed(Error),
}

/// The result of an extension.
pub(crate) enum Extension {
    /// Enough is left.
    NotNeeded,
    Tried(SpanResult),
    /// The lease has no more ticks; its source is being asked, or has to be.
    LeaseShort,
}

impl SpanWriter {
    pub(crate) fn new(claim: Claim) -> SpanWriter {
        let Claim { file, presence, writer, lease, .. } = claim;
        SpanWriter { failed: 0, file, presence, writer, lease }
    }

    /// Extends the span if half of it is used. `first_unused`: the core's.
    pub(crate) fn extend(
        &mut self,
        env: &Env,
        core: &Core,
        first_unused: u64,
        now_ms: i64,
        age: Duration,
    ) -> Extension {
        let now = core.layout().tick_at(now_ms).unwrap_or(0);
        let record = self.file.record().clone();
        let position = first_unused.max(now);
        let left = record.run.until.saturating_sub(position);
        let from = record.first_free(position);
        let until =
            next_until(core.layout(), core.rules(), &record.skipped, from, now_ms, age.as_millis() as i64);
        let lent = self.lease.as_ref().map_or(u64::MAX, |lease| lease.held.bound(env.clock.boot_time()));
        match until.map(|until| until.min(lent)).filter(|until| *until > from) {
            // Half of what there could be is left.
            Some(until) if left > 0 && 2 * left > until - position => Extension::NotNeeded,
            Some(until) => {
                self.writer.stamp(&env.clock);
                Extension::Tried(self.write(core, record, Span { from, until }, now_ms))
            }
            _ if left > 0 => Extension::NotNeeded,
            _ if lent <= from => Extension::LeaseShort,
            _ => Extension::Tried(SpanResult::NoRoom),
        }
    }

    /// Records the span, then grants it: in this order.
    fn write(&mut self, core: &Core, record: Record, goal: Span, now_ms: i64) -> SpanResult {
        match self.file.write(record.extend(goal, now_ms), &self.writer) {
            Ok(()) => {
                self.failed = 0;
                core.grant(goal);
                SpanResult::Granted
            }
            Err(error) => {
                self.failed = self.failed.saturating_add(1);
                SpanResult::Failed(error)
            }
        }
    }

    /// Writes the exact mark of a generator that was sealed.
    pub(crate) fn mark(&mut self, first_unused: u64, env: &Env) -> Result<()> {
        let record = self.file.record().clone();
        let run =
            Span { from: record.run.from, until: first_unused.clamp(record.run.from, record.run.until) };
        let granted_at_ms = env.clock.filtered_ms().max(record.granted_at_ms);
        // A clock that went back is noticed by the next start: the record stays that of the time before.
        if granted_at_ms > record.granted_at_ms {
            self.writer.stamp(&env.clock);
        }
        // On an error the record says more than was used: safe.
        self.file.write(Record { run, granted_at_ms, ..record }, &self.writer)
    }
}
