//! A snowflake as an object of closures over one handle.

use crate::calls::Calls;
use crate::closing::close_soon;
use crate::error::thrown;
use crate::events::Events;
use crate::exit::close_at_exit;
use crate::layout::Fields;
use crate::next_run::NextRuns;
use crate::opening::open_soon;
use crate::options::{MAX_WAIT_MS, of_snowflake};
use crate::source::{Use, source};
use crate::stats::Shown;
use leafid::{DEFAULT_TIMEOUT_MS, Result, Snowflake, SnowflakeBuilder};
use napi::bindgen_prelude::{Env, External, FunctionCallContext, Object, ToNapiValue};
use napi_derive::napi;
use std::sync::Arc;
use std::time::Duration;

/// Opens a generator: `{ layout, next, id, fill, stats, workerId, close, closeSoon }`, usable until it is closed or
/// collected. `next` stores the id in the array `id`, which costs half as much to read as a return value. If it has taken
/// a run, the array `ids` has it, and the numbers behind `id` and the array `position` tell how long the ids may be issued:
/// see `NextRuns`. Where the engine does not share memory, `next` returns the id itself.
#[napi(catch_unwind)]
pub fn open<'env>(env: &'env Env, options: Object<'_>) -> napi::Result<Object<'env>> {
    let builder = of_snowflake(env, &options)?.max_wait_ms(MAX_WAIT_MS);
    Ok(opened(env, &builder)?.0)
}

/// Whether lease servers give the worker id of these options, or of `LEAFID_WORKER` without one.
#[napi(catch_unwind)]
pub fn asks_servers(env: &Env, options: Object<'_>) -> napi::Result<bool> {
    Ok(of_snowflake(env, &options)?.asks_servers())
}

/// The user callbacks that an opening calls.
#[napi(object, object_to_js = false)]
pub struct Asked {
    /// The number of the object that returns worker ids.
    pub source: Option<i64>,
    /// Whether it returns leases; otherwise it returns only worker ids.
    pub leases: bool,
    /// Whether there is a callback for the clocks of peers.
    pub times: bool,
    /// Whether another thread claims, which may wait for the clock.
    pub waits: bool,
}

/// As `open`, with user callbacks. The first call of the handle claims the worker id.
///
/// If a call throws because a user callback must be called first, `needed` returns which one. Its result is passed to
/// `supply`, and the call is made again. `settle` ends this, and returns a lease that was not used. `opened` reports
/// that the generator is open: from then on, callbacks go through the queue of calls. `use` is the number in these
/// calls, `timeoutMs` the longest duration of a user callback. `claimSoon` claims on its own thread and returns the
/// ticket of the event at its end, for `take_done`.
#[napi(catch_unwind)]
pub fn open_asking<'env>(
    env: &'env Env,
    options: Object<'_>,
    calls: &External<Arc<Calls>>,
    events: &External<Arc<Events>>,
    asked: Asked,
) -> napi::Result<Object<'env>> {
    let mut builder = of_snowflake(env, &options)?.lazy(true);
    // The longest duration of a user callback. A negative one is refused below.
    let patience_ms = options.get("timeoutMs")?.unwrap_or(DEFAULT_TIMEOUT_MS);
    let used = Use::new(Arc::clone(calls), Duration::from_millis(patience_ms.max(0) as u64));
    if !asked.waits {
        builder = builder.max_wait_ms(MAX_WAIT_MS);
    }
    if let Some(identity) = asked.source {
        builder = builder.worker(source(&used, identity, asked.leases));
    }
    if asked.times {
        let used = Arc::clone(&used);
        builder = builder.peer_times(move || used.times());
    }
    let (mut handle, flake) = opened(env, &builder)?;
    handle.set("use", used.number)?;
    handle.set("timeoutMs", patience_ms)?;
    let (needed, opens, settled) = (Arc::clone(&used), Arc::clone(&used), Arc::clone(&used));
    method(env, &mut handle, "needed", &flake, move |_| Ok(needed.needed()))?;
    method(env, &mut handle, "opened", &flake, move |_| {
        opens.opens();
        Ok(())
    })?;
    method(env, &mut handle, "settle", &flake, move |_| Ok(settled.settle()))?;
    let supplied = Arc::clone(&used);
    let supply =
        env.create_function_from_closure::<(), _, _>("supply", move |context: FunctionCallContext| {
            supplied.supply(context.get(0)?);
            Ok(())
        })?;
    handle.set("supply", supply)?;
    let no_times = env.create_function_from_closure::<(), _, _>(
        "supplyNoTimes",
        move |context: FunctionCallContext| {
            used.supply_no_times(context.get(0)?);
            Ok(())
        },
    )?;
    handle.set("supplyNoTimes", no_times)?;
    let there = Arc::clone(events);
    let claim = move |flake: &Arc<Snowflake>| {
        let flake = Arc::clone(flake);
        open_soon(&there, "a snowflake", move || flake.worker_id().map(drop), Events::done)
    };
    let flake = Arc::clone(&flake);
    let claim_soon = env.create_function_from_closure::<(), _, _>("claimSoon", move |_| Ok(claim(&flake)))?;
    handle.set("claimSoon", claim_soon)?;
    Ok(handle)
}

