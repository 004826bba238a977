//! A held worker id: its record, its spans and its lease.
//!
//! | Span | Event | Next |
//! | --- | --- | --- |
//! | first one durable | a caller needs a span | granted |
//! | granted | half of it is used, and the disk is free | being written |
//! | being written | durable | granted: the written one |
//! | being written | durable in one slot, and the other one lags | being written, there too |
//! | being written | failed | granted: the one before; it rests, but for the next caller |
//! | granted, and used up | the lease ends here | short: callers wait for the source |

use crate::run::cache_file::LeaseCache;
use crate::run::cache_write::CacheWritten;
use crate::run::flake::Flake;
use crate::run::id_claim::{Won, without_lease};
use crate::run::lanes::RunCall;
use crate::run::locks::Locks;
use crate::run::moment::{Moment, earliest};
use crate::run::record_file::RecordFile;
use crate::run::record_write::RecordWritten;
use crate::snowflake::extension::{ExtensionAction, SpanExtension};
use crate::snowflake::lease_schedule::{HeldLease, RenewalEnd};
use crate::{Code, Error, RenewalAnswer, RenewalRequest, Result, Span};
use alloc::boxed::Box;
use alloc::format;
use core::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seat {
    pub(crate) worker_id: u32,
    pub(crate) file: RecordFile,
    pub(crate) locks: Locks,
    pub(crate) lease: Option<HeldLease>,
    /// The cache of its lease.
    pub(crate) cache: Option<LeaseCache>,
    /// Whether the lease has changed since it was cached.
    is_uncached: bool,
    /// Whether the source has said that the lease is lost: no process may start with it.
    pub(crate) drops_cache: bool,
    extension: SpanExtension,
    /// The first span, until the first caller needs it.
    first: Option<Span>,
    /// Whether a caller has needed a span: from then on it is extended in the background.
    started: bool,
    /// The span of the write that is under way, or is to be written into the other slot as well.
    writing: Option<Span>,
    /// After a failure, no span is written before this time unless a caller waits.
    rests_until: Option<Duration>,
    /// A lost record does not come back: without a lease there is no further span.
    is_record_lost: bool,
    /// The lease has no more ticks: the next span waits for its renewal.
    is_short: bool,
    /// Until when those who open wait for the cache of the lease.
    opens_by: Duration,
}

/// What became of the span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SpanEnd {
    /// Enough of it is left, or the first one was granted.
    NotNeeded,
    Granted,
    /// The logical clock is so far ahead that no span may be granted yet.
    NoRoom,
    Failed(Error),
    /// The record of a leased worker id is lost: as its lease would be, for the spans are the source's.
    Lost(Error),
}

/// What is to be done about the span.
enum SpanStep {
    Nothing,
    Write(Span),
    /// The span that is durable in one slot.
    WriteOther,
    Ended(SpanEnd),
}

impl Seat {
    pub(crate) fn new(won: Won, m: &mut Moment<'_>) -> Seat {
        let Won { file, locks, first, lease, .. } = won;
        let cache = lease.as_ref().and_then(|_| cache_of(&file, m));
        Seat {
            worker_id: file.record().worker_id,
            file,
            locks,
            lease,
            is_uncached: cache.is_some(),
            drops_cache: false,
            cache,
            extension: SpanExtension::new(m.boot),
            first: Some(first),
            started: false,
            writing: None,
            rests_until: None,
            is_record_lost: false,
            is_short: false,
            opens_by: m.boot.saturating_add(m.disk_bound()),
        }
    }

    /// Whether callers wait for the source: the lease has no more ticks.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// Until when those who open wait for the cache of the lease, which is `is_written` now; `None` if they do not: a
    /// process that ends soon after its opening can then start without a server.
    pub(crate) fn opens_by(&self, is_written: bool, m: &Moment<'_>) -> Option<Duration> {
        (self.is_uncached || is_written).then_some(self.opens_by).filter(|by| m.boot < *by)
    }

    /// Goes on with the span as far as no call is needed. `is_waited_for`: a caller needs one.
    pub(crate) fn poll(
        &mut self,
        flake: &Flake,
        is_waited_for: bool,
        is_disk_free: bool,
        m: &Moment<'_>,
    ) -> Option<SpanEnd> {
        if let (Some(held), Some(at)) = (&mut self.lease, m.leapt_at()) {
            held.leapt(at);
        }
        if is_waited_for && self.grant_first(flake) {
            return Some(SpanEnd::NotNeeded);
        }
        match self.step(flake, is_waited_for, is_disk_free, m) {
            SpanStep::Write(goal) if !m.settings.persist => {
                // Without records the span is as good as durable.
                let record = self.file.record().extended(goal, m.now_ms);
                self.file.ask(record, m.writer());
                self.writing = Some(goal);
                self.written(Ok(()), flake, m)
            }
            SpanStep::Ended(end) => Some(end),
            SpanStep::Write(_) | SpanStep::WriteOther | SpanStep::Nothing => None,
        }
    }

