//! Threads for what may wait for a server or a disk, and must not hold the JavaScript thread up.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// The most threads of one kind. A program may begin any number of openings at once; each of them ends by its own time-outs.
const MOST: usize = 32;

type Work = Box<dyn FnOnce() + Send>;

/// The threads of one kind, and the work that waits for one of them, in order.
pub(crate) struct Threads {
    name: &'static str,
    state: Mutex<State>,
}

struct State {
    running: usize,
    waiting: VecDeque<Work>,
}

impl Threads {
    pub(crate) const fn new(name: &'static str) -> Threads {
        Threads { name, state: Mutex::new(State { running: 0, waiting: VecDeque::new() }) }
    }

    fn with_state<R>(&self, action: impl FnOnce(&mut State) -> R) -> R {
        action(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs the work on a thread. Errors: the system gives none; the work is dropped.
    pub(crate) fn run(&'static self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut next: Option<Work> = Some(Box::new(work));
        self.with_state(|state| match state.running {
            MOST => state.waiting.extend(next.take()),
            _ => state.running += 1,
        });
        if next.is_none() {
            return Ok(());
        }
        let run = move || {
            while let Some(work) = next.take() {
                // What panicked is gone: the next one has the thread.
                let _ = catch_unwind(AssertUnwindSafe(work));
                next = self.with_state(|state| {
                    let waiting = state.waiting.pop_front();
                    state.running -= usize::from(waiting.is_none());
                    waiting
                });
            }
        };
        let begun = std::thread::Builder::new().name(self.name.into()).spawn(run);
        begun.map(drop).inspect_err(|_| self.with_state(|state| state.running -= 1))
    }
}
