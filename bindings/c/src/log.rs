//! leafid's log records for a user callback.

use crate::guard::guard;
use crate::leafid_status;
use leafid::Error;
use leafid::log_queue::{self, Level, LevelFilter, QueuedLogger};
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use std::time::Duration;

/// The level of a log record: lower is more severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_log_level {
    /// Something failed.
    LEAFID_LOG_ERROR = 1,
    /// A problem, such as a damaged record or a disk that cannot be written; issuing continues.
    LEAFID_LOG_WARN = 2,
    /// The claimed worker id and its directory: one record for each opening.
    LEAFID_LOG_INFO = 3,
    /// Details.
    LEAFID_LOG_DEBUG = 4,
}

/// Gets one log record: its level, a leafid_log_level, and its text without a newline, valid during the call.
///
/// It runs on leafid's own thread, with all signals blocked, for one record at a time, while leafid holds no lock: it
/// may take locks, write to a disk and use leafid. It must return, and not by longjmp or an exception.
pub type leafid_log_fn =
    Option<unsafe extern "C" fn(user_data: *mut c_void, level: i32, message: *const c_char)>;

/// Calls `callback` with `user_data` for each log record of `level` or a more severe one, instead of the previous
/// callback. NULL turns logging off, which is the default. The thread that calls it exists only while there are
/// records. Up to 256 of them wait for it; further ones are dropped, and the next record says how many. A forked
/// child continues with the same callback and its own records.
///
/// When this returns, no call of the previous callback is in progress or comes later: you may free its `user_data`.
/// When logging is turned off, waiting records are delivered first, for a second at most. The function waits for a
/// call in progress however long it takes, so that call must not wait for the thread that is in this function. A
/// callback may itself call this function: then only its own call is still in progress. Turn logging off before the
/// things that it uses end, for example at the end of the program.
///
/// Errors: LEAFID_INVALID_ARGUMENT for an invalid level.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_set_log(
    callback: leafid_log_fn,
    user_data: *mut c_void,
    level: i32,
) -> leafid_status {
    guard(|| {
        let Some(function) = callback else {
            LOGGER.install(LevelFilter::Off);
            log_queue::wait(FLUSH);
            replace(ptr::null_mut());
            return Ok(());
        };
        let level = filter(level)?;
        replace(Box::into_raw(Box::new(Callback { function, user_data })));
        LOGGER.install(level);
        Ok(())
    })
}

/// How long the waiting records are delivered when the callback is turned off.
const FLUSH: Duration = Duration::from_secs(1);

struct Callback {
    function: unsafe extern "C" fn(*mut c_void, i32, *const c_char),
    user_data: *mut c_void,
}

static LOGGER: QueuedLogger = QueuedLogger::new(deliver);
/// Null without a callback. It is an atomic, which a forked child can read; a lock might be held there for ever.
static CALLBACK: AtomicPtr<Callback> = AtomicPtr::new(ptr::null_mut());

fn replace(callback: *mut Callback) {
    let old = CALLBACK.swap(callback, SeqCst);
    // A delivery has read the new one, or it has ended after this, or this call comes from that delivery.
    log_queue::wait_for_delivery();
    if !old.is_null() {
        // SAFETY: made by Box::into_raw, taken out once, and not read any more.
        drop(unsafe { Box::from_raw(old) });
    }
}

fn deliver(level: Level, message: &str) {
    // SAFETY: `replace` frees it only after this delivery, or within the call below, which uses copies.
    let Some(&Callback { function, user_data }) = (unsafe { CALLBACK.load(SeqCst).as_ref() }) else { return };
    let Ok(text) = CString::new(message.replace('\0', "\u{fffd}")) else { return };
    // SAFETY: the user callback, with what it was given for it; the text ends and lives during the call.
    unsafe { function(user_data, number(level), text.as_ptr()) }
}

fn number(level: Level) -> i32 {
    use leafid_log_level::*;
    let level = match level {
        Level::Error => LEAFID_LOG_ERROR,
        Level::Warn => LEAFID_LOG_WARN,
        Level::Info => LEAFID_LOG_INFO,
        Level::Debug | Level::Trace => LEAFID_LOG_DEBUG,
    };
    level as i32
}

fn filter(level: i32) -> leafid::Result<LevelFilter> {
    use leafid_log_level::*;
    match level {
        level if level == LEAFID_LOG_ERROR as i32 => Ok(LevelFilter::Error),
        level if level == LEAFID_LOG_WARN as i32 => Ok(LevelFilter::Warn),
        level if level == LEAFID_LOG_INFO as i32 => Ok(LevelFilter::Info),
        level if level == LEAFID_LOG_DEBUG as i32 => Ok(LevelFilter::Debug),
        other => Err(Error::invalid("level", other, "a leafid_log_level, 1 (error) to 4 (debug)")),
    }
}
