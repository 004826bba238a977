//! Snowflakes.

use crate::call::{Texts, held, keep, natives, new_texts, write};
use crate::options::{Rows, each};
use crate::source::UserObject;
use crate::stats;
use jni::objects::{JLongArray, JObject, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, jni_mangle};
use leafid::{OptionOf, Run, Snowflake};

natives! { "io.leafid.Snowflake";
    /// Opens a snowflake; it may wait. `workers` is the number of the user's object that leases worker ids, or only returns
    /// them; `peers` that of the clocks of peers; 0 without one.
    "open"(env, options: Rows<'l>, workers: jlong, leases: bool, peers: jlong) -> jlong {
        // Before anything fails: they have Java forget the objects.
        let (workers, peers) = (UserObject::of(workers), UserObject::of(peers));
        let mut builder = Snowflake::builder();
        each(env, OptionOf::Snowflake, &options, |name, value| builder.set_value(name, value))?;
        if let Some(workers) = workers {
            builder = builder.worker(workers.workers(leases));
        }
        if let Some(peers) = peers {
            builder = builder.peer_times(move || peers.times());
        }
        Ok(keep(builder.open()?))
    }
}

/// An id that is at hand; -1 if there is none: then `next` is called. It is the quick way of all ids, and has no failure.
#[jni_mangle("io.leafid.Snowflake", "tryNext")]
pub fn try_next<'l>(_: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) -> jlong {
    // SAFETY: a handle of `open`, whose object is the receiver.
    unsafe { held::<Snowflake>(handle) }.try_next().unwrap_or(-1)
}

natives! { "io.leafid.Snowflake" freed Snowflake;
    /// The next id; it may wait.
    "next"(_env, ids) -> jlong {
        Ok(ids.next()?)
    }

    /// Fills a part of an array, or writes nothing; it may wait.
    "fill"(env, ids, out: JLongArray<'l>) {
        let taken = ids.take(out.len(env)?)?;
        Ok(write(env, &out, 0, &taken)?)
    }

    /// Ids that are at hand into a part of an array. Returns their number, which is 0 if `next` has to wait.
    "tryFill"(env, ids, out: JLongArray<'l>, from: jint) -> jint {
        let Some(run) = ids.try_run(out.len(env)?.saturating_sub(from as usize))? else { return Ok(0) };
        let mut taken = vec![0; run.count];
        Run::write_all(&[run], &mut taken);
        write(env, &out, from, &taken)?;
        Ok(run.count as jint)
    }

    /// Whether `workerId` and `stats` wait for a lazy claim.
    "isUnclaimed"(_env, ids) -> jboolean {
        Ok(ids.is_unclaimed())
    }

    /// The worker id; it may wait for a lazy claim.
    "workerId"(_env, ids) -> jint {
        Ok(ids.worker_id()? as jint)
    }

    /// The fields of the layout, as those of `Layout.parse`, by its text.
    "layout"(env, ids, out: JLongArray<'l>) {
        Ok(write(env, &out, 0, &crate::layout::fields_of(ids.layout()))?)
    }

    /// The statistics; they may wait for a lazy claim.
    "stats"(env, ids) -> Texts<'l> {
        Ok(new_texts(env, &stats::of_snowflake(ids.stats()?))?)
    }

    /// For messages, without a claim.
    "held"(env, ids) -> JString<'l> {
        Ok(env.new_string(ids.held())?)
    }

    /// The id space, without a claim.
    "name"(env, ids) -> JString<'l> {
        Ok(env.new_string(ids.name())?)
    }

    /// Closes it; it may wait for the release of a lease.
    "close"(_env, ids) {
        Ok(ids.close()?)
    }
}
