//! The options for the time in ids.

use crate::callback::{UserData, call, leafid_free_fn, missing};
use crate::leafid_status;
use crate::lease::LEAFID_MOST_PEERS;
use crate::options::leafid_snowflake_options;
use crate::settings::Given::{Int, Word};
use crate::settings::{change, set};
use leafid::Error;
use std::ffi::{c_char, c_int, c_void};

/// The system clock that the time in ids is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_clock_source {
    /// The system's clock. The default.
    LEAFID_CLOCK_SOURCE_SYSTEM = 0,
    /// The system's clock at its last timer interrupt: cheaper to read, and late by up to that interval (1 to 10 ms,
    /// depending on the kernel; clock_lag_ms of leafid_snowflake_stats shows it).
    LEAFID_CLOCK_SOURCE_COARSE = 1,
}

/// Writes the clocks of peers, in Unix milliseconds, to `out`, which has room for `cap` of them, and their number to
/// `n`, which is 0 before. It is called before each claim: at an opening, in a forked child, and after a lease was
/// lost. The caller of that claim waits for it at most timeout_ms.
///
/// Returns LEAFID_OK; or LEAFID_INVALID_ARGUMENT, which refuses the claim; or anything else. Anything else, and no
/// return in time, is logged with the text in `error`, and does not refuse the claim.
///
/// The top of this header has the rules of all callbacks: on what thread they run and what they must not do.
pub type leafid_peer_times_fn = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        out: *mut i64,
        cap: usize,
        n: *mut usize,
        error: *mut c_char,
        error_cap: usize,
    ) -> c_int,
>;

/// The clock that ids are made from: a leafid_clock_source. Default LEAFID_CLOCK_SOURCE_SYSTEM.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_clock_source(
    options: *mut leafid_snowflake_options,
    source: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "clock_source", Word(source)) }
}

/// The largest existing id of this layout, such as that of the generator before: every id will be of a later tick.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_start_after(
    options: *mut leafid_snowflake_options,
    id: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "start_after", Int(id)) }
}

/// A callback that returns the clocks of peers. A clock that differs by 10 s or more from the median of three or more
/// is refused with LEAFID_CLOCK_BACKWARDS when a worker id is claimed. `free_user_data` may be NULL.
///
/// Errors: LEAFID_INVALID_ARGUMENT if `ask` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_peer_times(
    options: *mut leafid_snowflake_options,
    ask: leafid_peer_times_fn,
    user_data: *mut c_void,
    free_user_data: leafid_free_fn,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header.
    let user_data = unsafe { UserData::new(user_data, free_user_data) };
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        change(options, |options| {
            let ask = ask.ok_or_else(|| missing("peer_times"))?;
            options.builder = options.builder.clone().peer_times(move || {
                let (mut times_ms, mut n) = ([0; LEAFID_MOST_PEERS], 0);
                let answer = call(|error, cap| {
                    let out = times_ms.as_mut_ptr();
                    // SAFETY: the header's contract of callbacks: what is passed lives until it returns.
                    ask(user_data.pointer(), out, LEAFID_MOST_PEERS, &mut n, error, cap)
                });
                answer.map_err(|error| error.into_error("peer_times"))?;
                let times_ms = times_ms.get(..n).ok_or_else(|| {
                    Error::invalid("n", n, &format!("as the answer of peer_times 0 to {LEAFID_MOST_PEERS}"))
                })?;
                Ok(times_ms.to_vec())
            });
            Ok(())
        })
    }
}
