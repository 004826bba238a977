//! The wait of one caller for one id, or for one step of a batch. It belongs to the caller, and needs no lock.
//!
//! Construct: [`Waiting::new`], or [`Waiting::for_ready`]. Events: [`Waiting::step`] (what the generator returned instead
//! of an id), [`Waiting::answered`] (what the run of the worker id answered to a wish for a span),
//! [`Waiting::progressed`]. Each returns the next action, a [`Pause`]. Query: [`Waiting::check_batch`].
//!
//! The first rule that fits decides. The deadline is `timeout` after the first event.
//!
//! | Event | `Pause` |
//! | --- | --- |
//! | any action but `Sealed`, before `begins_ms` | `Until` that time; after the deadline `clock_backwards` |
//! | `WaitUntil` a time that has passed | `Again` |
//! | `WaitUntil` a time further away than `longest` | `would_block` |
//! | `WaitUntil` a time after the deadline | `clock_backwards` if that is more than a tick, else `would_block` |
//! | `WaitUntil` | `Until` that time |
//! | `NeedSpan`, or `Sealed`, after which another generator may come | `Want` |
//! | the first `ClockBackwards` | `Again`: the thread may have slept since it read the clock |
//! | another refusal | its error |
//! | answer `Look` | `Again` |
//! | answer `NoRoom` | as `WaitUntil` a tick later |
//! | answer `Failed` | its error |
//! | answer `Pending`, at the deadline | `worker_lost` if a lease is waited for, else `state_io` |
//! | answer `Pending` on the event loop of a thread that may wait for `longest` at most | `would_block` |
//! | answer `Pending` | `Sleep` until the deadline |
//!
//! An error `worker_lost` or `state_io` that comes more than a second after the deadline is `Again` the first time, with
//! a new deadline: this process did not run in between, and neither did what the caller waited for.

use crate::spelling::name::{NO_RECORD_WAIT_MS, TIMEOUT_MS};
use crate::{Action, Code, Error, OnExhausted, Result, Snowflake, Utc};
use alloc::format;
use alloc::string::String;
use core::time::Duration;

/// An error that comes this long after the deadline comes from a time in which this process was stopped.
const STOPPED: Duration = Duration::from_secs(1);
/// How long an opening and a `ready` on an event loop wait for the end of a wait without a record.
const LONGEST_BEGIN: Duration = Duration::from_secs(4);

/// The wait of one caller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Waiting {
    timeout: Duration,
    longest: Option<Duration>,
    /// How long it waits for the end of a wait without a record, if that is longer than the timeout.
    begins_within: Duration,
    /// The boot time; `None` before the first wait.
    deadline: Option<Duration>,
    was_behind: bool,
    was_stopped: bool,
}

/// The next action of a caller that got no id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pause {
    /// Read the clock, and call the generator again.
    Again,
    /// Wait until the clock reads this, Unix milliseconds. Then call the generator again. The clock may be set
    /// meanwhile: read it again from time to time.
    Until(i64),
    /// Tell the run of the worker id that a span is wanted, and pass its answer to [`Waiting::answered`].
    Want,
    /// Wait until the answer has changed, for this long at most. Then pass it to [`Waiting::answered`].
    Sleep(Duration),
    /// The call ends with this error.
    Failed(Error),
}

/// What the run of a worker id answers to a caller that wants a span.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is not decided yet.
    Pending(Delay),
    /// There is a span, or another generator: look.
    Look,
    /// The clock is so far behind that no span may be written now.
    NoRoom,
    /// There is no span, because of this error.
    Failed(Error),
}

/// Why a span is not there yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Delay {
    /// What the caller waits for.
    pub by: DelayedBy,
    /// The last error of a claim or of a renewal, for messages.
    pub before: Option<Error>,
}

/// What a caller waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DelayedBy {
    /// A write that needs no event loop.
    Disk,
    /// A write that ends on the event loop of the caller's thread.
    DiskOfLoop,
    /// A lease server.
    Servers,
    /// The user's source of worker ids.
    Callback,
}

impl DelayedBy {
    /// Whether a lease is renewed, or another one claimed.
    const fn is_source(self) -> bool {
        matches!(self, DelayedBy::Servers | DelayedBy::Callback)
    }
}

impl Waiting {
    /// A call that waits for `timeout` at most. `longest`: the thread has an event loop, waits for the clock for this
    /// long at most, and never for what needs the loop.
    pub const fn new(timeout: Duration, longest: Option<Duration>) -> Waiting {
        Waiting {
            timeout,
            longest,
            begins_within: Duration::ZERO,
            deadline: None,
            was_behind: false,
            was_stopped: false,
        }
    }

    /// A wait on an event loop until the next call finds an id: the actions are those of [`Waiting::ready`].
    pub const fn for_ready(timeout: Duration) -> Waiting {
        Waiting { begins_within: LONGEST_BEGIN, ..Waiting::new(timeout, None) }
    }

