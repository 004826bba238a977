//! The run of ids that JavaScript issues one by one: see node/js/native/tick_run.js.

use crate::error::thrown;
use leafid::{LONGEST_RUN, Run, Snowflake, TickRun, TickRuns, Watch};
use napi::bindgen_prelude::{
    BigInt64Array, BigInt64ArraySlice, FunctionCallContext, Int32Array, JsObjectValue, Object,
};
use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The numbers behind the next id, which JavaScript reads as doubles. JavaScript writes `DROPPED`, the number of ids that
/// it will not issue, before a call. `AFTER` has two halves, the low one first.
const COUNT: usize = 1;
const FROM_MS: usize = 2;
const UNTIL_MS: usize = 3;
const AFTER: usize = 4;
const DROPPED: usize = 6;
const NUMBERS: usize = 7;

/// Memory that JavaScript and the addon share.
type Memory<const N: usize> = Arc<[AtomicI64; N]>;

/// The runs of a handle.
pub(crate) struct NextRuns {
    runs: Cell<TickRuns>,
    /// The next id, and the numbers.
    next: Memory<NUMBERS>,
    /// The ids of a run. Most handles never have one.
    ids: OnceCell<Memory<LONGEST_RUN>>,
    /// The generator's position that JavaScript reads.
    position: Cell<*const u64>,
}

impl NextRuns {
    /// Sets the array `id` of the handle. `None` where the engine copies memory that is not its own.
    pub(crate) fn new(flake: &Snowflake, handle: &mut Object) -> napi::Result<Option<NextRuns>> {
        let next = Arc::new([const { AtomicI64::new(0) }; _]);
        handle.set("id", array(&next))?;
        let seen: BigInt64ArraySlice = handle.get_named_property("id")?;
        let shared = seen.as_ptr() == next.as_ptr().cast();
        let runs = Cell::new(TickRuns::new(flake.layout()));
        let (ids, position) = (OnceCell::new(), Cell::new(std::ptr::null()));
        Ok(shared.then_some(NextRuns { runs, next, ids, position }))
    }

    /// Takes the next run into the memory, of one id at least. Sets the arrays `ids` and `position` of the handle when they
    /// are first needed, and `position` when another generator has come.
    pub(crate) fn next(&self, flake: &Snowflake, context: &FunctionCallContext) -> napi::Result<()> {
        let mut runs = self.runs.get();
        let dropped = f64::from_bits(self.next[DROPPED].load(Relaxed) as u64) as usize;
        let taken = flake.next_run(&mut runs, dropped);
        let TickRun { run, watch } = taken.map_err(|error| thrown(context.env, &error))?;
        self.runs.set(runs);
        self.next[0].store(run.first, Relaxed);
        self.set(COUNT, run.count as f64);
        watch.map_or(Ok(()), |watch| self.hold(run, watch, context))
    }

    fn hold(&self, run: Run, watch: Watch, context: &FunctionCallContext) -> napi::Result<()> {
        let ids = self.ids.get_or_init(|| Arc::new([const { AtomicI64::new(0) }; _]));
        for (i, slot) in ids.iter().take(run.count).enumerate() {
            slot.store(run.first + i as i64 * run.stride, Relaxed);
        }
        self.set(FROM_MS, watch.tick_ms.start as f64);
        self.set(UNTIL_MS, watch.tick_ms.end as f64);
        self.set(AFTER, f64::from(watch.after as i32));
        self.set(AFTER + 1, f64::from((watch.after >> 32) as i32));
        let position = watch.position();
        if self.position.replace(position) != position {
            // SAFETY: the two halves of a number that lives as long as `watch`, which the finalizer drops. JavaScript
            // only reads them, the low one first. The number only grows, so that both are those of `after` only if the
            // number was `after` at the first read.
            let halves = unsafe {
                Int32Array::with_external_data(position.cast_mut().cast(), 2, move |_, _| drop(watch))
            };
            let mut handle = context.this::<Object>()?;
            handle.set("ids", array(ids))?;
            handle.set("position", halves)?;
        }
        Ok(())
    }

    fn set(&self, at: usize, number: f64) {
        self.next[at].store(number.to_bits() as i64, Relaxed);
    }
}

/// The memory as an array.
fn array<const N: usize>(memory: &Memory<N>) -> BigInt64Array {
    let (first, share) = (memory.as_ptr().cast_mut().cast(), Arc::clone(memory));
    // SAFETY: all of the memory, which lives as long as the share of the array's finalizer.
    unsafe { BigInt64Array::with_external_data(first, N, move |_, _| drop(share)) }
}
