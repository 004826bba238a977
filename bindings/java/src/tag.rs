//! A tag: runs of ids that Java issues one by one, and calls that wait.

use crate::call::{Texts, keep, natives, new_texts, write};
use crate::events;
use crate::stats;
use jni::objects::JLongArray;
use jni::sys::{jboolean, jlong};
use leafid::{PendingTake, ReservedRun, Run, RunLength, Tag};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A tag of Java.
pub(crate) struct TagHandle {
    tag: Tag,
    runs: Mutex<Runs>,
}

/// The runs that Java takes, one after another. Its threads share them.
struct Runs {
    length: RunLength,
    /// The last one, for its fork generation.
    last: Option<ReservedRun>,
}

impl TagHandle {
    pub(crate) fn new(tag: Tag) -> TagHandle {
        TagHandle { tag, runs: Mutex::new(Runs { length: RunLength::shared(), last: None }) }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ids of the last run that Java has not issued.
    fn unissued(&self, first: i64, count: i64) -> Option<ReservedRun> {
        let mut reserved = self.runs().last.filter(|_| count > 0)?;
        (reserved.run.first, reserved.run.count) = (first, count as usize);
        Some(reserved)
    }
}

natives! { "io.leafid.Tag" of TagHandle;
    /// Takes a run of ids from memory: its first id, stride and count into `out`, and returns the count. If it is 0, a fetch
    /// has begun, of at least `need` ids if the source can return them.
    "run"(env, its, out: JLongArray<'l>, need: jlong) -> jlong {
        let mut runs = its.runs();
        loop {
            let Some(reserved) = its.tag.take_next_run(&mut runs.length, need.max(1) as usize)? else { return Ok(0) };
            if reserved.is_ours() {
                let Run { first, stride, count } = reserved.run;
                runs.last = Some(reserved);
                write(env, &out, 0, &[first, stride, count as i64])?;
                return Ok(count as i64);
            }
        }
    }

    /// Puts back ids of the last run that were not issued.
    "putBack"(_env, its, first: jlong, count: jlong) {
        if let Some(rest) = its.unissued(first, count) {
            its.tag.put_back(rest);
        }
        Ok(())
    }

    /// Begins a call for `n` ids, which is polled; both are checked. The time -1 is that of the options. It begins with
    /// `held` ids of the last run, which are not Java's any more.
    "begin"(_env, its, n: jlong, timeout_ms: jlong, first: jlong, held: jlong) -> jlong {
        let (n, timeout_ms) = (n.max(0) as usize, (timeout_ms != -1).then_some(timeout_ms));
        let pending = match its.unissued(first, held) {
            Some(held) => its.tag.pending_take_after(held, n, timeout_ms)?,
            None => its.tag.pending_take(n, timeout_ms)?,
        };
        Ok(keep(Mutex::new(pending)))
    }

    /// The statistics of the tag: see `stats::of_tag`.
    "stats"(env, its) -> Texts<'l> {
        Ok(new_texts(env, &stats::of_tag(its.tag.stats()?))?)
    }
}

// One that ends puts back its ids that were not written.
natives! { "io.leafid.PendingIds" freed Mutex<PendingTake>;
    /// Whether the call has its ids. If not, the event `wake` with this number comes when it is worth another look.
    "poll"(_env, its, number: jlong) -> jboolean {
        Ok(its.lock().unwrap_or_else(PoisonError::into_inner).poll(move || events::wake(number))?)
    }

    /// The ids of a call that has them, into an array of their number. It has none afterwards.
    "write"(env, its, out: JLongArray<'l>) {
        let mut ids = vec![0; out.len(env)?];
        // A JVM is not forked: the ids are this process's.
        let _ = its.lock().unwrap_or_else(PoisonError::into_inner).write(&mut ids);
        Ok(write(env, &out, 0, &ids)?)
    }
}
