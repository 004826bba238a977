//! The options of a snowflake: one setter for each.

use crate::guard::{guard, quietly};
use crate::pointer::{Out, shared};
use crate::settings::Given::{Int, Text, Word};
use crate::settings::{Options, change, set};
use crate::text;
use crate::{leafid_layout, leafid_status};
use leafid::{Error, Layout, OptionValue, Result, SnowflakeBuilder, Worker};
use std::ffi::c_char;

/// What a generator does when the clock is behind its last id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_on_clock_backwards {
    /// Continues on the logical clock, which never goes back. The default.
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
    /// Uses the next tick ahead of the clock, within max_backwards_ms.
    LEAFID_ON_EXHAUSTED_BORROW = 1,
}

/// The options of a snowflake. One thread may use them at a time; they may serve many generators. A setter that
/// refuses its value returns the error and changes nothing else. leafid_snowflake_open returns the first such error
/// again, so you need to check only its status.
#[derive(Default)]
pub struct leafid_snowflake_options {
    pub(crate) builder: SnowflakeBuilder,
    /// They are added one by one.
    pub(crate) headers: Vec<(String, String)>,
    first_error: Option<Error>,
}

impl Options for leafid_snowflake_options {
    fn set_value(&mut self, name: &str, value: OptionValue) -> Result<()> {
        self.builder.set_value(name, value)
    }

    fn first_error(&mut self) -> &mut Option<Error> {
        &mut self.first_error
    }
}

impl leafid_snowflake_options {
    /// The host's options, or the first error of a setter.
    pub(crate) fn check(&self) -> Result<SnowflakeBuilder> {
        let builder = self.first_error.clone().map_or_else(|| Ok(self.builder.clone()), Err)?;
        Ok(builder.headers(self.headers.iter().cloned()))
    }
}

/// Sets the source of worker ids that `read` returns. The last one counts.
///
/// # Safety
/// As of [`change`].
pub(crate) unsafe fn set_worker(
    options: *mut leafid_snowflake_options,
    read: impl FnOnce() -> Result<Worker>,
) -> leafid_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(options, |options| {
            options.builder = options.builder.clone().worker(read()?);
            Ok(())
        })
    }
}

/// # Safety
/// As of [`change`].
unsafe fn set_layout(
    options: *mut leafid_snowflake_options,
    read: impl FnOnce() -> Result<Layout>,
) -> leafid_status {
    // SAFETY: the caller's duty.
    unsafe { change(options, |options| options.set_value("layout", OptionValue::Layout(read()?.fields()))) }
}

/// Creates options with all defaults. Free them with leafid_snowflake_options_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_new(
    out: *mut *mut leafid_snowflake_options,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let out = unsafe { Out::new(out, "out") }?;
        out.write(Box::into_raw(Box::default()));
        Ok(())
    })
}

/// Frees options; call it once. Generators opened with them stay open. NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_free(options: *mut leafid_snowflake_options) {
    if !options.is_null() {
        // SAFETY: made by leafid_snowflake_options_new and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(options) }));
    }
}

/// The worker id, as text: "7"; "0-31" for any free id of the range, both ends included; "local" for any on this machine
/// alone; "hostname:orders" for N on a host called orders-N, "hostname:orders*8" for any of 8N to 8N+7; or URLs of lease
/// servers, such as "https://ids-1:8443", separated by commas. leafid prefers the first one and backs off from one that fails. It asks
/// them on its own threads, and claims, renews and releases a lease as leafid_worker_leases describes. Default: the
/// environment's LEAFID_WORKER; without either, leafid_snowflake_open refuses. If you call several of the functions
/// that set the source of worker ids, the last call counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_worker(
    options: *mut leafid_snowflake_options,
    worker: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set_worker(options, || Ok(text::read(worker, "worker")?.into())) }
}

/// The worker id: 0 to the largest one of the layout, 1023 in Leaf's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_worker_id(
    options: *mut leafid_snowflake_options,
    worker_id: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set_worker(options, || Ok(Worker::Id(worker_id))) }
}

/// A range of worker ids, both ends included: any free one is claimed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_worker_range(
    options: *mut leafid_snowflake_options,
    first: i64,
    last: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set_worker(options, || Ok(Worker::Range { first, last })) }
}

/// The id space: worker ids are unique within it, and two id spaces can make the same id. Give one name to all programs
/// that write into one column. It has its own directory. 1 to 64 of the characters A-Z a-z 0-9 . _ -, not beginning with
/// a dot. Default "default".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_name(
    options: *mut leafid_snowflake_options,
    name: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "name", Text(name)) }
}

/// The directory of the records of the worker ids; created if missing. Default: LEAFID_STATE_DIR, systemd's
/// STATE_DIRECTORY, /var/lib/leafid if writable, else the user's own state directory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_state_dir(
    options: *mut leafid_snowflake_options,
    state_dir: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "state_dir", Text(state_dir)) }
}

/// The layout, as leafid_layout_parse parses it. Default "leaf".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_layout(
    options: *mut leafid_snowflake_options,
    layout: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set_layout(options, || Layout::parse(text::read(layout, "layout")?)) }
}

/// The layout, as fields, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_layout_fields(
    options: *mut leafid_snowflake_options,
    layout: *const leafid_layout,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set_layout(options, || shared(layout, "layout")?.check()) }
}

/// The layout's epoch, Unix milliseconds, not ahead of the clock. Default: the layout's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_epoch_ms(
    options: *mut leafid_snowflake_options,
    epoch_ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "epoch_ms", Int(epoch_ms)) }
}

/// What to do when the clock is behind the last id: a leafid_on_clock_backwards. Default
/// LEAFID_ON_CLOCK_BACKWARDS_CONTINUE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_on_clock_backwards(
    options: *mut leafid_snowflake_options,
    rule: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "on_clock_backwards", Word(rule)) }
}

/// How far the clock may be behind the last id, milliseconds: 100 to 3600000 under continue, 0 to 3600000 under wait.
/// Default 5000 under continue, 5 under wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_max_backwards_ms(
    options: *mut leafid_snowflake_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "max_backwards_ms", Int(ms)) }
}

/// What to do when a tick's sequence is used up: a leafid_on_exhausted. Default LEAFID_ON_EXHAUSTED_WAIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_on_exhausted(
    options: *mut leafid_snowflake_options,
    rule: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "on_exhausted", Word(rule)) }
}

/// A new tick starts its sequence at a pseudo-random number below this, at most an eighth of the sequence space, so
/// that ids made at a low rate are not all even. 0 to 1000000; 0 is off. Default 100, Leaf's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_random_start(
    options: *mut leafid_snowflake_options,
    below: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "random_start", Int(below)) }
}

/// The longest wait of a call for its next id, milliseconds, 1 to 3600000. Default 2000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_timeout_ms(
    options: *mut leafid_snowflake_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "timeout_ms", Int(ms)) }
}
