//! A queue of log records for user loggers, also in other languages.
//!
//! A user's logger may take a lock of its language, write to a disk or ask for an id. So the thread that logs never
//! calls it. Records wait in a bounded queue for the log thread, which runs while the queue has records. The queue
//! belongs to its process: a forked child delivers no record of its parent.

use crate::os::mutex::{PollSleep, lock, lock_signal_safe};
use crate::os::process::{self, ForkHooks, ForkOrder};
use crate::os::{self, PerProcess, Thread};
pub use log::{Level, LevelFilter};
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The longest queue; further records are dropped and counted.
const MOST_QUEUED: usize = 256;

static QUEUE: PerProcess<LogQueue> = PerProcess::new();

thread_local! {
    /// Whether this is the log thread, which cannot wait for itself.
    static IS_LOG_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Delivers one record: its level, and its message without the prefix `leafid: `.
pub type Sink = fn(Level, &str);

/// The logger of a binding, stored in a static.
pub struct QueuedLogger {
    sink: Sink,
}

impl QueuedLogger {
    /// A logger that delivers to `sink`, on a thread of leafid, while that thread holds none of leafid's locks.
    pub const fn new(sink: Sink) -> QueuedLogger {
        QueuedLogger { sink }
    }

    /// Delivers leafid's records of this level and above. A later call sets another level.
    pub fn install(&'static self, level: LevelFilter) {
        // A binding has one logger: an error means that it is already installed.
        let _ = log::set_logger(self);
        log::set_max_level(level);
    }
}

impl log::Log for QueuedLogger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        // Libraries that leafid uses log to their own users.
        metadata.level() <= log::max_level() && metadata.target().starts_with("leafid")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let message = record.args().to_string();
            let message = message.strip_prefix("leafid: ").unwrap_or(&message).to_owned();
            push(QueuedRecord { level: record.level(), message, sink: self.sink });
        }
    }

    fn flush(&self) {}
}

/// Logs from a thread that holds a lock. The log thread calls the logger, because the logger could wait for that lock.
pub(crate) fn log_later(level: Level, message: fmt::Arguments<'_>) {
    if level <= log::max_level() {
        let sink: Sink = |level, message| log::log!(level, "leafid: {message}");
        push(QueuedRecord { level, message: message.to_string(), sink });
    }
}

/// Waits until every record is delivered and the thread has ended, at most `patience`. The log thread does not wait.
pub fn wait(patience: Duration) {
    let Some(queue) = QUEUE.get().filter(|_| !IS_LOG_THREAD.get()) else { return };
    let deadline = Instant::now() + patience;
    let mut sleep = PollSleep::new();
    loop {
        match queue.with_lock(|state| (!state.running).then(|| state.thread.take())) {
            // It has left its loop. This waits until the kernel has removed it.
            Some(Some(Some(thread))) => return thread.join(),
            Some(Some(None)) | None => return,
            Some(None) => {}
        }
        if !sleep.until(deadline) {
            return;
        }
    }
}

/// Starts no log thread until [`resume`] was called as often. A running one continues.
pub(crate) fn pause() {
    let queue = QUEUE.get_or_install(LogQueue::new);
    queue.with_lock(|state| state.pauses += 1);
}

/// Delivers the records that came since [`pause`]. A forked child has none.
pub(crate) fn resume() {
    let Some(queue) = QUEUE.get() else { return };
    queue.with_lock(|state| {
        state.pauses = state.pauses.saturating_sub(1);
        queue.deliver(state);
    });
}

/// Waits until the running delivery has ended, however long the logger takes. The log thread does not wait.
pub fn wait_for_delivery() {
    let Some(queue) = QUEUE.get().filter(|_| !IS_LOG_THREAD.get()) else { return };
    let begun = queue.with_lock(|state| state.delivers.then_some(state.deliveries)).flatten();
    let mut sleep = PollSleep::new();
    while begun.is_some()
        && begun == queue.with_lock(|state| state.delivers.then_some(state.deliveries)).flatten()
    {
        sleep.until(Instant::now() + Duration::from_secs(1));
    }
}

