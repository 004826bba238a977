//! The start of a generator: which worker id, and from which tick.

use crate::argument::{duration, ms, optional, whole};
use crate::fetch::given_error;
use crate::module::{call, write};
use core::time::Duration;
use leafid_core::options::{
    MOST_MS, Variable, WorkerOption, WorkerRange, allowed, built_ms, check_clock, id_space,
    no_record_wait_ms, start_tick,
};
use leafid_core::{
    ClaimAction, ClaimCandidates, ClaimPatience, ClaimSearch, Error, Layout, Record, Rules, Span, Start,
    StartAction,
};

/// Whether a text can name an id space.
#[unsafe(no_mangle)]
extern "C" fn space_check(length: i32) -> i32 {
    call(|module| {
        let [name] = module.texts([length])?;
        id_space(Some(name))?;
        Ok(0)
    })
}

/// Whether the clock can be correct: it has reached the epoch, and the time at which the module was built.
#[unsafe(no_mangle)]
extern "C" fn clock_check(layout: i32, now_ms: f64) -> i32 {
    const BUILT_MS: i64 = built_ms(env!("LEAFID_BUILT_DAY"));
    call(|module| {
        check_clock(module.get::<Layout>(layout)?, BUILT_MS, now_ms as i64)?;
        Ok(0)
    })
}

/// How long a start without a record issues nothing, milliseconds: the option, NaN for none, or else the text of
/// `LEAFID_NO_RECORD_WAIT_MS`, -1 for none.
#[unsafe(no_mangle)]
extern "C" fn no_record_wait(ms: f64, text_length: i32, leased: i32) -> f64 {
    call(|module| {
        let [text] = module.texts([text_length.max(0)])?;
        let variable = (text_length >= 0).then_some(Variable {
            name: "LEAFID_NO_RECORD_WAIT_MS",
            text: Some(text),
            shown: &text,
        });
        let waits = no_record_wait_ms(optional("no_record_wait_ms", ms)?, variable, leased != 0)?;
        Ok(waits as f64)
    })
}

/// The smallest and the largest worker id of a text, on a host of this name. `option`: what the user set to the text.
#[unsafe(no_mangle)]
extern "C" fn worker_range(layout: i32, option_length: i32, text_length: i32, host_length: i32) -> i32 {
    call(|module| {
        let [option, text, host] = module.texts([option_length, text_length, host_length])?;
        let layout = module.get::<Layout>(layout)?;
        let range = WorkerRange::parse(option, WorkerOption::Text(text), layout, host)?;
        module.answer(&[range.first.into(), range.last.into()]);
        Ok(0)
    })
}

/// The first tick above an existing id.
#[unsafe(no_mangle)]
extern "C" fn start_after(layout: i32, id: i64) -> f64 {
    call(|module| Ok(start_tick(module.get::<Layout>(layout)?, Some(id))? as f64))
}

/// How a generator starts from a record: 0 with the answer's span, 1 when the clock reads the answer. `lease_from` is
/// NaN without a lease. No tick below `floor` is used, nor one up to the user's `after`.
#[unsafe(no_mangle)]
extern "C" fn start_poll(
    record: i32,
    rules: i32,
    lease_from: f64,
    lease_until: f64,
    floor: f64,
    after: f64,
    no_record_wait_ms: f64,
    forgets: i32,
    now_ms: f64,
) -> i32 {
    call(|module| {
        let no_record_wait_ms = optional("no_record_wait_ms", no_record_wait_ms)?.unwrap_or(0);
        if !(0..=MOST_MS).contains(&no_record_wait_ms) {
            let allowed = allowed("no_record_wait_ms");
            return Err(Error::invalid("no_record_wait_ms", no_record_wait_ms, allowed).into());
        }
        let lease =
            (!lease_from.is_nan()).then_some(Span { from: lease_from as u64, until: lease_until as u64 });
        let start = Start {
            rules: module.get::<Rules>(rules)?,
            lease,
            floor: floor as u64,
            start_after: after as u64,
            no_record_wait_ms,
            forgets: forgets != 0,
        };
        match start.poll(module.get::<Record>(record)?, now_ms as i64) {
            StartAction::Begin { first, begins_ms } => {
                let begins_ms = begins_ms.map_or(f64::NAN, |ms| ms as f64);
                module.answer(&[first.from as f64, first.until as f64, begins_ms]);
                Ok(0)
            }
            StartAction::WaitUntil(ms) => {
                module.answer(&[ms as f64]);
                Ok(1)
            }
            StartAction::Refused(error) => Err(error.into()),
        }
    })
}

