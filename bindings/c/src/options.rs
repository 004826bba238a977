//! The options of a snowflake, set one by one.

use crate::guard::{guard, quietly};
use crate::pointer::{Out, shared};
use crate::settings::{self, Settings};
use crate::text;
use crate::{leafid_layout, leafid_status};
use leafid::{Error, Layout, OnClockBackwards, OnExhausted, Result, SnowflakeBuilder, Worker, allowed};
use std::ffi::c_char;

/// What a generator does when the clock is behind its last id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_on_clock_backwards {
    /// Goes on upon the logical clock, which never goes back. The default.
    LEAFID_ON_CLOCK_BACKWARDS_CONTINUE = 0,
    /// Waits until the clock has caught up: Leaf's rule.
    LEAFID_ON_CLOCK_BACKWARDS_WAIT = 1,
}

/// What a generator does when a tick's sequence is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_on_exhausted {
    /// Waits for the clock's next tick. The default.
    LEAFID_ON_EXHAUSTED_WAIT = 0,
    /// Steps on ahead of the clock, within the bound of max_backwards_ms.
    LEAFID_ON_EXHAUSTED_BORROW = 1,
}

/// The options of a snowflake. For one thread at a time; may be used for many generators. A setter that refuses its
/// value returns the error, changes nothing else, and leafid_snowflake_open returns the first such error again, so
/// that only its status need be looked at.
pub struct leafid_snowflake_options(Settings<Wanted>);

/// The host's options; headers are added one by one, and gathered first.
#[derive(Default)]
struct Wanted {
    builder: SnowflakeBuilder,
    headers: Vec<(String, String)>,
}

impl leafid_snowflake_options {
    /// The host's options, or the first error a setter met.
    pub(crate) fn check(&self) -> Result<SnowflakeBuilder> {
        let Wanted { builder, headers } = self.0.check()?;
        Ok(builder.clone().headers(headers.iter().cloned()))
    }
}

/// What all setters but that of headers do.
///
/// # Safety
/// When not NULL, `options` is live and used by nobody else.
pub(crate) unsafe fn set(
    options: *mut leafid_snowflake_options,
    change: impl FnOnce(SnowflakeBuilder) -> Result<SnowflakeBuilder>,
) -> leafid_status {
    // SAFETY: the caller's duty.
    unsafe {
        settings::set(
            options,
            |options| &mut options.0,
            |wanted| {
                wanted.builder = change(wanted.builder.clone())?;
                Ok(())
            },
        )
    }
}

/// Adds a header, which `read` reads.
///
/// # Safety
/// As of `set`.
pub(crate) unsafe fn add_header(
    options: *mut leafid_snowflake_options,
    read: impl FnOnce() -> Result<(String, String)>,
) -> leafid_status {
    // SAFETY: the caller's duty.
    unsafe {
        settings::set(
            options,
            |options| &mut options.0,
            |wanted| {
                wanted.headers.push(read()?);
                Ok(())
            },
        )
    }
}

/// Makes options with every default. Give them back with leafid_snowflake_options_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_new(
    out: *mut *mut leafid_snowflake_options,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let out = unsafe { Out::new(out, "out") }?;
        let options = leafid_snowflake_options(Settings::default());
        out.write(Box::into_raw(Box::new(options)));
        Ok(())
    })
}

/// Gives options back, once; generators opened with them live on. NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_free(options: *mut leafid_snowflake_options) {
    if !options.is_null() {
        // SAFETY: made by leafid_snowflake_options_new and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(options) }));
    }
}

/// The worker id, as text: "7"; "0-31" for any id of it that nobody holds, both ends included; "hostname:orders" for N
/// on a host called orders-N, "hostname:orders*8" for any of 8N to 8N+7; or the URL of a lease server, as in
/// "https://ids-1:8443", several of them with commas between, of which the first is preferred and one that fails rests.
/// Lease servers are asked on threads of leafid's, by no function of yours: a lease is claimed, renewed and given back
/// as leafid_worker_leases tells it. Default: the environment's LEAFID_WORKER; without either, leafid_snowflake_open
/// refuses. Of the functions that say where worker ids come from, the last one counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_worker(
    options: *mut leafid_snowflake_options,
    worker: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.worker(text::read(worker, "worker")?))) }
}