    /// Grants the first span, once. It stays usable after the lease is lost.
    pub(crate) fn grant_first(&mut self, flake: &Flake) -> bool {
        let first = self.first.take();
        first.into_iter().for_each(|first| flake.add(first));
        self.started |= first.is_some();
        first.is_some()
    }

    fn step(&mut self, flake: &Flake, is_waited_for: bool, is_disk_free: bool, m: &Moment<'_>) -> SpanStep {
        let layout = &m.settings.layout;
        let Some(first_unused) = flake.first_unused().filter(|_| is_disk_free) else {
            return SpanStep::Nothing;
        };
        let rests = self.is_record_lost || self.rests_until.is_some_and(|until| m.boot < until);
        if self.file.lags() {
            return if is_waited_for || !rests { SpanStep::WriteOther } else { SpanStep::Nothing };
        }
        let runs = self.started || self.lease.is_some();
        let in_use = SpanExtension::is_in_use(layout, first_unused, m.now_ms, false);
        if !is_waited_for && (rests || !runs || !in_use) {
            return SpanStep::Nothing;
        }
        let lease_until = match (&self.lease, m.settings.workers.leases()) {
            (Some(held), _) => held.bound(m.boot),
            (None, false) => u64::MAX,
            (None, true) => return SpanStep::Ended(SpanEnd::Failed(without_lease())),
        };
        let record = self.file.record();
        let action = self.extension.poll(flake.rules(), record, first_unused, lease_until, m.now_ms, m.boot);
        self.is_short = action == ExtensionAction::LeaseShort;
        match action {
            ExtensionAction::Extend(goal) => SpanStep::Write(goal),
            ExtensionAction::NotNeeded if is_waited_for => SpanStep::Ended(SpanEnd::NotNeeded),
            ExtensionAction::NoRoom if is_waited_for => SpanStep::Ended(SpanEnd::NoRoom),
            // The caller continues to wait for the source.
            ExtensionAction::LeaseShort | ExtensionAction::NotNeeded | ExtensionAction::NoRoom => {
                SpanStep::Nothing
            }
        }
    }

    /// The write of the next span, if it is time. The lane of the disk is free.
    pub(crate) fn next_write(
        &mut self,
        flake: &Flake,
        is_waited_for: bool,
        m: &Moment<'_>,
    ) -> Option<RunCall> {
        let write = match self.step(flake, is_waited_for, true, m) {
            SpanStep::Write(goal) => {
                self.writing = Some(goal);
                let record = self.file.record().extended(goal, m.now_ms);
                self.file.ask(record, m.writer())?
            }
            SpanStep::WriteOther => self.file.ask_other(m.writer())?,
            SpanStep::Nothing | SpanStep::Ended(_) => return None,
        };
        Some(RunCall::WriteRecord(Box::new(write)))
    }

    /// The write ended: only now the span may be granted. This order must not change. `None`: it is to be written into the
    /// other slot as well.
    pub(crate) fn write_ended(
        &mut self,
        end: RecordWritten,
        flake: &Flake,
        m: &Moment<'_>,
    ) -> Option<SpanEnd> {
        let result = self.file.written(end);
        self.written(result, flake, m)
    }

    fn written(&mut self, result: Result<()>, flake: &Flake, m: &Moment<'_>) -> Option<SpanEnd> {
        if self.file.lags() && result.is_ok() {
            return None;
        }
        let goal = self.writing.take_if(|_| !self.file.lags());
        Some(match result {
            Ok(()) => {
                self.extension.written();
                (self.rests_until, self.started) = (None, true);
                goal.into_iter().for_each(|goal| flake.add(goal));
                SpanEnd::Granted
            }
            Err(error) => {
                self.extension.failed();
                self.rests_until = Some(m.boot.saturating_add(self.extension.back_off()));
                match (error.code(), &self.lease) {
                    (Code::WorkerLost, Some(_)) => {
                        SpanEnd::Lost(advised(&error, "; leafid claims another worker id; call again"))
                    }
                    (Code::WorkerLost, None) => {
                        self.is_record_lost = true;
                        SpanEnd::Failed(advised(
                            &error,
                            ", then close and open again; no further ids are issued",
                        ))
                    }
                    _ => SpanEnd::Failed(error),
                }
            }
        })
    }

    /// The renewal of the lease, if it is due. The lane of the source is free.
    pub(crate) fn next_renewal(&mut self, is_waited_for: bool, m: &Moment<'_>) -> Option<RenewalRequest> {
        let is_waited_for = is_waited_for && self.is_short;
        self.lease.as_mut()?.begin_call(m.boot, m.now_ms, is_waited_for)
    }

