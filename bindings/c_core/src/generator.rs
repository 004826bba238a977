//! The generator, and its spans.

use crate::layout::or_leaf;
use crate::pointer::{shared, write, write_error};
use crate::status::report;
use crate::{leafid_core_layout, leafid_core_status};
use alloc::boxed::Box;
use alloc::format;
use core::ffi::c_char;
use leafid_core::snowflake::LONGEST_SPAN_MS;
use leafid_core::{Action, Error, OnClockBackwards, OnExhausted, Result, Rules, Snowflake, Span, next_until};

/// What a generator does when the clock is behind its last id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_core_on_clock_backwards {
    /// It continues with the logical clock, which never goes back.
    LEAFID_CORE_CONTINUE = 0,
    /// It waits until the clock has caught up (Leaf's rule).
    LEAFID_CORE_WAIT_FOR_CLOCK = 1,
}

/// What a generator does when the sequence of a tick is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_core_on_exhausted {
    /// It waits for the next tick of the clock.
    LEAFID_CORE_WAIT_FOR_TICK = 0,
    /// It uses the next tick ahead of the clock, within max_backwards_ms.
    LEAFID_CORE_BORROW = 1,
}

/// The rules of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct leafid_core_rules {
    /// How far the clock may be behind the last id, in milliseconds: 100 to 3600000, and 0 to 3600000 under
    /// LEAFID_CORE_WAIT_FOR_CLOCK. Default: 5000.
    pub max_backwards_ms: i64,
    /// A leafid_core_on_clock_backwards. Default: LEAFID_CORE_CONTINUE.
    pub on_clock_backwards: i32,
    /// A leafid_core_on_exhausted. Default: LEAFID_CORE_WAIT_FOR_TICK.
    pub on_exhausted: i32,
    /// A new tick starts its sequence below this number, but at most at an eighth of the sequence; 0 and 1 always start
    /// at 0. Default: 100.
    pub random_start: u32,
}

impl leafid_core_rules {
    fn check(&self) -> Result<Rules> {
        let on_clock_backwards = match self.on_clock_backwards {
            0 => OnClockBackwards::Continue,
            1 => OnClockBackwards::Wait,
            other => return Err(Error::invalid("on_clock_backwards", other, "0 or 1")),
        };
        let on_exhausted = match self.on_exhausted {
            0 => OnExhausted::Wait,
            1 => OnExhausted::Borrow,
            other => return Err(Error::invalid("on_exhausted", other, "0 or 1")),
        };
        Ok(Rules {
            on_clock_backwards,
            max_backwards_ms: on_clock_backwards.check_max_ms(self.max_backwards_ms)?,
            on_exhausted,
            random_start: self.random_start,
        })
    }
}

/// Ticks from `from` to below `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct leafid_core_span {
    /// The first tick.
    pub from: u64,
    /// The first tick after the span. Store this durably before the span is granted.
    pub until: u64,
}

/// A generator of one worker id.
pub struct leafid_core_generator(Snowflake);

/// Makes a generator that has no span yet. Free it with leafid_core_generator_free.
///
/// `from` is its first tick: the stored `until` of the worker id's last span, or leafid_core_tick_at if no generator ever
/// had the worker id. `seed` chooses where the sequence of a tick starts, see random_start. `rules` NULL: the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_generator_new(
    layout: *const leafid_core_layout,
    rules: *const leafid_core_rules,
    worker_id: i64,
    from: u64,
    seed: u64,
    out: *mut *mut leafid_core_generator,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || {
            let layout = or_leaf(layout)?;
            let rules = if rules.is_null() { Rules::default() } else { shared(rules, "rules")?.check()? };
            let Some(worker_id) = u32::try_from(worker_id).ok().filter(|id| *id <= layout.max_worker_id())
            else {
                return Err(Error::invalid(
                    "worker_id",
                    worker_id,
                    &format!("0 to {}", layout.max_worker_id()),
                ));
            };
            if from > layout.last_tick() {
                return Err(Error::invalid("from", from, &format!("0 to {}", layout.last_tick())));
            }
            shared(out.cast_const(), "out")?;
            let flake = Snowflake::new(layout, rules, worker_id, from, seed);
            write(out, "out", Box::into_raw(Box::new(leafid_core_generator(flake))))
        };
        report(body(), error, error_cap)
    }
}

