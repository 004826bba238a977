//! Sources of segments: whether they may be asked, and the ids of those that give one at a time.

use crate::argument::{duration, ms};
use crate::ids::{MOST_IDS, with_ids};
use crate::machine::{Breaker, TagsIds};
use crate::module::{Module, Result, call, given_error, write};
use crate::segment::write_segments;
use alloc::collections::VecDeque;
use leafid_core::{BreakerAction, CircuitBreaker, FetchEnd, Segment, ServersReadiness, SingleIdsActions};

/// A closed circuit breaker. `limited`: of a source that starts any number of calls at once.
#[unsafe(no_mangle)]
extern "C" fn breaker_new(limited: i32) -> i32 {
    call(|module| {
        let breaker = if limited == 0 { CircuitBreaker::new() } else { CircuitBreaker::limited() };
        Ok(module.add(Breaker { breaker, released: VecDeque::new() }))
    })
}

/// What the host does next: 1 nothing; 2 calls `breaker_timer` at the time that is the number; 3 asks the source for
/// the tags of `breaker_released`, and if there is a number, does as of 2; 4 asks it for the tag that is the number.
fn act(
    breaker: i32,
    event: impl FnOnce(&mut CircuitBreaker<i32>) -> Option<BreakerAction<i32>>,
    module: &mut Module,
) -> Result<i32> {
    let found = module.get_mut::<Breaker>(breaker)?;
    let (action, number) = match event(&mut found.breaker) {
        None => (0, f64::NAN),
        Some(BreakerAction::Wait) => (1, f64::NAN),
        Some(BreakerAction::WakeAt(ms)) => (2, ms as f64),
        Some(BreakerAction::Release(tags, wake_ms)) => {
            found.released.extend(tags);
            (3, wake_ms.map_or(f64::NAN, |ms| ms as f64))
        }
        Some(BreakerAction::Probe(tag)) => (4, tag.into()),
    };
    module.answer(&[number]);
    Ok(action)
}

/// Whether the source may be asked for a tag: 0 now; else an action, as of `act`. `probes`: action 4 chose it.
/// `failed`: its own last fetch failed.
#[unsafe(no_mangle)]
extern "C" fn breaker_enter(breaker: i32, tag: i32, probes: i32, failed: i32, boot_ms: f64) -> i32 {
    call(|module| {
        act(breaker, |breaker| breaker.enter(&tag, probes != 0, failed != 0, boot_ms as i64), module)
    })
}

/// The time of action 2 has come.
#[unsafe(no_mangle)]
extern "C" fn breaker_timer(breaker: i32, boot_ms: f64) -> i32 {
    call(|module| act(breaker, |breaker| Some(breaker.timer(boot_ms as i64)), module))
}

/// The source was not asked for the tag after all.
#[unsafe(no_mangle)]
extern "C" fn breaker_cancelled(breaker: i32, tag: i32, probes: i32, boot_ms: f64) -> i32 {
    call(|module| act(breaker, |breaker| Some(breaker.cancelled(&tag, probes != 0, boot_ms as i64)), module))
}

/// A fetch has ended. `failed` is 0, or the number of requests of a fetch without a usable response. `back_off_ms`: how
/// long all servers back off, NaN without servers.
#[unsafe(no_mangle)]
extern "C" fn breaker_ended(
    breaker: i32,
    tag: i32,
    failed: i32,
    back_off_ms: f64,
    boot_ms: f64,
    seed: i64,
) -> i32 {
    let servers = match back_off_ms {
        ms if ms.is_nan() => ServersReadiness::Unknown,
        ms if ms <= 0.0 => ServersReadiness::Ready,
        ms => ServersReadiness::BackOff(ms as i64),
    };
    let end = match failed {
        ..=0 => FetchEnd::Answered,
        requests => FetchEnd::Failed { requests: requests as usize, servers },
    };
    call(|module| act(breaker, |breaker| Some(breaker.ended(&tag, end, boot_ms as i64, seed as u64)), module))
}