/// Ends the thread before a fork: a child has only the forking thread, and runtimes warn of a parent with threads.
static FORK_HOOKS: ForkHooks = ForkHooks { before: wait, ..ForkHooks::NONE };

struct LogQueue {
    /// The process that it belongs to.
    generation: u64,
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<QueuedRecord>,
    dropped: u64,
    /// While not 0, no thread is started.
    pauses: u32,
    thread: Option<Thread>,
    /// Whether the thread is in its loop.
    running: bool,
    /// Whether a delivery is running, and the number of deliveries that have begun.
    delivers: bool,
    deliveries: u64,
}

struct QueuedRecord {
    level: Level,
    message: String,
    sink: Sink,
}

fn push(record: QueuedRecord) {
    QUEUE.get_or_install(LogQueue::new).push(record);
}

impl LogQueue {
    fn new() -> LogQueue {
        process::at_fork(ForkOrder::Logs, &FORK_HOOKS);
        LogQueue { generation: os::process::generation(), state: Mutex::default() }
    }

    /// Returns `None` in a forked child.
    fn with_lock<R>(&self, action: impl FnOnce(&mut QueueState) -> R) -> Option<R> {
        lock_signal_safe(&self.state, self.generation, action)
    }

    fn push(&'static self, mut record: QueuedRecord) {
        self.with_lock(|state| {
            if state.waiting.len() >= MOST_QUEUED {
                state.dropped += 1;
                return;
            }
            if state.dropped > 0 {
                let dropped = std::mem::take(&mut state.dropped);
                record.message.push_str(&format!(" ({})", dropped_note(dropped)));
            }
            state.waiting.push_back(record);
            self.deliver(state);
        });
    }

    /// Starts the thread if records are waiting.
    fn deliver(&'static self, state: &mut QueueState) {
        if state.running || state.pauses > 0 || state.waiting.is_empty() {
            return;
        }
        if let Some(ended) = state.thread.take() {
            ended.join();
        }
        // If the system gives no thread, as in a child of _Fork, the next record tries again.
        state.thread = os::spawn(c"leafid-log", os::ThreadKind::UserCode, move || self.run()).ok();
        state.running = state.thread.is_some();
    }

    /// The loop of the log thread.
    fn run(&self) {
        IS_LOG_THREAD.set(true);
        while let Some(QueuedRecord { level, message, sink }) = self.next() {
            // The panic was already reported.
            let _ = catch_unwind(AssertUnwindSafe(|| sink(level, &message)));
            if self.generation != os::process::generation() {
                // The logger has forked, and this is the child: the other records belong to its parent.
                return;
            }
        }
    }

    /// The next record. `None` ends the thread; the next record starts another thread.
    fn next(&self) -> Option<QueuedRecord> {
        let mut state = lock(&self.state);
        let next = state.waiting.pop_front();
        state.running = next.is_some();
        state.delivers = next.is_some();
        state.deliveries += u64::from(next.is_some());
        next
    }
}

fn dropped_note(dropped: u64) -> String {
    format!("{dropped} records before this one were dropped: more came than were handled")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    static LOCK: Mutex<()> = Mutex::new(());
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

    struct Locking;

    impl log::Log for Locking {
        fn enabled(&self, _: &log::Metadata<'_>) -> bool {
            true
        }

        fn log(&self, record: &log::Record<'_>) {
            let message = record.args().to_string();
            // Other tests of this process log too.
            if message.contains("from below a lock") {
                let _taken = LOCK.lock().unwrap();
                SAID.lock().unwrap().push(message);
            }
        }

        fn flush(&self) {}
    }

    #[test]
    fn a_logger_of_rusts_may_want_the_lock_that_is_held() {
        log::set_logger(&Locking).unwrap();
        log::set_max_level(LevelFilter::Warn);
        let held = LOCK.lock().unwrap();
        log_later(Level::Warn, format_args!("from below a lock"));
        log_later(Level::Info, format_args!("from below a lock, too fine"));
        assert!(SAID.lock().unwrap().is_empty());
        drop(held);
        wait(Duration::from_secs(10));
        assert_eq!(*SAID.lock().unwrap(), ["leafid: from below a lock"]);
    }
}
