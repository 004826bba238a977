//! A tag: runs of ids that Java issues one by one, and calls that wait.

use crate::call::{Texts, keep, natives, new_texts, write};
use crate::events;
use crate::stats;
use jni::objects::JLongArray;
use jni::sys::{jboolean, jint, jlong};
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

natives! { "io.leafid.Tag" of TagHandle;
    /// Takes a run of ids from memory: its first id, stride and count into `out`, and returns the count. If it is 0, a fetch
    /// has begun.
    "run"(env, its, out: JLongArray<'l>) -> jlong {
        let mut runs = its.runs();
        loop {
            let Some(reserved) = its.tag.take_next_run(&mut runs.length, 1)? else { return Ok(0) };
            if reserved.is_ours() {
                let Run { first, stride, count } = reserved.run;
                runs.last = Some(reserved);
                write(env, &out, 0, &[first, stride, count as i64])?;
                return Ok(count as i64);
            }
        }
    }

    /// Puts back ids of the last run that were not issued.
    "putBack"(_env, its, first: jlong, stride: jlong, count: jlong) {
        if let Some(mut reserved) = its.runs().last {
            reserved.run = Run { first, stride, count: count as usize };
            its.tag.put_back(reserved);
        }
        Ok(())
    }

    /// Begins a call for `count` ids, which is polled. A negative time is that of the options.
    "begin"(_env, its, count: jlong, timeout_ms: jlong) -> jlong {
        let timeout_ms = (timeout_ms >= 0).then_some(timeout_ms);
        Ok(keep(Mutex::new(its.tag.pending_take(count.max(0) as usize, timeout_ms)?)))
    }

    /// The statistics of the tag: see `stats::of_tag`.
    "stats"(env, its) -> Texts<'l> {
        Ok(new_texts(env, &stats::of_tag(its.tag.stats()?))?)
    }
}

// One that ends with ids puts them back.
natives! { "io.leafid.PendingIds" freed Mutex<PendingTake>;
    /// Whether the call has its ids. If not, the event `wake` with this number comes when it is worth another look.
    "poll"(_env, its, number: jlong) -> jboolean {
        Ok(its.lock().unwrap_or_else(PoisonError::into_inner).poll(move || events::wake(number))?)
    }

    /// The ids of a call that has them, into an array from there to its end.
    "write"(env, its, out: JLongArray<'l>, from: jint) {
        let mut ids = vec![0; out.len(env)?.saturating_sub(from.max(0) as usize)];
        // A JVM is not forked: the ids are this process's.
        let _ = its.lock().unwrap_or_else(PoisonError::into_inner).write(&mut ids);
        Ok(write(env, &out, from, &ids)?)
    }
}
