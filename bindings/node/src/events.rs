//! What leafid's threads have to tell the segments and the openings of one environment: queued here, taken by its
//! JavaScript thread.
//!
//! Nobody waits for what is queued; a fetch whose answer never comes has its place here until the environment ends.

use crate::error::code;
use crate::wake::{self, WakeFunction, Wakes};
use leafid::{Answer, Code, Error, FetchRequest, Fetched, Reply, Segment, Segments};
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
    /// The event loop was woken and has taken nothing since.
    rung: bool,
    tickets: i64,
    queue: EventsObject,
    replies: BTreeMap<i64, Reply>,
    opened: BTreeMap<i64, leafid::Result<Segments>>,
    done: BTreeMap<i64, leafid::Result<()>>,
}

/// What there is to do.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct EventsObject {
    /// The numbers of tags whose waiting calls are to be looked at.
    pub woken: Vec<i64>,
    /// Fetches for the user's code.
    pub fetches: Vec<FetchObject>,
    /// The tickets of openings, and of deeds of a snowflake, that have ended.
    pub ended: Vec<i64>,
    /// The numbers of segments whose source is asked no more.
    pub gone: Vec<i64>,
}

/// A fetch for the user's code.
#[napi(object, object_from_js = false)]
pub struct FetchObject {
    /// Which segments it is for.
    pub owner: i64,
    /// What the answer is given with.
    pub ticket: i64,
    /// Whose ids.
    pub tag: String,
    /// How many.
    pub step: i64,
    /// Every id below was given before.
    pub after: BigInt,
}

/// What the user's code answered: nothing for a tag that it does not know.
#[napi(object, object_to_js = false)]
pub struct FetchAnswer {
    /// That it failed, with these words.
    pub failed: Option<String>,
    /// Of a failure: the code's name, where there is one.
    pub code: Option<String>,
    /// The first id.
    pub start: Option<BigInt>,
    /// The end, exclusive.
    pub end: Option<BigInt>,
    /// From one id to the next.
    pub stride: Option<BigInt>,
}

impl Events {
    fn state(&self) -> MutexGuard<'_, EventsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues something. `false`: the environment has ended.
    fn post(&self, deed: impl FnOnce(&mut EventsState)) -> bool {
        let mut state = self.state();
        if state.ended {
            return false;
        }
        deed(&mut state);
        let silent = std::mem::replace(&mut state.rung, true);
        drop(state);
        if !silent {
            self.wake.wake();
        }
        true
    }

    /// Has the waiting calls of a tag looked at.
    pub(crate) fn wake(&self, tag: i64) {
        self.post(|state| state.queue.woken.push(tag));
    }

    /// Has the user's code asked.
    pub(crate) fn ask(&self, owner: i64, request: FetchRequest, reply: Reply) {
        let mut reply = Some(reply);
        self.post(|state| {
            state.tickets += 1;
            let ticket = state.tickets;
            state.replies.extend(reply.take().map(|reply| (ticket, reply)));
            let FetchRequest { tag, step, after, .. } = request;
            state.queue.fetches.push(FetchObject { owner, ticket, tag, step, after: after.into() });
        });
        if let Some(reply) = reply {
            reply.answer(Err("the event loop that its code runs on has ended".into()));
        }
    }

    /// The source of these segments is asked no more.
    pub(crate) fn gone(&self, owner: i64) {
        self.post(|state| state.queue.gone.push(owner));
    }

    /// The number of something to come.
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

    /// A deed of a snowflake has ended.
    pub(crate) fn done(&self, ticket: i64, outcome: leafid::Result<()>) {
        self.post(|state| {
            state.done.insert(ticket, outcome);
            state.queue.ended.push(ticket);
        });
    }

    /// How it ended.
    pub(crate) fn take_done(&self, ticket: i64) -> leafid::Result<()> {
        let done = self.state().done.remove(&ticket);
        done.unwrap_or_else(|| Err(Error::new(Code::Internal, "no such deed; report this")))
    }

    /// What an opening brought.
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
        // With no lock held: a reply that is dropped is an answer.
        drop(left);
    }
}

/// Has `run` called, with nothing, on this thread's event loop whenever there are events to take.
#[napi(catch_unwind)]
pub fn hear(run: Function<'_, (), ()>) -> napi::Result<External<Arc<Events>>> {
    let events = Arc::new(Events { state: Mutex::default(), wake: WakeFunction::default() });
    wake::connect(&events, &run)?;
    Ok(External::new(events))
}

/// The events so far.
#[napi(catch_unwind)]
pub fn take_events(events: &External<Arc<Events>>) -> EventsObject {
    let mut state = events.state();
    state.rung = false;
    std::mem::take(&mut state.queue)
}

/// Answers a fetch; one that nobody waits for is let go.
#[napi(catch_unwind)]
pub fn answer_fetch(events: &External<Arc<Events>>, ticket: i64, answer: FetchAnswer) {
    let reply = events.state().replies.remove(&ticket);
    if let Some(reply) = reply {
        reply.answer(answer.read());
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

/// JavaScript passes none that does not fit.
pub(crate) fn whole(value: &BigInt) -> i64 {
    value.get_i64().0
}
