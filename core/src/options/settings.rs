//! The options of a snowflake.

use crate::error::message;
use crate::options::allowed::allowed;
use crate::options::checks::{MOST_MS, Variable, digits};
use crate::options::worker_ids::{ChosenBy, WorkerRange};
use crate::spelling::name::ON_CLOCK_BACKWARDS;
use crate::{Error, Layout, OnClockBackwards, OnExhausted, Result, Rules};
use alloc::format;

/// The layout with the user's `epoch_ms`. Errors: `invalid_argument`.
pub fn with_epoch(layout: Layout, epoch_ms: Option<i64>) -> Result<Layout> {
    epoch_ms.map_or(Ok(layout), |epoch_ms| layout.with_epoch_ms(epoch_ms))
}

/// The rules of a generator; `None` is the default. Errors: `invalid_argument`.
pub fn rules(
    on_clock_backwards: OnClockBackwards,
    max_backwards_ms: Option<i64>,
    on_exhausted: OnExhausted,
    random_start: Option<i64>,
) -> Result<Rules> {
    if on_exhausted == OnExhausted::Borrow && on_clock_backwards == OnClockBackwards::Wait {
        let allowed =
            message!("\"wait\" when {ON_CLOCK_BACKWARDS} is \"wait\", which never runs ahead of the clock");
        return Err(Error::invalid("on_exhausted", "\"borrow\"", &allowed));
    }
    let max_backwards_ms = max_backwards_ms.unwrap_or(on_clock_backwards.default_max_ms());
    let max_backwards_ms = on_clock_backwards.check_max_ms(max_backwards_ms)?;
    let random_start = match random_start {
        None => Rules::default().random_start,
        // It fits, because it is checked here.
        Some(below @ 0..=1_000_000) => below as u32,
        Some(below) => return Err(Error::invalid("random_start", below, allowed("random_start"))),
    };
    Ok(Rules { on_clock_backwards, max_backwards_ms, on_exhausted, random_start })
}

/// The first tick after the id `start_after`; 0 without one. Errors: `invalid_argument`.
pub fn start_tick(layout: &Layout, start_after: Option<i64>) -> Result<u64> {
    let Some(id) = start_after else { return Ok(0) };
    let parts = layout.decode(id).map_err(|_| Error::invalid("start_after", id, allowed("start_after")))?;
    Ok(layout.tick_at(parts.timestamp_ms).unwrap_or(0) + 1)
}

/// How long a start without a record issues nothing: the option, or else `LEAFID_NO_RECORD_WAIT_MS`. `leased`: whether
/// the worker id comes with spans.
///
/// Errors: `invalid_argument`, also with leases, because no span of a lease was given before. The environment variable
/// is for all generators, so with leases it is ignored.
pub fn no_record_wait_ms(option: Option<i64>, variable: Option<Variable<'_>>, leased: bool) -> Result<i64> {
    let option_name = "no_record_wait_ms";
    let (name, ms) = match (option, variable) {
        (Some(0), _) | (None, None) => return Ok(0),
        (Some(ms), _) if leased => {
            let allowed = "0 with leases, which give no span twice";
            return Err(Error::invalid(option_name, ms, allowed));
        }
        (Some(ms), _) => (option_name, ms),
        (None, Some(_)) if leased => return Ok(0),
        (None, Some(variable)) => match variable.text.and_then(digits) {
            Some(ms) => (variable.name, ms),
            None if variable.text == Some("") => return Ok(0),
            None => {
                let shown = format!("{:?}", variable.shown);
                return Err(Error::invalid(variable.name, shown, allowed(option_name)));
            }
        },
    };
    match ms {
        0..=MOST_MS => Ok(ms),
        _ => Err(Error::invalid(name, ms, allowed(option_name))),
    }
}

/// Errors: options that need a record. `ids` are the worker ids, if no source gives them.
pub fn check_unpersisted(ids: Option<&WorkerRange>, leased: bool, rules: &Rules) -> Result<()> {
    let refuse = |name, value: &str, allowed| Err(Error::invalid(name, value, allowed));
    if ids.is_some_and(|ids| ids.first != ids.last || ids.chosen_by == ChosenBy::Local) {
        let allowed = "true with a range of worker ids: without records two hosts or containers would take the same one";
        return refuse("persist", "false", allowed);
    }
    if rules.on_exhausted == OnExhausted::Borrow && !leased {
        let allowed = "\"wait\" with persist = false, which never runs ahead of the clock";
        return refuse("on_exhausted", "\"borrow\"", allowed);
    }
    Ok(())
}
