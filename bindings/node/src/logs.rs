//! leafid's log records for JavaScript functions: one for each environment, which is the main thread or a
//! worker_thread.

use leafid::log_queue::{Level, LevelFilter, QueuedLogger};
use napi::bindgen_prelude::Env;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Status, sys};
use napi_derive::napi;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The largest number of records that wait for a busy JavaScript thread.
const MOST_WAITING: usize = 256;

/// One record.
#[napi(object, object_from_js = false)]
pub struct LogRecord {
    /// `error`, `warn`, `info` or `debug`.
    pub level: String,
    /// The message.
    pub message: String,
}

/// Weak: it does not keep the process alive. What it throws becomes an uncaught exception of its environment.
type Callback = ThreadsafeFunction<LogRecord, (), LogRecord, Status, false, true, MOST_WAITING>;

static LOGGER: QueuedLogger = QueuedLogger::new(deliver);
static ENVIRONMENTS: Mutex<Vec<Environment>> = Mutex::new(Vec::new());

/// An environment that has set a logger before.
struct Environment {
    key: usize,
    logger: Option<Logger>,
}

struct Logger {
    callback: Callback,
    level: LevelFilter,
    /// The number of records that were dropped because the JavaScript thread was busy.
    dropped: AtomicU64,
}

/// Calls the callback for records of this level and above, on this thread. Without a callback, turns the records off.
#[napi(catch_unwind)]
pub fn set_logger(env: &Env, callback: Option<Callback>, level: String) -> napi::Result<()> {
    let key = key(env.raw());
    let logger =
        callback.map(|callback| Logger { callback, level: filter(&level), dropped: AtomicU64::new(0) });
    let known = environments().iter().any(|environment| environment.key == key);
    if !known {
        env.add_env_cleanup_hook(key, forget)?;
        environments().push(Environment { key, logger: None });
    }
    let mut environments = environments();
    let found = environments.iter_mut().find(|environment| environment.key == key);
    let old = found.and_then(|environment| std::mem::replace(&mut environment.logger, logger));
    adopt_level(&environments);
    drop(environments);
    // Without a lock: the drop releases the JavaScript function.
    drop(old);
    Ok(())
}

fn key(env: sys::napi_env) -> usize {
    env as usize
}

/// Removes an environment that ends.
fn forget(key: usize) {
    let mut environments = environments();
    let at = environments.iter().position(|environment| environment.key == key);
    let ended = at.map(|at| environments.swap_remove(at));
    adopt_level(&environments);
    drop(environments);
    drop(ended);
}

/// Creates no more records, because the process ends.
pub(crate) fn end() {
    LOGGER.install(LevelFilter::Off);
}

fn environments() -> MutexGuard<'static, Vec<Environment>> {
    ENVIRONMENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn adopt_level(environments: &[Environment]) {
    let levels = environments.iter().filter_map(|environment| Some(environment.logger.as_ref()?.level));
    LOGGER.install(levels.max().unwrap_or(LevelFilter::Off));
}

/// Runs on leafid's own thread, and never waits for JavaScript.
fn deliver(level: Level, message: &str) {
    for environment in environments().iter() {
        if let Some(logger) = &environment.logger
            && level <= logger.level
        {
            logger.deliver(level, message);
        }
    }
}

impl Logger {
    fn deliver(&self, level: Level, message: &str) {
        let dropped = self.dropped.load(Relaxed);
        let also = match dropped {
            0 => String::new(),
            _ => format!(" ({dropped} records before this one were dropped: this thread was busy)"),
        };
        let record = LogRecord { level: name(level).into(), message: format!("{message}{also}") };
        match self.callback.call(record, ThreadsafeFunctionCallMode::NonBlocking) {
            Status::QueueFull => self.dropped.fetch_add(1, Relaxed),
            _ => self.dropped.fetch_sub(dropped, Relaxed),
        };
    }
}

fn name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warn => "warn",
        Level::Info => "info",
        Level::Debug | Level::Trace => "debug",
    }
}

/// `node/js/native/logger.js` passes no other text.
fn filter(level: &str) -> LevelFilter {
    match level {
        "error" => LevelFilter::Error,
        "warn" => LevelFilter::Warn,
        "info" => LevelFilter::Info,
        _ => LevelFilter::Debug,
    }
}
