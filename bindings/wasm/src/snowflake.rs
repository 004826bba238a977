//! Generators.

use crate::argument::within;
use crate::ids::{MOST_IDS, with_ids, write_run};
use crate::module::{CallFailed, Module, Returned, call, with};
use leafid_core::{Action, Layout, Rules, Snowflake, Span};

/// Call again when the clock reads the answer's first number.
const WAIT_UNTIL: i32 = -101;
/// Grant the next span, and call again.
const NEED_SPAN: i32 = -102;

/// A generator that starts at the tick `from` and has no span yet.
#[unsafe(no_mangle)]
extern "C" fn snowflake_new(layout: i32, rules: i32, worker_id: f64, from: f64, seed: i64) -> i32 {
    call(|module| {
        let layout = *module.get::<Layout>(layout)?;
        let rules = *module.get::<Rules>(rules)?;
        let worker_id = within("worker_id", worker_id, layout.max_worker_id())?;
        let from = within("from", from, layout.last_tick() + 1)?;
        Ok(module.add(Snowflake::new(layout, rules, worker_id, from, seed as u64)))
    })
}

/// The next id, or an action.
#[unsafe(no_mangle)]
extern "C" fn snowflake_next(snowflake: i32, now_ms: f64) -> i64 {
    with(|module| match module.find::<Snowflake>(snowflake).map(|found| found.next(now_ms as i64)) {
        Some(Ok(id)) => id,
        other => Returned::negative(without_id(module, snowflake, other.and_then(Result::err))),
    })
}

/// 1 to `most` ids of one tick, in the memory of ids, and their number; or an action.
#[unsafe(no_mangle)]
extern "C" fn snowflake_reserve(snowflake: i32, now_ms: f64, most: i32) -> i32 {
    with(|module| {
        let most = most.clamp(1, MOST_IDS as i32) as usize;
        match module.find::<Snowflake>(snowflake).map(|found| found.reserve(now_ms as i64, most)) {
            Some(Ok(run)) => {
                with_ids(|ids| write_run(&run, ids));
                run.count as i32
            }
            other => Returned::negative(without_id(module, snowflake, other.and_then(Result::err))),
        }
    })
}

#[cold]
#[inline(never)]
fn without_id(module: &mut Module, snowflake: i32, action: Option<Action>) -> i32 {
    let failed = match (module.get::<Snowflake>(snowflake), action) {
        (Ok(_), Some(Action::WaitUntil(ms))) => {
            module.answer(&[ms as f64]);
            return WAIT_UNTIL;
        }
        (Ok(_), Some(Action::NeedSpan)) => return NEED_SPAN,
        (Ok(found), refused) => CallFailed::from(found.error(refused.unwrap_or(Action::Sealed))),
        (Err(failed), _) => failed,
    };
    failed.returned()
}

/// Adds a span, once it is durable.
#[unsafe(no_mangle)]
extern "C" fn snowflake_grant(snowflake: i32, from: f64, until: f64) -> i32 {
    call(|module| {
        module.get::<Snowflake>(snowflake)?.grant(Span { from: from as u64, until: until as u64 });
        Ok(0)
    })
}

/// Ends the generator; the first tick without an id of it, or -1 if it has ended before.
#[unsafe(no_mangle)]
extern "C" fn snowflake_seal(snowflake: i32) -> f64 {
    call(|module| Ok(module.get::<Snowflake>(snowflake)?.seal().map_or(-1.0, |tick| tick as f64)))
}

/// The first tick without an id, or -1 if the generator has ended.
#[unsafe(no_mangle)]
extern "C" fn snowflake_first_unused(snowflake: i32) -> f64 {
    call(|module| Ok(module.get::<Snowflake>(snowflake)?.first_unused().map_or(-1.0, |tick| tick as f64)))
}

/// The first tick outside the granted spans.
#[unsafe(no_mangle)]
extern "C" fn snowflake_until(snowflake: i32) -> f64 {
    call(|module| Ok(module.get::<Snowflake>(snowflake)?.until() as f64))
}

/// How many ids one call of `snowflake_reserve` could return of the clock's tick.
#[unsafe(no_mangle)]
extern "C" fn snowflake_left_in_tick(snowflake: i32, now_ms: f64) -> f64 {
    call(|module| Ok(module.get::<Snowflake>(snowflake)?.left_in_tick(now_ms as i64) as f64))
}

/// The number of ids that were issued or reserved.
#[unsafe(no_mangle)]
extern "C" fn snowflake_issued(snowflake: i32) -> f64 {
    call(|module| Ok(module.get::<Snowflake>(snowflake)?.issued() as f64))
}
