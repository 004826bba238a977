//! Generators.

use crate::ids::{MOST_IDS, with_ids, write_run};
use crate::module::{CallFailed, Module, with};
use alloc::sync::Arc;
use leafid_core::{Action, Snowflake};

/// Call again when the clock reads the answer's first number.
const WAIT_UNTIL: i32 = -101;
/// Grant the next span, and call again.
const NEED_SPAN: i32 = -102;

/// The next id, or an action.
#[unsafe(no_mangle)]
extern "C" fn snowflake_next(snowflake: i32, now_ms: f64) -> i64 {
    with(|module| match module.find::<Arc<Snowflake>>(snowflake).map(|found| found.next(now_ms as i64)) {
        Some(Ok(id)) => id,
        other => without_id(module, snowflake, other.and_then(Result::err)).into(),
    })
}

/// 1 to `most` ids of one tick, in the memory of ids, and their number; or an action.
#[unsafe(no_mangle)]
extern "C" fn snowflake_reserve(snowflake: i32, now_ms: f64, most: i32) -> i32 {
    with(|module| {
        let most = most.clamp(1, MOST_IDS as i32) as usize;
        match module.find::<Arc<Snowflake>>(snowflake).map(|found| found.reserve(now_ms as i64, most)) {
            Some(Ok(run)) => {
                with_ids(|ids| write_run(&run, ids));
                run.count as i32
            }
            other => without_id(module, snowflake, other.and_then(Result::err)),
        }
    })
}

#[cold]
#[inline(never)]
fn without_id(module: &mut Module, snowflake: i32, action: Option<Action>) -> i32 {
    let failed = match (module.get::<Arc<Snowflake>>(snowflake), action) {
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
