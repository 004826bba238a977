//! What is stored of a worker id, what was granted of it before its current span among it.
//!
//! If a clock was a year ahead for a while, grants of that time block the worker id for a year. [`Worker::free`] gives
//! them up: the next span begins at the clock again, and never contains a tick that was granted ahead of it. It is the
//! core's reset of a record, whose ticks are here milliseconds.

use leafid_core::{Code, Error, Layout, Record, Result, Span, Utc};
use serde::{Deserialize, Serialize};

/// It has ticks of a millisecond.
const LAYOUT: Layout = Layout::LEAF;
/// A renewal later than this is refused: a holder's span has no long gap that would count as granted.
const LONGEST_GAP_MS: i64 = 86_400_000;

/// A span of time, the end exclusive.
pub(crate) type SpanMs = (i64, i64);

/// As it is stored: times in Unix milliseconds.
#[derive(Default, Serialize, Deserialize)]
struct History {
    /// `begins_ms` of the row that it was written with. Who changes a row by hand may leave it as it is.
    of_ms: i64,
    former: Vec<SpanMs>,
    skipped: Vec<SpanMs>,
}

/// What is stored of a worker id. etcd's value has the names of these fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Worker {
    pub(crate) worker_id: i64,
    /// Where the current holder began.
    pub(crate) begins_ms: i64,
    /// Up to where its ticks were granted, exclusive.
    pub(crate) until_ms: i64,
    /// The end of the lease.
    pub(crate) ends_ms: i64,
    /// That of the current holder; empty if there is none.
    pub(crate) token: String,
    /// That of the last release.
    pub(crate) released: String,
    /// That of the claim.
    pub(crate) instance: String,
    /// Who made the claim, to be shown.
    #[serde(default)]
    pub(crate) holder: String,
    pub(crate) renewals: i64,
    /// How far the holder's clock was ahead of the database's at the claim.
    pub(crate) clock_ahead_ms: i64,
    /// What was granted before, and what is never granted again.
    pub(crate) history: String,
}

impl Worker {
    pub(crate) fn is_held(&self, store_ms: i64) -> bool {
        !self.token.is_empty() && self.ends_ms > store_ms
    }

    /// The row to store for a release. No id at or after `until_ms` was or will be made.
    pub(crate) fn release(&self, until_ms: i64) -> Worker {
        Worker {
            until_ms: until_ms.min(self.until_ms).max(self.begins_ms),
            ends_ms: 0,
            token: String::new(),
            released: self.token.clone(),
            instance: String::new(),
            holder: String::new(),
            ..self.clone()
        }
    }

    /// The spans that are never granted again.
    pub(crate) fn skipped(&self) -> Result<Vec<SpanMs>> {
        Ok(self.parsed()?.map_or_else(Vec::new, |history| history.skipped))
    }

    /// The row of a new holder, whose span is that of `self`, after `last`: the row of the last one, if there is one.
    pub(super) fn after(self, last: Option<&Worker>, floor_ms: i64) -> Result<Worker> {
        let mut record = match last {
            None => Record::unused(0, LAYOUT),
            Some(last) => match last.record()? {
                Some(record) => record,
                // Anything below its end may have been granted.
                None => Record {
                    run: span((0, last.until_ms)),
                    ..with_spans(&last.parsed()?.unwrap_or_default())
                },
            },
        };
        record.run.until = record.run.until.max(tick(floor_ms));
        let (former, skipped) = record.history_before(span((self.begins_ms, self.until_ms)));
        self.with_history(&former, &skipped)
    }

    /// Where a grant to this holder has to end: where the next span begins that is never granted again.
    ///
    /// Errors: `worker_lost` if it has ended there, or long ago.
    pub(super) fn check_gap(&self, store_ms: i64) -> Result<Option<i64>> {
        let lost = |why: String| {
            Error::new(Code::WorkerLost, format!("worker id {}: {why}; claim another", self.worker_id))
        };
        if store_ms.saturating_sub(self.until_ms) > LONGEST_GAP_MS {
            return Err(lost(format!("its span ended {} ms ago", store_ms - self.until_ms)));
        }
        let skipped = self.skipped()?;
        let next_ms = skipped.iter().map(|span| span.0).filter(|&from_ms| from_ms >= self.until_ms).min();
        match next_ms.filter(|&next_ms| next_ms <= store_ms) {
            Some(next_ms) => Err(lost(format!("ids of {} and later were made before", Utc(next_ms)))),
            None => Ok(next_ms),
        }
    }

