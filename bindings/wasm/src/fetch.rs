//! The fetches of a tag: when, and for how many ids.

use crate::argument::optional;
use crate::module::{CallFailed, call, given_error};
use leafid_core::{AdaptiveStep, FetchAction, FetchPhase, FetchState};

/// No fetch yet. `step` is the source's own or the first one to request.
#[unsafe(no_mangle)]
extern "C" fn fetch_new(step: f64, adaptive: i32) -> i32 {
    call(|module| {
        let step = optional("step", step)?.unwrap_or(0);
        Ok(module.add(FetchState::new(AdaptiveStep::new(step, adaptive != 0))))
    })
}

/// A caller waits for this many ids.
#[unsafe(no_mangle)]
extern "C" fn fetch_needs(fetch: i32, ids: f64) -> i32 {
    call(|module| {
        module.get_mut::<FetchState>(fetch)?.needs(ids as i64);
        Ok(0)
    })
}

/// What to do when more ids are wanted: 0 nothing, 1 start a fetch, 2 call `fetch_timer` when the boot time is the
/// answer. `waits`: a caller waits now. `urgent`: one waits, or will soon.
#[unsafe(no_mangle)]
extern "C" fn fetch_poll(fetch: i32, waits: i32, urgent: i32, boot_ms: f64) -> i32 {
    call(|module| {
        let action = module.get_mut::<FetchState>(fetch)?.poll(waits != 0, urgent != 0, boot_ms as i64);
        Ok(match action {
            FetchAction::Nothing => 0,
            FetchAction::Fetch => 1,
            FetchAction::WakeAt(ms) => {
                module.answer(&[ms as f64]);
                2
            }
        })
    })
}

/// The timer of `fetch_poll`: 1 if the host polls now, 0 if the timer is an old one.
#[unsafe(no_mangle)]
extern "C" fn fetch_timer(fetch: i32, at_ms: f64) -> i32 {
    call(|module| Ok(module.get_mut::<FetchState>(fetch)?.timer(at_ms as i64).into()))
}

/// The source is about to be asked: 1, and the step to pass to `fetch_succeeded`, and the number of ids to request, 0
/// for the source's choice. Or 0: no ids are wanted any more. `short` is the number of ids that a source of single ids
/// is to give, 0 for other sources, NaN if none are wanted.
#[unsafe(no_mangle)]
extern "C" fn fetch_begin(fetch: i32, short: f64, source_step: f64, boot_ms: f64) -> i32 {
    call(|module| {
        let short = optional("n", short)?.map(|short| short as u64);
        let state = module.get_mut::<FetchState>(fetch)?;
        let Some(plan) = state.begin(short, source_step as i64, boot_ms as i64) else { return Ok(0) };
        module.answer(&[plan.wanted as f64, plan.step as f64, plan.short as f64]);
        Ok(1)
    })
}

/// The source was not asked after all.
#[unsafe(no_mangle)]
extern "C" fn fetch_cancelled(fetch: i32) -> i32 {
    call(|module| {
        module.get_mut::<FetchState>(fetch)?.cancelled();
        Ok(0)
    })
}

/// A segment came. `own_step` is the source's own, NaN if it is unknown. `number` and the input are an error's, which
/// says why other segments were left out; 0 for none.
#[unsafe(no_mangle)]
extern "C" fn fetch_succeeded(
    fetch: i32,
    wanted: f64,
    own_step: f64,
    boot_ms: f64,
    number: i32,
    message_length: i32,
) -> i32 {
    call(|module| {
        let own_step = optional("step", own_step)?;
        let refused = if number == 0 { None } else { Some(given_error(module, number, message_length)?) };
        module.get_mut::<FetchState>(fetch)?.succeeded(wanted as i64, own_step, refused, boot_ms as i64);
        Ok(0)
    })
}

/// No segment came; the number of failures in a row. `denied`: the error stays until somebody changes the source or the
/// options. `may_skip`: of a source that gives one id at a time, whose ids were all left out. The input is the error's
/// message.
#[unsafe(no_mangle)]
extern "C" fn fetch_failed(
    fetch: i32,
    number: i32,
    message_length: i32,
    denied: i32,
    boot_ms: f64,
    seed: i64,
    may_skip: i32,
) -> i32 {
    call(|module| {
        let error = given_error(module, number, message_length)?;
        let state = module.get_mut::<FetchState>(fetch)?;
        let failures = state.failed(error, denied != 0, may_skip != 0, boot_ms as i64, seed as u64);
        Ok(failures.min(i32::MAX as u32) as i32)
    })
}

/// 0 if the last fetch succeeded, or there was none; else its error. The answer is 1 if the source refuses the tag.
#[unsafe(no_mangle)]
extern "C" fn fetch_error(fetch: i32) -> i32 {
    call(|module| {
        let state = module.get::<FetchState>(fetch)?;
        let refused = u8::from(state.refused().is_some());
        let error = state.error().cloned();
        module.answer(&[refused.into()]);
        error.map_or(Ok(0), |error| Err(CallFailed::from(error)))
    })
}

/// The step, then 1 or 0: whether a fetch is queued or running, and whether it runs; the numbers of fetches that have
/// ended, and of those that failed; 1 if the last one failed.
#[unsafe(no_mangle)]
extern "C" fn fetch_state(fetch: i32) -> i32 {
    call(|module| {
        let state = module.get::<FetchState>(fetch)?;
        let flag = |is: bool| f64::from(u8::from(is));
        let numbers = [
            state.step().step() as f64,
            flag(state.is_fetching()),
            flag(state.phase() == FetchPhase::Fetching),
            state.ended() as f64,
            state.failures() as f64,
            flag(state.has_failed()),
        ];
        module.answer(&numbers);
        Ok(0)
    })
}
