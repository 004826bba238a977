//! A tag: its ids for JavaScript's own memory, and the one wait that its waiting calls share.

use crate::error::thrown;
use crate::events::Events;
use crate::segment_stats::TagStats;
use leafid::{Attempt, Code, HeldRun, Result, Run, Tag};
use napi::bindgen_prelude::{BigInt64ArraySlice, Env, External};
use napi_derive::napi;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

/// One tag of one environment.
pub struct TagHandle {
    tag: Tag,
    /// What its waiting calls are known by.
    number: i64,
    events: Arc<Events>,
    /// What the waiting calls wait for. Boxed: most tags have none at most times.
    attempt: RefCell<Option<Box<Attempt>>>,
    /// The run taken last: JavaScript's memory has what is left of it, and perhaps ids of earlier ones.
    held: Cell<Option<HeldRun>>,
}

impl TagHandle {
    pub(crate) fn new(tag: Tag, number: i64, events: Arc<Events>) -> TagHandle {
        TagHandle { tag, number, events, attempt: RefCell::new(None), held: Cell::new(None) }
    }

    /// Takes a run into the front of `out`; answers how long it is, 0 when there is nothing at hand.
    fn take_run(&self, out: &mut [i64], need: usize) -> Result<usize> {
        loop {
            let Some(held) = self.tag.take_run_for(out.len(), need)? else { return Ok(0) };
            held.run.write(out);
            if held.is_ours() {
                self.held.set(Some(held));
                return Ok(held.run.count);
            }
        }
    }

    /// An id for the waiting calls; without one, they are woken when there may be.
    fn poll(&self, timeout_ms: i64) -> Result<Option<i64>> {
        let mut waiting = self.attempt.borrow_mut();
        loop {
            let waited = waiting.is_some();
            let attempt = match &mut *waiting {
                Some(attempt) => attempt,
                none => none.insert(Box::new(self.tag.attempt(1, Some(timeout_ms))?.never_first())),
            };
            let (events, number) = (Arc::downgrade(&self.events), self.number);
            let wake = move || {
                if let Some(events) = events.upgrade() {
                    events.wake(number);
                }
            };
            match attempt.poll(wake) {
                Ok(false) => return Ok(None),
                Ok(true) => {
                    let mut id = [0];
                    let ours = attempt.write(&mut id);
                    *waiting = None;
                    if ours {
                        return Ok(Some(id[0]));
                    }
                }
                Err(error) => {
                    let is_late = attempt.is_late();
                    *waiting = None;
                    // The time of the call that began it is over: those that wait now have more.
                    if !waited || !is_late || matches!(error.code(), Code::UnknownTag | Code::Closed) {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Puts back ids that were taken and not issued, in the order that they were taken.
    fn put_back(&self, ids: &[i64]) {
        let Some(held) = self.held.get() else { return };
        let mut runs = Vec::new();
        let mut rest = ids;
        while let Some(run) = leading_run(rest) {
            rest = &rest[run.count..];
            runs.push(run);
        }
        // The last first: each comes before all that is pending.
        for run in runs.into_iter().rev() {
            let mut held = held;
            held.run = run;
            self.tag.put_back(held);
        }
    }
}

/// The longest run that these ids begin with.
fn leading_run(ids: &[i64]) -> Option<Run> {
    let first = *ids.first()?;
    let stride = ids.get(1).map_or(1, |second| second - first);
    if stride < 1 {
        return Some(Run { first, stride: 1, count: 1 });
    }
    let count = 1 + ids.windows(2).take_while(|pair| pair[1] - pair[0] == stride).count();
    Some(Run { first, stride, count })
}

/// Takes a run of ids that are at hand into the front of `out`; answers how many, 0 when there is none: then the next
/// segment is fetched, of at least `need` ids where the source can.
#[napi(catch_unwind)]
pub fn tag_run(
    env: &Env,
    tag: &External<TagHandle>,
    mut out: BigInt64ArraySlice,
    need: u32,
) -> napi::Result<u32> {
    // SAFETY: nobody else sees the array's memory meanwhile: JavaScript stands still, and shared memory is not passed.
    let out = unsafe { out.as_mut() };
    let taken = tag.take_run(out, need as usize).map_err(|error| thrown(env, &error))?;
    Ok(taken as u32)
}

/// Takes ids that are at hand until `out` is full; answers how many.
#[napi(catch_unwind)]
pub fn tag_at_hand(
    env: &Env,
    tag: &External<TagHandle>,
    mut out: BigInt64ArraySlice,
    need: u32,
) -> napi::Result<u32> {
    // SAFETY: as in `tag_run`.
    let out = unsafe { out.as_mut() };
    let mut filled = 0;
    while filled < out.len() {
        let need = (need as usize).saturating_sub(filled).max(1);
        match tag.take_run(&mut out[filled..], need) {
            Ok(0) => break,
            Ok(taken) => filled += taken,
            // What it has is issued; the next call says why there is no more.
            Err(_) if filled > 0 => break,
            Err(error) => return Err(thrown(env, &error)),
        }
    }
    Ok(filled as u32)
}

/// The next id, waited for at most 2 ms, and not at all for an answer of this event loop's.
#[napi(catch_unwind)]
pub fn tag_next(env: &Env, tag: &External<TagHandle>) -> napi::Result<u64> {
    // Ids are never negative: as u64 they are BigInts of the same value.
    tag.tag.next_unless(None, &mut || false).map(|id| id as u64).map_err(|error| thrown(env, &error))
}

/// Fills the array, likewise: all of it, or none.
#[napi(catch_unwind)]
pub fn tag_fill(env: &Env, tag: &External<TagHandle>, mut out: BigInt64ArraySlice) -> napi::Result<()> {
    // SAFETY: as in `tag_run`.
    let out = unsafe { out.as_mut() };
    tag.tag.fill_unless(out, None, &mut || false).map_err(|error| thrown(env, &error))
}

/// An id for the calls that wait; none, and an event later, when they have to wait on.
#[napi(catch_unwind)]
pub fn tag_poll(env: &Env, tag: &External<TagHandle>, timeout_ms: i64) -> napi::Result<Option<u64>> {
    tag.poll(timeout_ms).map(|id| id.map(|id| id as u64)).map_err(|error| thrown(env, &error))
}

/// Nobody waits any more.
#[napi(catch_unwind)]
pub fn tag_rest(tag: &External<TagHandle>) {
    *tag.attempt.borrow_mut() = None;
}

/// Throws what a call answers that has waited so long.
#[napi(catch_unwind)]
pub fn tag_late(env: &Env, tag: &External<TagHandle>, waited_ms: i64) -> napi::Result<()> {
    Err(thrown(env, &tag.tag.late(Duration::from_millis(waited_ms.max(0) as u64))))
}

/// Puts back ids that were not issued.
#[napi(catch_unwind)]
pub fn tag_put_back(tag: &External<TagHandle>, ids: BigInt64ArraySlice) {
    tag.put_back(&ids);
}

/// How the tag stands.
#[napi(catch_unwind)]
pub fn tag_stats(env: &Env, tag: &External<TagHandle>) -> napi::Result<TagStats> {
    Ok(tag.tag.stats().map_err(|error| thrown(env, &error))?.into())
}