    /// The row from which the next span begins at the clock, and what it skips.
    ///
    /// `lease_ms`: how long a lease lasts; `floor_ms`: that of the name. Errors: `worker_in_use`, `invalid_argument`.
    pub(crate) fn free(&self, lease_ms: i64, floor_ms: i64, store_ms: i64) -> Result<(Worker, Vec<SpanMs>)> {
        let id = self.worker_id;
        if self.is_held(store_ms) && self.ends_ms <= store_ms + lease_ms {
            let message = format!(
                "worker id {id} is held: its lease ends in {} ms, unless it is renewed; end its holder first",
                self.ends_ms - store_ms
            );
            return Err(Error::new(Code::WorkerInUse, message));
        }
        let until_ms = self.until_ms.max(floor_ms);
        if until_ms <= store_ms && !self.is_held(store_ms) {
            return Err(Error::invalid("worker", id, "one that is not free already"));
        }
        let is_ahead = self.begins_ms > store_ms && floor_ms <= store_ms;
        let Some(record) = self.record()?.filter(|_| is_ahead) else {
            let message = format!(
                "ids of all times up to {} may have been made by worker id {id}, so nothing can be freed: it is free then. \
                 Use another worker id, or another name for another column",
                Utc(until_ms)
            );
            return Err(Error::new(Code::WorkerInUse, message));
        };
        let reset = record.reset(store_ms)?;
        let freed = Worker {
            begins_ms: store_ms,
            until_ms: store_ms,
            ends_ms: 0,
            token: String::new(),
            released: String::new(),
            instance: String::new(),
            holder: String::new(),
            ..self.clone()
        };
        let skipped = reset.skipped.iter().map(in_ms).collect();
        Ok((freed.with_history(&reset.former, &reset.skipped)?, skipped))
    }

    fn with_history(mut self, former: &[Span], skipped: &[Span]) -> Result<Worker> {
        let all = |spans: &[Span]| spans.iter().map(in_ms).collect();
        let history = History { of_ms: self.begins_ms, former: all(former), skipped: all(skipped) };
        let failed = |error: serde_json::Error| Error::new(Code::Internal, error.to_string());
        self.history = serde_json::to_string(&history).map_err(failed)?;
        Ok(self)
    }

    /// `None` if somebody has changed the row by hand since.
    fn record(&self) -> Result<Option<Record>> {
        let history = self.parsed()?.filter(|history| history.of_ms == self.begins_ms);
        Ok(history
            .map(|history| Record { run: span((self.begins_ms, self.until_ms)), ..with_spans(&history) }))
    }

    fn parsed(&self) -> Result<Option<History>> {
        if self.history.is_empty() {
            return Ok(None);
        }
        serde_json::from_str(&self.history).map(Some).map_err(|error| {
            let message = format!("the stored history of worker id {}: {error}", self.worker_id);
            Error::new(Code::SourceInvalid, message)
        })
    }
}

fn with_spans(history: &History) -> Record {
    let all = |spans: &[SpanMs]| spans.iter().copied().map(span).collect();
    Record { former: all(&history.former), skipped: all(&history.skipped), ..Record::unused(0, LAYOUT) }
}

/// Times before the layout's epoch are its first tick: nothing was granted there.
fn tick(ms: i64) -> u64 {
    LAYOUT.tick_at(ms).unwrap_or(0)
}

fn span((from_ms, until_ms): SpanMs) -> Span {
    Span { from: tick(from_ms), until: tick(until_ms) }
}

fn in_ms(span: &Span) -> SpanMs {
    (LAYOUT.tick_start_ms(span.from), LAYOUT.tick_start_ms(span.until))
}