    /// The generator returned `action` at `now_ms`, the filtered time of the clock. `boot` is the time since the
    /// machine started, `begins_ms` the end of a wait without a record.
    pub fn step(
        &mut self,
        flake: &Snowflake,
        begins_ms: Option<i64>,
        action: Action,
        now_ms: i64,
        boot: Duration,
    ) -> Pause {
        let allowed = self.deadline(boot).saturating_sub(boot);
        let begins_ms = begins_ms.filter(|&ms| now_ms < ms && action != Action::Sealed);
        let pause = match (begins_ms, action) {
            (Some(ms), _) => self.until_begin(flake, ms, now_ms, allowed),
            (_, Action::WaitUntil(ms)) => self.until(flake, ms, now_ms, allowed),
            // Sealed, but the handle is open: its lease was lost.
            (_, Action::NeedSpan | Action::Sealed) => Ok(Pause::Want),
            // The thread may have slept since it read the clock.
            (_, Action::ClockBackwards { .. }) if !self.was_behind => {
                self.was_behind = true;
                Ok(Pause::Again)
            }
            (_, refused) => Err(flake.error(refused)),
        };
        self.ends(pause, boot)
    }

    /// The run of the worker id answered this to the wish for a span. Clocks: as for [`Waiting::step`].
    pub fn answered(&mut self, flake: &Snowflake, answer: Answer, now_ms: i64, boot: Duration) -> Pause {
        let allowed = self.deadline(boot).saturating_sub(boot);
        let pause = match answer {
            Answer::Look => Ok(Pause::Again),
            Answer::NoRoom => {
                self.until(flake, now_ms.saturating_add(flake.layout().tick_ms()), now_ms, allowed)
            }
            Answer::Failed(error) => Err(error),
            Answer::Pending(delay) if allowed.is_zero() => Err(self.late(flake.worker_id(), &delay)),
            Answer::Pending(delay) => {
                match self.longest.and_then(|_| needs_loop(flake.worker_id(), &delay)) {
                    Some(error) => Err(error),
                    None => Ok(Pause::Sleep(allowed)),
                }
            }
        };
        self.ends(pause, boot)
    }

    /// The step of a batch got ids: the next step has all of the time.
    pub fn progressed(&mut self) {
        (self.deadline, self.was_behind, self.was_stopped) = (None, false, false);
    }

    /// What a caller has to wait for before a call finds an id; `None` if it finds one now, and in the next tick too.
    pub fn ready(
        &mut self,
        flake: &Snowflake,
        begins_ms: Option<i64>,
        now_ms: i64,
        boot: Duration,
    ) -> Option<Pause> {
        let ends = |now: u64| flake.until() <= now + 1;
        let action = match flake.lacks(now_ms) {
            Some(action) => action,
            None if flake.layout().tick_at(now_ms).is_some_and(ends) => Action::NeedSpan,
            None if begins_ms.is_some_and(|ms| now_ms < ms) => Action::NeedSpan,
            None => return None,
        };
        Some(self.step(flake, begins_ms, action, now_ms, boot))
    }

    /// Whether an opening on an event loop waits for the end of a wait without a record.
    pub fn begins_soon(begins_ms: Option<i64>, now_ms: i64) -> bool {
        let left = begins_ms.map_or(Duration::ZERO, |ms| milliseconds(ms.saturating_sub(now_ms)));
        !left.is_zero() && left <= LONGEST_BEGIN
    }

    /// Where a tick is longer than the thread may wait, a batch of `n` ids must fit into one tick. Otherwise nothing of
    /// it may be reserved. Errors: `invalid_argument` if it never fits, `would_block` if it does not fit now.
    pub fn check_batch(&self, flake: &Snowflake, n: usize, now_ms: i64) -> Result<()> {
        let Some(longest) = self.longest else { return Ok(()) };
        let tick = milliseconds(flake.layout().tick_ms());
        if tick <= longest || flake.rules().on_exhausted == OnExhausted::Borrow {
            return Ok(());
        }
        // The rest of a tick after the largest random start.
        let size = flake.layout().max_sequence() as usize + 1;
        let always = size - size / 8;
        if n > always {
            let (tick, unit) = match flake.layout().tick_ms() {
                ms if ms % 1_000 == 0 => (ms / 1_000, "s"),
                ms => (ms, "ms"),
            };
            let allowed =
                format!("1 to {always} on this thread, which may not wait for the next tick of {tick}{unit}");
            return Err(Error::invalid("n", n, &allowed));
        }
        if n > flake.left_in_tick(now_ms) { self.check_longest(tick) } else { Ok(()) }
    }

    /// The error of a caller that was interrupted while it waited.
    pub fn interrupted() -> Error {
        Error::new(Code::WouldBlock, "interrupted while waiting; call again")
    }

