//! The queue of events from leafid's threads for the segments and openings of one environment. Its JavaScript thread
//! takes them.
//!
//! No thread waits for a queued event. A fetch without a result keeps its entry until the environment ends.

use crate::error::code;
use crate::wake::{self, WakeFunction, Wakes};
use leafid::{Answer, Code, Completion, Error, FetchRequest, Fetched, Segment, Segments};
use napi::bindgen_prelude::{BigInt, External, Function};
use napi_derive::napi;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The events of one environment.
pub struct Events {
    state: Mutex<EventsState>,
    wake: WakeFunction,
}

#[derive(Default)]
struct EventsState {
    /// The environment has ended.
    ended: bool,
    /// The event loop was woken and has taken no event since.
    woken: bool,
    tickets: i64,
    queue: EventsObject,
    completions: BTreeMap<i64, Completion>,
    opened: BTreeMap<i64, leafid::Result<Segments>>,
    done: BTreeMap<i64, leafid::Result<()>>,
}

/// The events to handle.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct EventsObject {
    /// The numbers of tags whose waiting calls must be checked.
    pub woken: Vec<i64>,
    /// Fetches for the user callback.
    pub fetches: Vec<FetchObject>,
    /// The tickets of openings, and of actions of a snowflake, that have ended.
    pub ended: Vec<i64>,
    /// The numbers of segments that will request no more fetches.
    pub gone: Vec<i64>,
}

/// A fetch for the user callback.
#[napi(object, object_from_js = false)]
pub struct FetchObject {
    /// The number of its segments.
    pub owner: i64,
    /// The ticket of the result.
    pub ticket: i64,
    /// The tag whose ids are requested.
    pub tag: String,
    /// The number of ids.
    pub step: i64,
    /// Every id below was given before.
    pub after: BigInt,
}

/// The result of the user callback; no field is set for an unknown tag.
#[napi(object, object_to_js = false)]
pub struct FetchAnswer {
    /// The text of a failure.
    pub failed: Option<String>,
    /// For a failure: the name of its code, if there is one.
    pub code: Option<String>,
    /// The first id.
    pub start: Option<BigInt>,
    /// The end, exclusive.
    pub end: Option<BigInt>,
    /// The distance between two ids.
    pub stride: Option<BigInt>,
}

impl Events {
    fn state(&self) -> MutexGuard<'_, EventsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an event. `false`: the environment has ended.
    fn post(&self, action: impl FnOnce(&mut EventsState)) -> bool {
        let mut state = self.state();
        if state.ended {
            return false;
        }
        action(&mut state);
        let silent = std::mem::replace(&mut state.woken, true);
        drop(state);
        if !silent {
            self.wake.wake();
        }
        true
    }

    /// Requests a check of a tag's waiting calls.
    pub(crate) fn wake(&self, tag: i64) {
        self.post(|state| state.queue.woken.push(tag));
    }

    /// Queues a fetch for the user callback.
    pub(crate) fn ask(&self, owner: i64, request: FetchRequest, completion: Completion) {
        let mut completion = Some(completion);
        self.post(|state| {
            state.tickets += 1;
            let ticket = state.tickets;
            state.completions.extend(completion.take().map(|completion| (ticket, completion)));
            let FetchRequest { tag, step, after, .. } = request;
            state.queue.fetches.push(FetchObject { owner, ticket, tag, step, after: after.into() });
        });
        if let Some(completion) = completion {
            completion.answer(Err("the event loop that its code runs on has ended".into()));
        }
    }

    /// These segments will request no more fetches.
    pub(crate) fn gone(&self, owner: i64) {
        self.post(|state| state.queue.gone.push(owner));
    }

    /// A new ticket.
    pub(crate) fn ticket(&self) -> i64 {
        let mut state = self.state();
        state.tickets += 1;
        state.tickets
    }

    /// An opening has ended.
    pub(crate) fn opened(&self, ticket: i64, segments: leafid::Result<Segments>) {
        self.post(|state| {
            state.opened.insert(ticket, segments);
            state.queue.ended.push(ticket);
        });
    }

    /// An action of a snowflake has ended.
    pub(crate) fn done(&self, ticket: i64, outcome: leafid::Result<()>) {
        self.post(|state| {
            state.done.insert(ticket, outcome);
            state.queue.ended.push(ticket);
        });
    }

    /// The result of an action.
    pub(crate) fn take_done(&self, ticket: i64) -> leafid::Result<()> {
        let done = self.state().done.remove(&ticket);
        done.unwrap_or_else(|| Err(Error::new(Code::Internal, "no such action; report this")))
    }

    /// The result of an opening.
    pub(crate) fn take_opened(&self, ticket: i64) -> leafid::Result<Segments> {
        let opened = self.state().opened.remove(&ticket);
        opened.unwrap_or_else(|| Err(Error::new(Code::Internal, "no such opening; report this")))
    }
}

impl Wakes for Events {
    fn wake(&self) -> &WakeFunction {
        &self.wake
    }

    fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        let left = std::mem::replace(&mut *state, EventsState { ended: true, ..EventsState::default() });
        drop(state);
        // Without a lock: a dropped completion fails its fetch.
        drop(left);
    }
}

/// Calls `run`, without arguments, on this thread's event loop when there are events to take.
#[napi(catch_unwind)]
pub fn listen_events(run: Function<'_, (), ()>) -> napi::Result<External<Arc<Events>>> {
    let events = Arc::new(Events { state: Mutex::default(), wake: WakeFunction::default() });
    wake::connect(&events, &run)?;
    Ok(External::new(events))
}

/// The events so far.
#[napi(catch_unwind)]
pub fn take_events(events: &External<Arc<Events>>) -> EventsObject {
    let mut state = events.state();
    state.woken = false;
    std::mem::take(&mut state.queue)
}

/// Completes a fetch. A result that no fetch waits for is dropped.
#[napi(catch_unwind)]
pub fn answer_fetch(events: &External<Arc<Events>>, ticket: i64, answer: FetchAnswer) {
    let completion = events.state().completions.remove(&ticket);
    if let Some(completion) = completion {
        completion.answer(answer.read());
    }
}

impl FetchAnswer {
    fn read(self) -> Answer<Option<Fetched>> {
        if let Some(text) = self.failed {
            return Err(match self.code.as_deref().and_then(code) {
                Some(code) => Box::new(Error::new(code, text)),
                None => text.into(),
            });
        }
        let (Some(start), Some(end)) = (self.start, self.end) else { return Ok(None) };
        let stride = self.stride.map_or(1, |stride| whole(&stride));
        Ok(Some(Segment::new(whole(&start), whole(&end), stride)?.into()))
    }
}

/// JavaScript passes only values that fit.
pub(crate) fn whole(value: &BigInt) -> i64 {
    value.get_i64().0
}
