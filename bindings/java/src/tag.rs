//! A tag: runs of ids that Java issues one by one, and calls that wait.

use crate::call::{Class, Texts, call, free, held, keep, new_texts, write};
use crate::events;
use crate::stats;
use jni::objects::{JLongArray, JObject};
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, jni_mangle};
use leafid::{PendingTake, ReservedRun, Run, RunLength, Tag};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A tag of Java.
pub(crate) struct TagHandle {
    tag: Tag,
    runs: Mutex<Runs>,
}

/// The runs that Java takes, one after another.
#[derive(Default)]
struct Runs {
    length: RunLength,
    /// The last one, for its fork generation.
    last: Option<ReservedRun>,
}

impl TagHandle {
    pub(crate) fn new(tag: Tag) -> TagHandle {
        TagHandle { tag, runs: Mutex::default() }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a run of ids from memory: its first id, stride and count into `out`, and returns the count. If it is 0, a fetch
/// has begun.
#[jni_mangle("io.leafid.Tag", "run")]
pub fn run<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong, out: JLongArray<'l>) -> jlong {
    call(env, |env| {
        // SAFETY: a handle of a tag, whose segments the receiver holds.
        let handle = unsafe { held::<TagHandle>(handle) };
        let mut runs = handle.runs();
        loop {
            let Some(reserved) = handle.tag.take_next_run(&mut runs.length, 1)? else { return Ok(0) };
            if reserved.is_ours() {
                let Run { first, stride, count } = reserved.run;
                runs.last = Some(reserved);
                write(env, &out, 0, &[first, stride, count as i64])?;
                return Ok(count as i64);
            }
        }
    })
}

/// Puts back ids of the last run that were not issued.
#[jni_mangle("io.leafid.Tag", "putBack")]
pub fn put_back<'l>(
    env: EnvUnowned<'l>,
    _: JObject<'l>,
    handle: jlong,
    first: jlong,
    stride: jlong,
    count: jlong,
) {
    call(env, |_| {
        // SAFETY: as above.
        let handle = unsafe { held::<TagHandle>(handle) };
        if let Some(mut reserved) = handle.runs().last {
            reserved.run = Run { first, stride, count: count as usize };
            handle.tag.put_back(reserved);
        }
        Ok(())
    });
}

/// Begins a call for `count` ids, which is polled. A negative time is that of the options.
#[jni_mangle("io.leafid.Tag", "begin")]
pub fn begin<'l>(
    env: EnvUnowned<'l>,
    _: JObject<'l>,
    handle: jlong,
    count: jlong,
    timeout_ms: jlong,
) -> jlong {
    call(env, |_| {
        let timeout_ms = (timeout_ms >= 0).then_some(timeout_ms);
        // SAFETY: as above.
        let pending =
            unsafe { held::<TagHandle>(handle) }.tag.pending_take(count.max(0) as usize, timeout_ms)?;
        Ok(keep(Mutex::new(pending)))
    })
}

/// Whether the call has its ids. If not, the event `wake` with this number comes when it is worth another look.
#[jni_mangle("io.leafid.PendingIds", "poll")]
pub fn poll<'l>(env: EnvUnowned<'l>, _: JObject<'l>, pending: jlong, number: jlong) -> jboolean {
    call(env, |_| {
        // SAFETY: a handle of `begin`, whose object is the receiver.
        let pending = unsafe { held::<Mutex<PendingTake>>(pending) };
        Ok(pending.lock().unwrap_or_else(PoisonError::into_inner).poll(move || events::wake(number))?)
    })
}

/// The ids of a call that has them, into an array from there to its end.
#[jni_mangle("io.leafid.PendingIds", "write")]
pub fn write_ids<'l>(env: EnvUnowned<'l>, _: JObject<'l>, pending: jlong, out: JLongArray<'l>, from: jint) {
    call(env, |env| {
        let mut ids = vec![0; out.len(env)?.saturating_sub(from.max(0) as usize)];
        // SAFETY: as above.
        let pending = unsafe { held::<Mutex<PendingTake>>(pending) };
        // A JVM is not forked: the ids are this process's.
        let _ = pending.lock().unwrap_or_else(PoisonError::into_inner).write(&mut ids);
        Ok(write(env, &out, from, &ids)?)
    });
}

/// Ends a call. If it has ids, they are put back.
#[jni_mangle("io.leafid.PendingIds", "free")]
pub fn free_pending<'l>(env: EnvUnowned<'l>, _: Class<'l>, pending: jlong) {
    call(env, |_| {
        // SAFETY: its object calls this once, as the last thing.
        unsafe { free::<Mutex<PendingTake>>(pending) };
        Ok(())
    });
}

/// The statistics of the tag: see `stats::of_tag`.
#[jni_mangle("io.leafid.Tag", "stats")]
pub fn stats_of<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) -> Texts<'l> {
    call(env, |env| {
        // SAFETY: as for a run.
        let stats = unsafe { held::<TagHandle>(handle) }.tag.stats()?;
        Ok(new_texts(env, &stats::of_tag(stats))?)
    })
}