/// The number of released tags, and these as ids. More of them come with the next call.
#[unsafe(no_mangle)]
extern "C" fn breaker_released(breaker: i32) -> i32 {
    call(|module| {
        let released = &mut module.get_mut::<Breaker>(breaker)?.released;
        let count = released.len().min(MOST_IDS);
        with_ids(|ids| {
            for (place, tag) in ids.iter_mut().zip(released.drain(..count)) {
                *place = tag.into();
            }
        });
        Ok(count as i32)
    })
}

/// 1 if the source is down, and 1 if as many calls run as may; a tag whose fetch failed, or -1.
#[unsafe(no_mangle)]
extern "C" fn breaker_state(breaker: i32) -> i32 {
    call(|module| {
        let breaker = &module.get::<Breaker>(breaker)?.breaker;
        let (down, full) = (u8::from(breaker.is_down()).into(), u8::from(breaker.is_full()).into());
        let numbers = [down, full, breaker.last_failed().map_or(-1.0, |&tag| tag.into())];
        module.answer(&numbers);
        Ok(0)
    })
}

/// No ids yet. `most` is the number of concurrent requests, for all tags together.
#[unsafe(no_mangle)]
extern "C" fn single_new(most: i32) -> i32 {
    call(|module| Ok(module.add(TagsIds::new(most.max(1) as usize))))
}

/// What the host does next: starts workers, calls `single_timer` at a time (NaN: not), ends the fetch by 0 nothing, 1
/// segments (ids) or 2 an error (output); then the number of segments or of the error, and of requests that failed.
fn act_single(module: &mut Module, actions: SingleIdsActions<()>) {
    let (end, number, requests) = match actions.answer {
        None => (0.0, 0.0, 0),
        Some(answer) => match answer.result {
            Ok(segments) => (1.0, write_segments(segments).into(), answer.requests),
            Err(error) => {
                write(&[error.message()]);
                (2.0, error.code().number().into(), answer.requests)
            }
        },
    };
    let wake = actions.wake_at.map_or(f64::NAN, ms);
    module.answer(&[actions.workers as f64, wake, end, number, requests as f64]);
}

/// A fetch begins: the tag needs this number of responses.
#[unsafe(no_mangle)]
extern "C" fn single_fetch(single: i32, tag: i32, short: f64, urgent: i32, boot_ms: f64) -> i32 {
    call(|module| {
        let ids = module.get_mut::<TagsIds>(single)?;
        let actions = ids.fetch(&tag, short as u64, urgent != 0, (), duration(boot_ms));
        act_single(module, actions);
        Ok(0)
    })
}

/// The tag of the next request of a worker; 0 if the worker ends.
#[unsafe(no_mangle)]
extern "C" fn single_begin(single: i32, boot_ms: f64) -> i32 {
    call(|module| Ok(module.get_mut::<TagsIds>(single)?.begin(duration(boot_ms)).unwrap_or(0)))
}

/// A request has ended, with a segment, or with an error if `number` is not 0; the input is then its message. 1 if the
/// worker continues.
#[unsafe(no_mangle)]
extern "C" fn single_ended(
    single: i32,
    tag: i32,
    start: i64,
    end: i64,
    stride: i64,
    number: i32,
    message_length: i32,
    boot_ms: f64,
) -> i32 {
    call(|module| {
        let came = match number {
            0 => Segment::new(start, end, stride),
            _ => Err(given_error(module, number, message_length)?),
        };
        let ids = module.get_mut::<TagsIds>(single)?;
        let (actions, continues) = ids.ended(&tag, came, duration(boot_ms));
        act_single(module, actions);
        Ok(continues.into())
    })
}

/// The time of an action has come.
#[unsafe(no_mangle)]
extern "C" fn single_timer(single: i32, tag: i32, boot_ms: f64) -> i32 {
    call(|module| {
        let actions = module.get_mut::<TagsIds>(single)?.timer(&tag, duration(boot_ms));
        act_single(module, actions);
        Ok(0)
    })
}

/// The time since when requests for the tag have run without any response, or -1.
#[unsafe(no_mangle)]
extern "C" fn single_silent_since(single: i32, tag: i32) -> f64 {
    call(|module| Ok(module.get::<TagsIds>(single)?.silent_since(&tag).map_or(-1.0, ms)))
}