/// Issues one id. `now_ms` is the clock in Unix milliseconds, read for this call.
///
/// LEAFID_CORE_WAIT writes the time of the clock at which to call again to `wait_until_ms`, which may be NULL.
/// LEAFID_CORE_NEED_SPAN: leafid_core_generator_next_span has the next span. Both change nothing, and so does an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_generator_next(
    generator: *const leafid_core_generator,
    now_ms: i64,
    out: *mut i64,
    wait_until_ms: *mut i64,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let places = || Ok((&shared(generator, "generator")?.0, shared(out.cast_const(), "out")?));
        let flake = match places() {
            Ok((flake, _)) => flake,
            Err(wrong) => return report(Err(wrong), error, error_cap),
        };
        match flake.next(now_ms) {
            Ok(id) => report(write(out, "out", id), error, error_cap),
            Err(action) => {
                if let Action::WaitUntil(ms) = action
                    && !wait_until_ms.is_null()
                {
                    wait_until_ms.write(ms);
                }
                // What a loop gets again and again needs no text and no memory.
                if error_cap > 0 {
                    write_error(&flake.error(action), error, error_cap);
                }
                match action {
                    Action::WaitUntil(_) => leafid_core_status::LEAFID_CORE_WAIT,
                    Action::NeedSpan => leafid_core_status::LEAFID_CORE_NEED_SPAN,
                    Action::ClockBackwards { .. } => leafid_core_status::LEAFID_CORE_CLOCK_BACKWARDS,
                    Action::BeforeEpoch { .. } => leafid_core_status::LEAFID_CORE_BEFORE_EPOCH,
                    Action::TimeExhausted { .. } => leafid_core_status::LEAFID_CORE_TIME_EXHAUSTED,
                    Action::Sealed => leafid_core_status::LEAFID_CORE_SEALED,
                }
            }
        }
    }
}

/// The longest span that the rules allow now. It ends at most 3 s ahead of the clock; `age_ms`, the time since the
/// generator was made, makes the first ones shorter, so that a crash loop does not run ahead. Store `until` durably, then
/// grant it.
///
/// LEAFID_CORE_WAIT: the generator is too far ahead of the clock for another span.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_generator_next_span(
    generator: *const leafid_core_generator,
    now_ms: i64,
    age_ms: i64,
    out: *mut leafid_core_span,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || {
            let flake = &shared(generator, "generator")?.0;
            let layout = flake.layout();
            let now = layout.tick_at(now_ms).ok_or_else(|| flake.error(Action::BeforeEpoch { now_ms }))?;
            let unused = flake.first_unused().ok_or_else(|| flake.error(Action::Sealed))?;
            let from = unused.max(now);
            if from > layout.last_tick() {
                return Err(flake.error(Action::TimeExhausted { now_ms }));
            }
            let until = next_until(layout, flake.rules(), &[], from, now_ms, age_ms).ok_or_else(|| {
                flake.error(Action::WaitUntil(layout.tick_start_ms(from).saturating_sub(LONGEST_SPAN_MS)))
            })?;
            write(out, "out", leafid_core_span { from, until })
        };
        report(body(), error, error_cap)
    }
}

/// Grants a span, whose `until` is durable. It starts where the last one ended, or above; ticks in between are never
/// used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_generator_grant(
    generator: *const leafid_core_generator,
    span: *const leafid_core_span,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || {
            let flake = &shared(generator, "generator")?.0;
            let leafid_core_span { from, until } = *shared(span, "span")?;
            let end = flake.layout().last_tick() + 1;
            if from >= until || until > end {
                let allowed = format!("from below until, and until at most {end}");
                return Err(Error::invalid("span", format!("{from} to {until}"), &allowed));
            }
            flake.grant(Span { from, until });
            Ok(())
        };
        report(body(), error, error_cap)
    }
}

/// The first tick without an issued id.
///
/// LEAFID_CORE_SEALED after leafid_core_generator_seal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_generator_first_unused(
    generator: *const leafid_core_generator,
    out: *mut u64,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || {
            let flake = &shared(generator, "generator")?.0;
            write(out, "out", flake.first_unused().ok_or_else(|| flake.error(Action::Sealed))?)
        };
        report(body(), error, error_cap)
    }
}

/// Seals the generator: it issues no more ids. Writes the first tick without an issued id. Store that in place of the
/// last `until`, and the next generator skips nothing.
///
/// LEAFID_CORE_SEALED if it was sealed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_generator_seal(
    generator: *const leafid_core_generator,
    out: *mut u64,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || {
            let flake = &shared(generator, "generator")?.0;
            shared(out.cast_const(), "out")?;
            write(out, "out", flake.seal().ok_or_else(|| flake.error(Action::Sealed))?)
        };
        report(body(), error, error_cap)
    }
}

/// Frees a generator. NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_generator_free(generator: *mut leafid_core_generator) {
    if !generator.is_null() {
        // SAFETY: by the caller's duty it came from leafid_core_generator_new, and no call uses it.
        drop(unsafe { Box::from_raw(generator) });
    }
}