/// Throws if the action of this ticket failed.
#[napi(catch_unwind)]
pub fn take_done(env: &Env, events: &External<Arc<Events>>, ticket: i64) -> napi::Result<()> {
    events.take_done(ticket).map_err(|error| thrown(env, &error))
}

fn opened<'env>(env: &'env Env, builder: &SnowflakeBuilder) -> napi::Result<(Object<'env>, Arc<Snowflake>)> {
    let flake = Arc::new(builder.open().map_err(|error| thrown(env, &error))?);
    close_at_exit(&flake);
    let mut handle = Object::new(env)?;
    handle.set("layout", Fields::from(flake.layout()))?;
    match NextRuns::new(&flake, &mut handle)? {
        Some(runs) => {
            let flake = flake.clone();
            let next = move |context: FunctionCallContext| runs.next(&flake, &context);
            let next = env.create_function_from_closure::<(), _, _>("next", next)?;
            handle.set("next", next)?;
        }
        // Ids are never negative: as u64 they are BigInts of the same value.
        None => method(env, &mut handle, "next", &flake, |flake| Ok(flake.next()? as u64))?,
    }
    method(env, &mut handle, "stats", &flake, |flake| flake.stats().map(Shown))?;
    method(env, &mut handle, "workerId", &flake, |flake| flake.worker_id())?;
    method(env, &mut handle, "held", &flake, |flake| Ok(flake.held()))?;
    method(env, &mut handle, "close", &flake, |flake| flake.close())?;
    method(env, &mut handle, "closeSoon", &flake, close_soon)?;
    let fill = flake.clone();
    let fill =
        env.create_function_from_closure::<(), _, _>("fill", move |context: FunctionCallContext| {
            let out: &mut [i64] = context.get(0)?;
            fill.fill(out).map_err(|error| thrown(context.env, &error))
        })?;
    handle.set("fill", fill)?;
    Ok((handle, flake))
}

/// Adds a function without arguments. Node-API's trampoline converts a panic in it to an exception.
fn method<T, F>(
    env: &Env,
    handle: &mut Object,
    name: &str,
    flake: &Arc<Snowflake>,
    call: F,
) -> napi::Result<()>
where
    T: ToNapiValue + 'static,
    F: Fn(&Snowflake) -> Result<T> + 'static,
{
    let flake = flake.clone();
    let function = env
        .create_function_from_closure::<(), _, _>(name, move |context: FunctionCallContext| {
            call(&flake).map_err(|error| thrown(context.env, &error))
        })?;
    handle.set(name, function)
}

/// The statistics of the generators of this process, in the text format of Prometheus.
#[napi(catch_unwind)]
pub fn metrics() -> String {
    leafid::metrics()
}
