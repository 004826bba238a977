//! Snowflakes.

use crate::call::{Class, Texts, call, free, held, keep, new_texts, write};
use crate::options::{Rows, each};
use crate::source::UserObject;
use crate::stats;
use jni::objects::{JLongArray, JObject, JString};
use jni::sys::{jint, jlong};
use jni::{EnvUnowned, jni_mangle};
use leafid::{DEFAULT_TIMEOUT_MS, OptionOf, OptionValue, Snowflake};
use std::time::Duration;

/// Opens a snowflake; it may wait. `workers` is the number of the user's object that leases worker ids, or only returns
/// them; `peers` that of the clocks of peers; 0 without one.
#[jni_mangle("io.leafid.Snowflake", "open")]
pub fn open<'l>(
    env: EnvUnowned<'l>,
    _: Class<'l>,
    options: Rows<'l>,
    workers: jlong,
    leases: bool,
    peers: jlong,
) -> jlong {
    call(env, |env| {
        let (mut builder, mut timeout_ms) = (Snowflake::builder(), DEFAULT_TIMEOUT_MS);
        each(env, OptionOf::Snowflake, &options, |name, value| {
            if let ("timeout_ms", OptionValue::Int(ms)) = (name, &value) {
                timeout_ms = *ms;
            }
            builder.set_value(name, value)
        })?;
        // A negative time is refused by the opening.
        let patience = Duration::from_millis(timeout_ms.max(0) as u64);
        if workers != 0 {
            builder = builder.worker(UserObject { number: workers, patience }.workers(leases));
        }
        if peers != 0 {
            let peers = UserObject { number: peers, patience };
            builder = builder.peer_times(move || peers.times());
        }
        Ok(keep(builder.open()?))
    })
}

/// An id that is at hand; -1 if there is none: then [`next`] is called.
#[jni_mangle("io.leafid.Snowflake", "tryNext")]
pub fn try_next<'l>(_: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) -> jlong {
    // SAFETY: a handle of `open`, whose object is the receiver.
    unsafe { held::<Snowflake>(handle) }.try_next().unwrap_or(-1)
}

/// The next id; it may wait.
#[jni_mangle("io.leafid.Snowflake", "next")]
pub fn next<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) -> jlong {
    // SAFETY: as above.
    call(env, |_| Ok(unsafe { held::<Snowflake>(handle) }.next()?))
}

/// Fills a part of an array, or writes nothing; it may wait.
#[jni_mangle("io.leafid.Snowflake", "fill")]
pub fn fill<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong, out: JLongArray<'l>) {
    call(env, |env| {
        // SAFETY: as above.
        let ids = unsafe { held::<Snowflake>(handle) }.take(out.len(env)?)?;
        Ok(write(env, &out, 0, &ids)?)
    });
}

/// The worker id; it may wait for a lazy claim.
#[jni_mangle("io.leafid.Snowflake", "workerId")]
pub fn worker_id<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) -> jint {
    // SAFETY: as above.
    call(env, |_| Ok(unsafe { held::<Snowflake>(handle) }.worker_id()? as jint))
}

/// The fields of the layout, as those of `Layout.parse`, by its text.
#[jni_mangle("io.leafid.Snowflake", "layout")]
pub fn layout<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong, out: JLongArray<'l>) {
    call(env, |env| {
        // SAFETY: as above.
        let layout = unsafe { held::<Snowflake>(handle) }.layout();
        Ok(write(env, &out, 0, &crate::layout::fields_of(layout))?)
    });
}

/// The statistics; they may wait for a lazy claim.
#[jni_mangle("io.leafid.Snowflake", "stats")]
pub fn stats_of<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) -> Texts<'l> {
    call(env, |env| {
        // SAFETY: as above.
        let stats = unsafe { held::<Snowflake>(handle) }.stats()?;
        Ok(new_texts(env, &stats::of_snowflake(stats))?)
    })
}

/// For messages, without a claim.
#[jni_mangle("io.leafid.Snowflake", "held")]
pub fn shown<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) -> JString<'l> {
    // SAFETY: as above.
    call(env, |env| Ok(env.new_string(unsafe { held::<Snowflake>(handle) }.held())?))
}

/// Closes it; it may wait for the release of a lease.
#[jni_mangle("io.leafid.Snowflake", "close")]
pub fn close<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) {
    // SAFETY: as above.
    call(env, |_| Ok(unsafe { held::<Snowflake>(handle) }.close()?));
}

/// Ends the handle, and closes it if it was not closed.
#[jni_mangle("io.leafid.Snowflake", "free")]
pub fn free_snowflake<'l>(env: EnvUnowned<'l>, _: Class<'l>, handle: jlong) {
    call(env, |_| {
        // SAFETY: its object has gone, and nothing else uses it.
        unsafe { free::<Snowflake>(handle) };
        Ok(())
    });
}
