//! A tag: its ids for JavaScript's own memory, and the single wait that its waiting calls share.

use crate::error::thrown;
use crate::events::Events;
use crate::stats::Shown;
use leafid::{Code, PendingTake, ReservedRun, Result, Run, RunLength, Tag, TagStats};
use napi::bindgen_prelude::{BigInt64ArraySlice, Env, External};
use napi_derive::napi;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

/// A tag of an environment.
pub struct TagHandle {
    tag: Tag,
    /// Identifies its waiting calls.
    number: i64,
    events: Arc<Events>,
    /// The pending take of the waiting calls. Boxed, because most tags have none most of the time.
    pending: RefCell<Option<Box<PendingTake>>>,
    /// The last run. JavaScript's memory has its unused ids, and perhaps ids of earlier runs.
    reserved: Cell<Option<ReservedRun>>,
    /// The length of the next run that JavaScript's memory takes.
    length: Cell<RunLength>,
}

impl TagHandle {
    pub(crate) fn new(tag: Tag, number: i64, events: Arc<Events>) -> TagHandle {
        TagHandle {
            tag,
            number,
            events,
            pending: RefCell::default(),
            reserved: Cell::default(),
            length: Cell::default(),
        }
    }

    /// Takes a run into the front of `out` and returns its length; 0 if no ids are in memory.
    fn take_run(
        &self,
        out: &mut [i64],
        mut take: impl FnMut(&Tag) -> Result<Option<ReservedRun>>,
    ) -> Result<usize> {
        loop {
            let Some(reserved) = take(&self.tag)? else { return Ok(0) };
            reserved.run.write(out);
            if reserved.is_ours() {
                self.reserved.set(Some(reserved));
                return Ok(reserved.run.count);
            }
        }
    }

    /// Whether there are ids for the waiting calls. If not, they are woken when there may be some.
    fn poll(&self, timeout_ms: i64) -> Result<bool> {
        let mut waiting = self.pending.borrow_mut();
        loop {
            let waited = waiting.is_some();
            let pending = match &mut *waiting {
                Some(pending) => pending,
                none => none.insert(Box::new(self.tag.pending_ids(Some(timeout_ms))?)),
            };
            let (events, number) = (Arc::downgrade(&self.events), self.number);
            let wake = move || {
                if let Some(events) = events.upgrade() {
                    events.wake(number);
                }
            };
            match pending.poll(wake) {
                Ok(false) => return Ok(false),
                Ok(true) => {
                    *waiting = None;
                    return Ok(true);
                }
                Err(error) => {
                    let is_late = pending.is_late();
                    *waiting = None;
                    // The call that began it has timed out. The calls that wait now have more time.
                    if !waited || !is_late || matches!(error.code(), Code::UnknownTag | Code::Closed) {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Puts back ids that were taken and not issued, in the order in which they were taken.
    fn put_back(&self, ids: &[i64]) {
        let Some(reserved) = self.reserved.get() else { return };
        let mut runs = Vec::new();
        let mut rest = ids;
        while let Some(run) = leading_run(rest, reserved.run.stride) {
            rest = &rest[run.count..];
            runs.push(run);
        }
        // The last first, because each comes before all pending ids.
        for run in runs.into_iter().rev() {
            let mut reserved = reserved;
            reserved.run = run;
            self.tag.put_back(reserved);
        }
    }
}

/// The longest run at the start of these ids. Of another stride it could cross ids that are in memory, and would be dropped.
fn leading_run(ids: &[i64], stride: i64) -> Option<Run> {
    let first = *ids.first()?;
    let count = 1 + ids.windows(2).take_while(|pair| pair[1] - pair[0] == stride).count();
    Some(Run { first, stride, count })
}

/// Takes a run of ids from memory into the front of `out`, which has room for the longest run, and returns their number.
/// If it is 0, starts a fetch, of at least `need` ids if the source can return them.
#[napi(catch_unwind)]
pub fn tag_run(
    env: &Env,
    tag: &External<TagHandle>,
    mut out: BigInt64ArraySlice,
    need: u32,
) -> napi::Result<u32> {
    // SAFETY: no other code sees the array meanwhile: JavaScript stands still, and shared memory is not passed.
    let out = unsafe { out.as_mut() };
    let mut length = tag.length.get();
    let taken = tag.take_run(out, |tag| tag.take_next_run(&mut length, need as usize));
    tag.length.set(length);
    Ok(taken.map_err(|error| thrown(env, &error))? as u32)
}

/// Takes ids from memory until `out` is full, and returns their number.
#[napi(catch_unwind)]
pub fn tag_fill_from_memory(
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
        let out = &mut out[filled..];
        let most = out.len();
        match tag.take_run(out, |tag| tag.take_run_for(most, need)) {
            Ok(0) => break,
            Ok(taken) => filled += taken,
            // Its ids are issued. The next call returns the error.
            Err(_) if filled > 0 => break,
            Err(error) => return Err(thrown(env, &error)),
        }
    }
    Ok(filled as u32)
}

/// The next id. Waits at most 2 ms, and not at all for a result of this event loop.
#[napi(catch_unwind)]
pub fn tag_next(env: &Env, tag: &External<TagHandle>) -> napi::Result<u64> {
    // Ids are never negative: as u64 they are BigInts of the same value.
    tag.tag.next_unless(None, &mut || false).map(|id| id as u64).map_err(|error| thrown(env, &error))
}

/// Fills the array, or writes no id, with the same waits.
#[napi(catch_unwind)]
pub fn tag_fill(env: &Env, tag: &External<TagHandle>, mut out: BigInt64ArraySlice) -> napi::Result<()> {
    // SAFETY: as in `tag_run`.
    let out = unsafe { out.as_mut() };
    tag.tag.fill_unless(out, None, &mut || false).map_err(|error| thrown(env, &error))
}

/// Whether there are ids for the waiting calls. If not, they must wait for an event.
#[napi(catch_unwind)]
pub fn tag_poll(env: &Env, tag: &External<TagHandle>, timeout_ms: i64) -> napi::Result<bool> {
    tag.poll(timeout_ms).map_err(|error| thrown(env, &error))
}

/// No call waits any more.
#[napi(catch_unwind)]
pub fn tag_stop_waiting(tag: &External<TagHandle>) {
    *tag.pending.borrow_mut() = None;
}

/// Throws the error of a call that has waited this long.
#[napi(catch_unwind)]
pub fn tag_late(env: &Env, tag: &External<TagHandle>, waited_ms: i64) -> napi::Result<()> {
    Err(thrown(env, &tag.tag.late(Duration::from_millis(waited_ms.max(0) as u64))))
}

/// Puts back ids that were not issued.
#[napi(catch_unwind)]
pub fn tag_put_back(tag: &External<TagHandle>, ids: BigInt64ArraySlice) {
    tag.put_back(&ids);
}

/// The statistics of the tag.
#[napi(catch_unwind)]
pub fn tag_stats(env: &Env, tag: &External<TagHandle>) -> napi::Result<Shown<TagStats>> {
    tag.tag.stats().map(Shown).map_err(|error| thrown(env, &error))
}
