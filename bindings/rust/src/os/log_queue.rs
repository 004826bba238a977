//! Log records on their way into another language.
//!
//! A user's handler may take a lock of the language's, write to a disk or ask for an id. So it is never called by the
//! thread that logs: records wait in a bounded queue for a thread of leafid's own, which is there as long as records are.
//! The queue belongs to its process: a forked child delivers nothing of its parent's.

use crate::os::mutex::{PollSleep, lock, lock_signal_safe};
use crate::os::{self, PerProcess, Thread};
pub use log::{Level, LevelFilter};
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// So many records wait; further ones are dropped and counted.
const MOST_WAITING: usize = 256;
/// How long a fork waits for the thread to end before it goes on regardless.
const FORK_WAITS: Duration = Duration::from_millis(100);

static QUEUE: PerProcess<Queue> = PerProcess::new();

thread_local! {
    /// Whether this is the thread that delivers: it cannot wait for itself.
    static DELIVERS: Cell<bool> = const { Cell::new(false) };
}

/// What delivers one record: its level and its message, without a name of leafid's in front.
pub type Sink = fn(Level, &str);

/// The logger of a binding, to be kept in a static.
pub struct Relay {
    sink: Sink,
}

impl Relay {
    /// A logger that delivers to `sink`, on a thread of leafid's own and with none of its locks held.
    pub const fn new(sink: Sink) -> Relay {
        Relay { sink }
    }

    /// Has leafid's records of this level and above delivered. Again: with another level.
    pub fn install(&'static self, level: LevelFilter) {
        // A binding has one relay: an error says that it is installed.
        let _ = log::set_logger(self);
        log::set_max_level(level);
    }
}

impl log::Log for Relay {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        // The libraries beneath leafid log for their own users.
        metadata.level() <= log::max_level() && metadata.target().starts_with("leafid")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let message = record.args().to_string();
            let message = message.strip_prefix("leafid: ").unwrap_or(&message).to_owned();
            push(Waiting { level: record.level(), message, sink: self.sink });
        }
    }

    fn flush(&self) {}
}

/// Logs where a lock is held: on the thread of the records, so that no logger can wait for that lock.
pub(crate) fn later(level: Level, message: fmt::Arguments<'_>) {
    if level <= log::max_level() {
        let sink: Sink = |level, message| log::log!(level, "leafid: {message}");
        push(Waiting { level, message: message.to_string(), sink });
    }
}

/// Waits, at most so long, until every record is delivered and the thread is gone. The thread itself does not wait.
pub fn wait(patience: Duration) {
    let Some(queue) = QUEUE.get().filter(|_| !DELIVERS.get()) else { return };
    let deadline = Instant::now() + patience;
    let mut pause = PollSleep::new();
    loop {
        match queue.with_lock(|state| (!state.running).then(|| state.thread.take())) {
            // It has left its loop: this waits for the kernel to see it gone.
            Some(Some(Some(thread))) => return thread.join(),
            Some(Some(None)) | None => return,
            Some(None) => {}
        }
        if !pause.until(deadline) {
            return;
        }
    }
}

/// Lets records wait, without a thread, until [`release`] is called as often: one that is there goes on to its end.
pub(crate) fn hold() {
    let queue = QUEUE.get_or_install(Queue::new);
    queue.with_lock(|state| state.holds += 1);
}

/// Has what waits since [`hold`] delivered. In a forked child there is nothing held.
pub(crate) fn release() {
    let Some(queue) = QUEUE.get() else { return };
    queue.with_lock(|state| {
        state.holds = state.holds.saturating_sub(1);
        queue.deliver(state);
    });
}

/// Waits until a delivery that is under way has ended, however long its handler takes; one by this thread goes on.
pub fn settle() {
    let Some(queue) = QUEUE.get().filter(|_| !DELIVERS.get()) else { return };
    let begun = queue.with_lock(|state| state.delivers.then_some(state.deliveries)).flatten();
    let mut pause = PollSleep::new();
    while begun.is_some()
        && begun == queue.with_lock(|state| state.delivers.then_some(state.deliveries)).flatten()
    {
        pause.until(Instant::now() + Duration::from_secs(1));
    }
}

/// Has the thread end before a fork: a child has only the forking thread, and a threaded parent makes runtimes warn.
pub(crate) fn before_fork() {
    wait(FORK_WAITS);
}

struct Queue {
    /// The process that it belongs to.
    generation: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    dropped: u64,
    /// While not 0, no thread is started.
    holds: u32,
    thread: Option<Thread>,
    /// Whether the thread is in its loop.
    running: bool,
    /// Whether a delivery is under way, and how many have begun.
    delivers: bool,
    deliveries: u64,
}

struct Waiting {
    level: Level,
    message: String,
    sink: Sink,
}

fn push(record: Waiting) {
    QUEUE.get_or_install(Queue::new).push(record);
}

impl Queue {
    fn new() -> Queue {
        Queue { generation: os::process::generation(), state: Mutex::default() }
    }

    /// None in a forked child.
    fn with_lock<R>(&self, deed: impl FnOnce(&mut State) -> R) -> Option<R> {
        lock_signal_safe(&self.state, self.generation, deed)
    }

    fn push(&'static self, mut record: Waiting) {
        self.with_lock(|state| {
            if state.waiting.len() >= MOST_WAITING {
                state.dropped += 1;
                return;
            }
            if state.dropped > 0 {
                let dropped = std::mem::take(&mut state.dropped);
                record.message.push_str(&format!(" ({})", too_many(dropped)));
            }
            state.waiting.push_back(record);
            self.deliver(state);
        });
    }

    /// Starts the thread if there is something for it to do.
    fn deliver(&'static self, state: &mut State) {
        if state.running || state.holds > 0 || state.waiting.is_empty() {
            return;
        }
        if let Some(ended) = state.thread.take() {
            ended.join();
        }
        // No thread to be had, as in a child of _Fork: the next record tries again.
        state.thread = os::spawn(c"leafid-log", os::ThreadKind::UserCode, move || self.run()).ok();
        state.running = state.thread.is_some();
    }

    /// The thread's life.
    fn run(&self) {
        DELIVERS.set(true);
        while let Some(Waiting { level, message, sink }) = self.next() {
            // A panic has said so itself.
            let _ = catch_unwind(AssertUnwindSafe(|| sink(level, &message)));
            if self.generation != os::process::generation() {
                // A handler has forked, and this is the child: the rest is its parent's.
                return;
            }
        }
    }

    /// The next record. None: there is none, and whoever logs from now on starts another thread.
    fn next(&self) -> Option<Waiting> {
        let mut state = lock(&self.state);
        let next = state.waiting.pop_front();
        state.running = next.is_some();
        state.delivers = next.is_some();
        state.deliveries += u64::from(next.is_some());
        next
    }
}

fn too_many(dropped: u64) -> String {
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
            // Other tests of this process log, too.
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
        later(Level::Warn, format_args!("from below a lock"));
        later(Level::Info, format_args!("from below a lock, too fine"));
        assert!(SAID.lock().unwrap().is_empty());
        drop(held);
        wait(Duration::from_secs(10));
        assert_eq!(*SAID.lock().unwrap(), ["leafid: from below a lock"]);
    }
}