/// That of a claim of one worker id.
const PATIENCE: ClaimPatience = ClaimPatience {
    is_range: false,
    inherited: false,
    lazy: false,
    limits_waits: false,
    timeout: Duration::ZERO,
};

/// A search for a free worker id. It lasts as long as `timeout_ms` for a range. `cannot_wait` 1: the caller may not
/// wait for the end of a holder.
#[unsafe(no_mangle)]
extern "C" fn search_new(
    space_length: i32,
    first: f64,
    last: f64,
    timeout_ms: f64,
    cannot_wait: i32,
    no_record_wait_ms: f64,
    boot_ms: f64,
) -> i32 {
    call(|module| {
        let [space] = module.texts([space_length])?;
        let no_record_wait_ms = optional("no_record_wait_ms", no_record_wait_ms)?.unwrap_or(0);
        let candidates = match first == last {
            true => ClaimCandidates::One(first as u32),
            false => ClaimCandidates::Within { first: first as u32, last: last as u32 },
        };
        let patience = ClaimPatience {
            is_range: first != last,
            lazy: cannot_wait != 0,
            limits_waits: cannot_wait != 0,
            timeout: Duration::from_millis(whole("timeout_ms", timeout_ms)?.clamp(1, MOST_MS) as u64),
            ..PATIENCE
        };
        let begun = duration(boot_ms);
        let search = ClaimSearch::new(space, candidates, &patience, no_record_wait_ms, begun);
        Ok(module.add(search))
    })
}

/// The next action of a search: 0 claim the answer's worker id, 1 read its record without its lock, 2 log the output,
/// 3 poll again after the answer's milliseconds. Or the error with which it ended.
#[unsafe(no_mangle)]
extern "C" fn search_poll(search: i32, boot_ms: f64) -> i32 {
    call(|module| {
        let search = module.get_mut::<ClaimSearch>(search)?;
        let (number, answer) = loop {
            match search.poll(duration(boot_ms)) {
                ClaimAction::Claim { worker_id, .. } => break (0, worker_id.into()),
                ClaimAction::Peek(worker_id) => break (1, worker_id.into()),
                ClaimAction::Warn(text) => {
                    write(&[&text]);
                    return Ok(2);
                }
                // Other users of the host are not seen through this module.
                ClaimAction::WarnOfStranger(_) => {}
                ClaimAction::Sleep(pause) => break (3, ms(pause)),
                ClaimAction::Failed(error) => return Err(error.into()),
            }
        };
        module.answer(&[answer]);
        Ok(number)
    })
}

/// The record at which the host looked; the handle 0 stands for none.
#[unsafe(no_mangle)]
extern "C" fn search_peeked(search: i32, record: i32, now_ms: f64) -> i32 {
    call(|module| {
        let record = match record {
            0 => None,
            record => Some(module.get::<Record>(record)?.clone()),
        };
        module.get_mut::<ClaimSearch>(search)?.peeked(record.as_ref(), now_ms as i64);
        Ok(0)
    })
}

/// The read or the claim of the worker id failed with this error.
#[unsafe(no_mangle)]
extern "C" fn search_refused(search: i32, number: i32, message_length: i32) -> i32 {
    call(|module| {
        let error = given_error(module, number, message_length)?;
        module.get_mut::<ClaimSearch>(search)?.refused(error);
        Ok(0)
    })
}