    fn deadline(&mut self, boot: Duration) -> Duration {
        *self.deadline.get_or_insert_with(|| boot.saturating_add(self.timeout))
    }

    fn ends(&mut self, pause: Result<Pause>, boot: Duration) -> Pause {
        let error = match pause {
            Ok(pause) => return pause,
            Err(error) => error,
        };
        let is_of_wait = matches!(error.code(), Code::WorkerLost | Code::StateIo);
        let stopped = self.deadline.is_some_and(|deadline| boot > deadline.saturating_add(STOPPED));
        if is_of_wait && stopped && !self.was_stopped {
            (self.was_stopped, self.deadline) = (true, None);
            return Pause::Again;
        }
        Pause::Failed(error)
    }

    /// As `until`, for a generator that found no record.
    fn until_begin(&mut self, flake: &Snowflake, ms: i64, now_ms: i64, allowed: Duration) -> Result<Pause> {
        let left_ms = ms.saturating_sub(now_ms);
        let left = milliseconds(left_ms);
        if left > allowed.max(self.begins_within) {
            let message = format!(
                "no record of worker id {} was found, so nothing is issued before {} ({NO_RECORD_WAIT_MS}): call again in \
                 {left_ms} ms, or raise {TIMEOUT_MS} ({})",
                flake.worker_id(),
                Utc(ms),
                self.timeout.as_millis() as u64
            );
            return Err(Error::new(Code::ClockBackwards, message));
        }
        if left <= self.begins_within {
            // The time for the span begins after it.
            self.deadline = None;
            return Ok(Pause::Until(ms));
        }
        self.until(flake, ms, now_ms, allowed)
    }

    fn until(&self, flake: &Snowflake, ms: i64, now_ms: i64, allowed: Duration) -> Result<Pause> {
        let left_ms = ms.saturating_sub(now_ms);
        let left = milliseconds(left_ms);
        // A time that has passed needs no wait.
        if left.is_zero() {
            return Ok(Pause::Again);
        }
        self.check_longest(left)?;
        if left <= allowed {
            return Ok(Pause::Until(ms));
        }
        // Further away than the next tick: the clock is behind, and the tick is not used up.
        let (code, why) = match left_ms > flake.layout().tick_ms() {
            true => (Code::ClockBackwards, "the clock is behind the ids issued"),
            false => (Code::WouldBlock, "the ids of this tick are used up"),
        };
        let timeout = self.timeout.as_millis() as u64;
        let message = format!(
            "{why}: the next id is available in {left_ms} ms, longer than {TIMEOUT_MS} ({timeout}) allows; call again then, \
             or raise {TIMEOUT_MS}"
        );
        Err(Error::new(code, message))
    }

    /// Errors: `would_block` if the thread may not wait this long.
    fn check_longest(&self, left: Duration) -> Result<()> {
        if self.longest.is_none_or(|longest| left <= longest) {
            return Ok(());
        }
        let ms = left.as_millis() as u64;
        let message =
            format!("the next id is available in {ms} ms, longer than this thread may wait; call again then");
        Err(Error::new(Code::WouldBlock, message))
    }

    /// The error of a call whose time is over.
    fn late(&self, worker_id: u32, delay: &Delay) -> Error {
        let (timeout_ms, before) = (self.timeout.as_millis() as u64, delay.shown());
        if delay.by.is_source() {
            let message = format!(
                "within {TIMEOUT_MS} ({timeout_ms}) the lease of worker id {worker_id} was not renewed, nor another one \
                 claimed{before}; leafid goes on with that: call again"
            );
            return Error::new(Code::WorkerLost, message);
        }
        let message = format!(
            "the next span of worker id {worker_id} was not durable in time; the disk is slow: see the state directory, or \
             raise {TIMEOUT_MS}{before}"
        );
        Error::new(Code::StateIo, message)
    }
}

impl Delay {
    fn shown(&self) -> String {
        self.before.as_ref().map(|error| format!(" (before: {error})")).unwrap_or_default()
    }
}

/// The error of a thread that must return to its event loop before the span can come; `None` if it need not.
fn needs_loop(worker_id: u32, delay: &Delay) -> Option<Error> {
    let by = match delay.by {
        DelayedBy::Disk => return None,
        DelayedBy::DiskOfLoop => {
            let message = format!(
                "the next span of worker id {worker_id} is being written; await ready(), or return to the event loop, \
                 and call again"
            );
            return Some(Error::new(Code::WouldBlock, message));
        }
        DelayedBy::Servers => "and its server has not answered yet",
        DelayedBy::Callback => "by code that runs on this thread's event loop",
    };
    let message = format!(
        "the lease of worker id {worker_id} is being renewed, or another one claimed, {by}{}; return to the event loop and \
         call again",
        delay.shown()
    );
    Some(Error::new(Code::WouldBlock, message))
}

/// No time if it is negative.
fn milliseconds(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}