/// The worker id: 0 to the largest one of the layout, 1023 in Leaf's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_worker_id(
    options: *mut leafid_snowflake_options,
    worker_id: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.worker(Worker::Id(worker_id)))) }
}

/// A range of worker ids, both ends included, of which any one that nobody holds is claimed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_worker_range(
    options: *mut leafid_snowflake_options,
    first: i64,
    last: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.worker(Worker::Range { first, last }))) }
}

/// The id space: worker ids are unique within it, and it has a directory of its own. 1 to 64 of the characters
/// A-Z a-z 0-9 . _ -, not beginning with a dot. Default "default".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_name(
    options: *mut leafid_snowflake_options,
    name: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.name(text::read(name, "name")?))) }
}

/// The directory in which the records of the worker ids are kept; made if missing. Default: LEAFID_STATE_DIR,
/// systemd's STATE_DIRECTORY, /var/lib/leafid where writable, else the user's own state directory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_state_dir(
    options: *mut leafid_snowflake_options,
    state_dir: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.state_dir(text::read(state_dir, "state_dir")?))) }
}

/// The layout, as leafid_layout_parse reads it. Default "leaf".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_layout(
    options: *mut leafid_snowflake_options,
    layout: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.layout(Layout::parse(text::read(layout, "layout")?)?))) }
}

/// The layout, as fields, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_layout_fields(
    options: *mut leafid_snowflake_options,
    layout: *const leafid_layout,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.layout(shared(layout, "layout")?.check()?))) }
}

/// The layout's epoch, Unix milliseconds, not ahead of the clock. Default: the layout's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_epoch_ms(
    options: *mut leafid_snowflake_options,
    epoch_ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.epoch_ms(epoch_ms))) }
}

/// What to do when the clock is behind the last id: a leafid_on_clock_backwards. Default
/// LEAFID_ON_CLOCK_BACKWARDS_CONTINUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_on_clock_backwards(
    options: *mut leafid_snowflake_options,
    rule: i32,
) -> leafid_status {
    use leafid_on_clock_backwards::*;
    let parsed = match rule {
        rule if rule == LEAFID_ON_CLOCK_BACKWARDS_CONTINUE as i32 => Ok(OnClockBackwards::Continue),
        rule if rule == LEAFID_ON_CLOCK_BACKWARDS_WAIT as i32 => Ok(OnClockBackwards::Wait),
        other => Err(Error::invalid("on_clock_backwards", other, allowed("on_clock_backwards"))),
    };
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.on_clock_backwards(parsed?))) }
}

/// How far the clock may be behind the last id, milliseconds: 100 to 3600000 under continue, 0 to 3600000 under wait.
/// Default 5000 under continue, 5 under wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_max_backwards_ms(
    options: *mut leafid_snowflake_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.max_backwards_ms(ms))) }
}

/// What to do when a tick's sequence is used up: a leafid_on_exhausted. Default LEAFID_ON_EXHAUSTED_WAIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_on_exhausted(
    options: *mut leafid_snowflake_options,
    rule: i32,
) -> leafid_status {
    use leafid_on_exhausted::*;
    let parsed = match rule {
        rule if rule == LEAFID_ON_EXHAUSTED_WAIT as i32 => Ok(OnExhausted::Wait),
        rule if rule == LEAFID_ON_EXHAUSTED_BORROW as i32 => Ok(OnExhausted::Borrow),
        other => Err(Error::invalid("on_exhausted", other, allowed("on_exhausted"))),
    };
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.on_exhausted(parsed?))) }
}

/// A new tick starts its sequence at a pseudo-random number below this, at most an eighth of the sequence space, so
/// that ids made at a low rate are not all even. 0 to 1000000; 0 is off. Default 100, Leaf's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_random_start(
    options: *mut leafid_snowflake_options,
    below: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.random_start(below))) }
}

/// How long a call waits at most for its next id, milliseconds, 1 to 3600000. Default 2000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_timeout_ms(
    options: *mut leafid_snowflake_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |builder| Ok(builder.timeout_ms(ms))) }
}
