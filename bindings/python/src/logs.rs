//! leafid's log records in Python's logging, as the logger "leafid".

use crate::attach;
use leafid::log_queue::{Level, LevelFilter, QueuedLogger};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// How long a fork waits for the thread that calls handlers.
const FORK_WAITS: Duration = Duration::from_millis(100);
/// How long the end of the interpreter waits for it.
const EXIT_WAITS: Duration = Duration::from_secs(1);

static LOGGER: QueuedLogger = QueuedLogger::new(deliver);
/// Whether the interpreter ends. A thread that attaches to it then never returns.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Delivers records from now on, and makes forks wait for the delivery.
pub(crate) fn set_up(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    if is_imported(py)? {
        functions(py)?;
    } else {
        wait_at_forks(py)?;
    }
    adopt_level(py);
    Ok(())
}

/// Whether the program uses logging. leafid does not import it for this: the import takes longer than that of leafid.
/// And on another thread, during a fork, it would make logging release a lock that it did not take.
fn is_imported(py: Python<'_>) -> PyResult<bool> {
    py.import("sys")?.getattr("modules")?.contains("logging")
}

fn wait_at_forks(py: Python<'_>) -> PyResult<()> {
    let hook = PyDict::new(py);
    hook.set_item("before", wrap_pyfunction!(before_fork, py)?)?;
    hook.set_item("after_in_parent", wrap_pyfunction!(after_fork, py)?)?;
    py.import("os")?.call_method("register_at_fork", (), Some(&hook)).map(drop)
}

/// Adopts the level of the logger, so that no thread is started for records that the logger would drop.
pub(crate) fn adopt_level(py: Python<'_>) {
    if ENDING.load(Relaxed) {
        return;
    }
    match level(py) {
        Ok(level) => LOGGER.install(level),
        // An exception of a logger's own class does not prevent an opening.
        Err(error) => error.write_unraisable(py, None),
    }
}

/// Delivers the waiting records for a while, and none afterwards.
pub(crate) fn end(py: Python<'_>) {
    ENDING.store(true, Relaxed);
    LOGGER.install(LevelFilter::Off);
    py.detach(|| leafid::quiesce(EXIT_WAITS));
}

/// With the interpreter released: the thread may need it in order to end, and the fork itself holds it.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    py.detach(|| leafid::quiesce(FORK_WAITS));
}

/// Also called when the fork failed. In a child there is nothing to release.
#[pyfunction]
fn after_fork() {
    leafid::resume();
}

/// The Python functions for this. They import logging: a hook that is registered after logging's own runs before it,
/// and logging's hook takes a lock of its handlers.
fn functions(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    static WAITS: PyOnceLock<()> = PyOnceLock::new();
    let functions = py.import("leafid._logs")?;
    WAITS.get_or_try_init(py, || wait_at_forks(py))?;
    Ok(functions)
}

fn level(py: Python<'_>) -> PyResult<LevelFilter> {
    if !is_imported(py)? {
        // The default level of logging.
        return Ok(LevelFilter::Warn);
    }
    let least: i64 = functions(py)?.call_method0("level")?.extract()?;
    let levels = [Level::Debug, Level::Info, Level::Warn, Level::Error];
    let level = levels.into_iter().find(|level| i64::from(number(*level)) >= least);
    Ok(level.map_or(LevelFilter::Off, |level| level.to_level_filter()))
}

/// Runs on leafid's own thread.
fn deliver(level: Level, message: &str) {
    // `None`: the interpreter ends.
    Python::try_attach(|py| {
        if let Err(error) = hand_over(py, number(level), message) {
            error.write_unraisable(py, None);
        }
    });
}

fn hand_over(py: Python<'_>, level: u8, message: &str) -> PyResult<()> {
    if !is_imported(py)? {
        // As logging does without a configuration.
        let stderr = py.import("sys")?.getattr("stderr")?;
        if stderr.is_none() {
            return Ok(());
        }
        let line = (format!("{message}\n"),).into_pyobject(py)?;
        return attach::call(&stderr.getattr("write")?, &line).map(|_| ());
    }
    let arguments = (level, message).into_pyobject(py)?;
    attach::call(&functions(py)?.getattr("deliver")?, &arguments).map(|_| ())
}

/// Python's number of a level.
fn number(level: Level) -> u8 {
    match level {
        Level::Error => 40,
        Level::Warn => 30,
        Level::Info => 20,
        Level::Debug | Level::Trace => 10,
    }
}
