//! The queue of calls of user callbacks for which leafid's threads wait. The JavaScript thread that created the source
//! makes the calls, and returns each result by its ticket.

use crate::answers::{AnswerObject, CallObject};
use crate::wake::{self, WakeFunction, Wakes};
use leafid::Named;
use napi::bindgen_prelude::{External, Function};
use napi_derive::napi;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The calls of one environment.
pub struct Calls {
    state: Mutex<CallsState>,
    changed: Condvar,
    wake: WakeFunction,
}

#[derive(Default)]
struct CallsState {
    /// The environment has ended, or the process is about to end.
    ended: bool,
    tickets: i64,
    queue: Vec<CallObject>,
    waiting: BTreeMap<i64, Waiting>,
}

enum Waiting {
    /// The event loop has not called it yet: its time limit has not started.
    Queued,
    /// The user callback was called.
    Called(Instant),
    Answered(Box<AnswerObject>),
}

impl Calls {
    fn state(&self) -> MutexGuard<'_, CallsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a call without a result. After the environment's end it is dropped.
    pub(crate) fn post(&self, call: CallObject) {
        let mut state = self.state();
        if !state.ended {
            state.queue.push(call);
            drop(state);
            self.wake.wake();
        }
    }

    /// Queues a call and waits for its result, at most `patience` from the start of the user callback. The event loop
    /// may be busy for any time before that. Errors: why there is no result.
    pub(crate) fn ask(&self, call: CallObject, patience: Duration) -> Result<AnswerObject, String> {
        let mut state = self.state();
        if state.ended {
            return Err("the event loop has ended".into());
        }
        state.tickets += 1;
        let ticket = state.tickets;
        state.waiting.insert(ticket, Waiting::Queued);
        state.queue.push(CallObject { ticket, ..call });
        drop(state);
        self.wake.wake();
        let mut state = self.state();
        loop {
            let left = match state.waiting.get(&ticket) {
                Some(Waiting::Queued) => None,
                Some(Waiting::Called(at)) => Some(patience.saturating_sub(at.elapsed())),
                Some(Waiting::Answered(_)) | None => break,
            };
            state = match left {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => break,
                Some(left) => {
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        match state.waiting.remove(&ticket) {
            Some(Waiting::Answered(answer)) => Ok(*answer),
            Some(_) => {
                let (option, ms) = (Named("timeout_ms"), patience.as_millis());
                Err(format!("no answer within {option} ({ms}); see what it waits for"))
            }
            None => Err("the generator was closed, or the event loop has ended".into()),
        }
    }

    /// Whether a thread waits for a call of this use that the event loop has not called yet.
    pub(crate) fn has_queued(&self, used_by: i64) -> bool {
        self.state().queue.iter().any(|call| call.used_by == used_by && call.ticket != 0)
    }

    /// Drops the calls of this use that the event loop has not called yet, because the generator is closed.
    pub(crate) fn forget(&self, used_by: i64) {
        let mut state = self.state();
        let CallsState { queue, waiting, .. } = &mut *state;
        queue.retain(|call| {
            let keep = call.used_by != used_by || call.ticket == 0;
            if !keep {
                waiting.remove(&call.ticket);
            }
            keep
        });
        self.changed.notify_all();
    }
}

impl Wakes for Calls {
    fn wake(&self) -> &WakeFunction {
        &self.wake
    }

    fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        state.queue.clear();
        state.waiting.clear();
        self.changed.notify_all();
    }
}

/// Calls `run`, without arguments, on this thread's event loop when there are calls to take.
#[napi(catch_unwind)]
pub fn listen_calls(run: Function<'_, (), ()>) -> napi::Result<External<Arc<Calls>>> {
    let calls =
        Arc::new(Calls { state: Mutex::default(), changed: Condvar::new(), wake: WakeFunction::default() });
    wake::connect(&calls, &run)?;
    Ok(External::new(calls))
}

/// The queued calls, in order; `unasked`: only those without a result.
#[napi(catch_unwind)]
pub fn take_calls(calls: &External<Arc<Calls>>, unasked: bool) -> Vec<CallObject> {
    let mut state = calls.state();
    let CallsState { queue, waiting, .. } = &mut *state;
    let taken: Vec<CallObject> = queue.extract_if(.., |call| !unasked || call.ticket == 0).collect();
    for call in &taken {
        if let Some(waiting) = waiting.get_mut(&call.ticket) {
            *waiting = Waiting::Called(Instant::now());
        }
    }
    calls.changed.notify_all();
    taken
}

/// Returns the result of a call. `false`: no thread waits for it any more.
#[napi(catch_unwind)]
pub fn answer_call(calls: &External<Arc<Calls>>, ticket: i64, answer: AnswerObject) -> bool {
    let mut state = calls.state();
    let Some(waiting) = state.waiting.get_mut(&ticket) else { return false };
    *waiting = Waiting::Answered(Box::new(answer));
    calls.changed.notify_all();
    true
}

/// Fails every call, also later ones, because the process is about to end.
#[napi(catch_unwind)]
pub fn end_calls(calls: &External<Arc<Calls>>) {
    calls.end();
}
