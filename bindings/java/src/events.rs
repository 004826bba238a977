//! What threads of leafid have for Java, in order: a thread of Java takes it. No thread waits for a queued event but one
//! that needs the answer of a user's object, and that of the log, for its next line.

use crate::call::{Texts, code_of, natives, new_texts, texts};
use jni::objects::JString;
use jni::sys::jlong;
use leafid::log_queue::{Level, LevelFilter, QueuedLogger};
use leafid::{Answer, Completion, Error, Fetched, Segment};
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

/// The texts of an event, the first of which names its kind: `log` (a line is there to take), `wake`, `gone`; or a call of
/// a user's object: `claim`, `renew`, `release`, `worker`, `times`, `fetch`.
type Event = Vec<Option<String>>;

/// What a user's object returned, as its kind says; `None` for null.
pub(crate) type Values = Option<Vec<Option<String>>>;

/// Who waits for an answer.
enum Waiter {
    Call(Sender<Answer<Values>>),
    Fetch(Completion),
}

#[derive(Default)]
struct State {
    queue: VecDeque<Event>,
    tickets: i64,
    waiters: BTreeMap<i64, Waiter>,
}

static STATE: Mutex<State> =
    Mutex::new(State { queue: VecDeque::new(), tickets: 0, waiters: BTreeMap::new() });
static CAME: Condvar = Condvar::new();
/// The next line of the log. Those after it wait in the host's queue, which has an end.
static LINE: LazyLock<(SyncSender<Event>, Mutex<Receiver<Event>>)> = LazyLock::new(|| {
    let (sender, receiver) = sync_channel(1);
    (sender, Mutex::new(receiver))
});
static LOGGER: QueuedLogger = QueuedLogger::new(deliver);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn post(event: Event) {
    state().queue.push_back(event);
    CAME.notify_one();
}

fn deliver(level: Level, message: &str) {
    post(vec![Some("log".into())]);
    // Waits until Java has taken the one before. It cannot fail: both ends are kept.
    let _ = LINE.0.send(vec![Some(level.as_str().to_ascii_lowercase()), Some(message.into())]);
}

/// A call of Java looks again whether it has its ids.
pub(crate) fn wake(number: i64) {
    post(vec![Some("wake".into()), Some(number.to_string())]);
}

/// No call of the user's object of this number follows.
pub(crate) fn gone(object: i64) {
    post(vec![Some("gone".into()), Some(object.to_string())]);
}

/// Asks the user's object of this number, and waits for what it returns, however long: the host gives up a call that takes
/// too long, and gives back what it brings later.
pub(crate) fn ask(kind: &str, object: i64, words: Event) -> Answer<Values> {
    let (sender, receiver) = channel();
    queue(kind, object, words, Waiter::Call(sender));
    receiver
        .recv()
        .unwrap_or_else(|_| Err("the JVM lost its call, perhaps for want of memory; see the log".into()))
}

/// Asks the user's object of this number for a segment.
pub(crate) fn fetch(object: i64, words: Event, completion: Completion) {
    queue("fetch", object, words, Waiter::Fetch(completion));
}

fn queue(kind: &str, object: i64, words: Event, waiter: Waiter) {
    let mut state = state();
    state.tickets += 1;
    let ticket = state.tickets;
    state.waiters.insert(ticket, waiter);
    let mut event = vec![Some(kind.into()), Some(ticket.to_string()), Some(object.to_string())];
    event.extend(words);
    state.queue.push_back(event);
    drop(state);
    CAME.notify_one();
}

/// Who waits for the answer to this call, and does so no longer.
fn take_waiter(ticket: i64) -> Option<Waiter> {
    state().waiters.remove(&ticket)
}

/// The ticket of a call of a user's object.
fn ticket_of(event: &Event) -> Option<i64> {
    let [_, Some(ticket), Some(_), ..] = &event[..] else { return None };
    ticket.parse().ok()
}

natives! { "io.leafid.Native";
    /// Has leafid log to Java.
    "listen"(_env) {
        leafid::Spelling::Camel.set();
        LOGGER.install(LevelFilter::Debug);
        Ok(())
    }

    /// The next event, after a wait for it.
    "takeEvent"(env) -> Texts<'l> {
        let mut state = state();
        let event = loop {
            match state.queue.pop_front() {
                Some(event) => break event,
                None => state = CAME.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(state);
        let texts = new_texts(env, &event);
        if texts.is_err() {
            // Java does not hear of the call: its waiter learns that.
            drop(ticket_of(&event).and_then(take_waiter));
        }
        Ok(texts?)
    }

    /// The level and text of the next line of the log, after a wait for it.
    "takeLine"(env) -> Texts<'l> {
        let line = LINE.1.lock().unwrap_or_else(PoisonError::into_inner).recv();
        Ok(new_texts(env, &line.unwrap_or_default())?)
    }

    /// What a user's object returned, or the text of its failure, with a code if it is an error of leafid. One that
    /// nothing waits for is dropped.
    "answer"(env, ticket: jlong, values: Texts<'l>, failed: JString<'l>, code: JString<'l>) {
        // Taken first: a failure below drops it, and ends its wait.
        let waiter = take_waiter(ticket);
        let given = if values.is_null() { None } else { Some(texts(env, &values)?) };
        let failed = (!failed.is_null()).then(|| failed.try_to_string(env)).transpose()?;
        let code = (!code.is_null()).then(|| code.try_to_string(env)).transpose()?;
        let answer: Answer<Values> = match failed {
            None => Ok(given),
            Some(text) => {
                Err(match code.as_deref().and_then(code_of) {
                    Some(code) => Box::new(Error::new(code, text)),
                    None => text.into(),
                })
            }
        };
        match waiter {
            // The receiver waits.
            Some(Waiter::Call(sender)) => _ = sender.send(answer),
            Some(Waiter::Fetch(completion)) => completion.answer(answer.and_then(segment)),
            None => {}
        }
        Ok(())
    }
}

/// Three numbers, or none for an unknown tag.
fn segment(values: Values) -> Answer<Option<Fetched>> {
    let Some(values) = values else { return Ok(None) };
    let [start, end, stride] = numbers(&values)?[..] else {
        return Err("a segment has three numbers".into());
    };
    Ok(Some(Segment::new(start, end, stride)?.into()))
}

/// Numbers, of which none is null.
pub(crate) fn numbers(values: &[Option<String>]) -> Answer<Vec<i64>> {
    values.iter().map(|value| Ok(value.as_deref().unwrap_or_default().parse()?)).collect()
}