    /// A renewal ended, which was asked for at `since`. Returns the end of the lease too.
    pub(crate) fn renewed(
        &mut self,
        answer: RenewalAnswer,
        since: Duration,
        m: &Moment<'_>,
    ) -> Option<(RenewalEnd, i64)> {
        let held = self.lease.as_mut()?;
        let token = held.lease().token.clone();
        let end = held.call_ended(answer, &m.settings.layout, since, m.boot, m.now_ms);
        if end == RenewalEnd::Kept || held.lease().token != token {
            self.is_uncached = self.cache.is_some();
        }
        Some((end, held.lease().until_ms))
    }

    /// A renewal of servers ended after it was abandoned, because its host did not report its end in time.
    pub(crate) fn renewed_late(&mut self, answer: RenewalAnswer, since: Duration, m: &Moment<'_>) {
        if let (RenewalAnswer::Renewed(renewal), Some(held)) = (answer, &mut self.lease) {
            let token = held.lease().token.clone();
            held.call_ended_late(renewal, &m.settings.layout, since, m.now_ms);
            // A process that starts with the old one is refused.
            self.is_uncached |= self.cache.is_some() && held.lease().token != token;
        }
    }

    /// The call that caches the lease, on the lane of the cache, which is free.
    pub(crate) fn cache_call(&mut self, m: &Moment<'_>) -> Option<RunCall> {
        if !core::mem::take(&mut self.is_uncached) {
            return None;
        }
        let held = self.lease.as_ref()?;
        let write = self.cache.as_ref()?.write(held.lease(), held.ends()?, &m.place.writer.boot)?;
        Some(RunCall::WriteLeaseCache(Box::new(write)))
    }

    /// The lease was cached, or not.
    pub(crate) fn cached(&mut self, end: CacheWritten, m: &mut Moment<'_>) {
        let Some(cache) = &mut self.cache else { return };
        match cache.written(end) {
            Ok(warning) => warning.into_iter().for_each(|warning| m.notices.warn(warning)),
            Err(error) => {
                m.notices.warn(format!("the lease of worker id {} is not cached: {error}", self.worker_id));
            }
        }
    }

    /// Why the lease is over; `None` while it is not, or its renewal is due.
    pub(crate) fn lease_is_over(&self, m: &Moment<'_>) -> Option<Error> {
        let held = self.lease.as_ref()?;
        let now = m.settings.layout.tick_at(m.now_ms).unwrap_or(0);
        (!held.is_due(m.boot) && held.is_over(m.boot, now)).then(|| held.used_up(m.boot))
    }

    /// When no id of the span is left.
    pub(crate) fn used_up(&self, flake: &Flake, m: &Moment<'_>) -> Duration {
        let until = self.file.record().run.until;
        let all_issued = flake.first_unused().is_none_or(|first_unused| first_unused >= until);
        let left_ms = m.settings.layout.tick_start_ms(until).saturating_sub(m.now_ms);
        let left = if all_issued { 0 } else { u64::try_from(left_ms).unwrap_or(0) };
        m.boot.saturating_add(Duration::from_millis(left))
    }

    /// When to poll again.
    pub(crate) fn due(&self, flake: &Flake, is_disk_free: bool, m: &Moment<'_>) -> Option<Duration> {
        let layout = &m.settings.layout;
        let lease_due = self.lease.as_ref().map(|held| m.boot.saturating_add(held.due_in(m.boot)));
        let runs = (self.started || self.lease.is_some()) && is_disk_free && !self.is_record_lost;
        let first_unused = flake.first_unused().filter(|first_unused| {
            runs && !self.is_short && SpanExtension::is_in_use(layout, *first_unused, m.now_ms, false)
        });
        let span_due = first_unused.map(|first_unused| match self.rests_until {
            Some(until) if until > m.boot => until,
            _ => {
                let until = self.file.record().run.until;
                m.boot.saturating_add(SpanExtension::due_in(layout, until, first_unused, m.now_ms))
            }
        });
        earliest(&[span_due, lease_due])
    }
}

fn advised(error: &Error, advice: &str) -> Error {
    Error::new(error.code(), format!("{}{advice}", error.message()))
}

/// The cache of the lease; `None` where leases are not cached: without servers, and without records.
fn cache_of(file: &RecordFile, m: &mut Moment<'_>) -> Option<LeaseCache> {
    let urls = m.settings.workers.urls().filter(|_| m.settings.persist)?;
    let record = file.record();
    let cache = LeaseCache::new(&m.settings.name, record.worker_id, &urls, record.owner);
    cache.map_err(|text| m.notices.warn(text)).ok()
}
