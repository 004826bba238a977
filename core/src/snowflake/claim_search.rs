//! The search for a free worker id: which id is tried next, how long a claim waits, and which error it ends with.
//!
//! Construct: [`ClaimSearch::new`], [`ClaimSearch::one`]. Events: [`ClaimSearch::peeked`], [`ClaimSearch::refused`].
//! Poll: [`ClaimSearch::poll`]. Queries: all others. A claim that succeeds ends the machine.
//!
//! | State | Event | Next state | Poll returns |
//! | --- | --- | --- | --- |
//! | between two searches | poll | searching; it is the last search if the patience is over | the first id |
//! | searching | poll | searching | of a range `Peek` at every id, then `Claim` one after the other |
//! | peeking | the clock has passed the record | searching: the id is claimed before the others | the next id |
//! | peeking | the record is ahead of the clock | searching: the id comes after the others, in the order of these times | the next id |
//! | searching | refused: the id is held, or of several ids this one cannot be used | searching: the id is skipped | `Warn`, then the next id |
//! | searching | refused for a reason that holds for all ids | failed | `Failed` with it |
//! | searching | no id is left, and one is held | between two searches | `Warn` once if a range is full; `Sleep` |
//! | searching | no id is left, and it was the last search, or none is held | failed | `Failed` |
//!
//! A refusal says how its id is treated:
//!
//! | Refusal | the only id | an id of a range | an id with a cached lease |
//! | --- | --- | --- | --- |
//! | `worker_in_use` | tried again | skipped, tried again | skipped, tried again |
//! | `clock_backwards` | final | skipped | final |
//! | `state_corrupt`, `state_io` | final | skipped | skipped |
//! | others | final | final | skipped |
//!
//! A record of another layout is final even if another id of the range is free: ids of two layouts in one id space can be
//! equal. So the whole range is peeked at before the first claim, and no process takes an id beside such a record.
//!
//! An id is only a candidate: its claim checks everything again under the locks of the id.

use crate::quoted::Quoted;
use crate::snowflake::claim_errors::OfflineRefusal;
use crate::snowflake::rules::LONGEST_SPAN_MS;
use crate::sorted::sorted;
use crate::{Code, Error, Layout, OnClockBackwards, Record, Rules};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::{replace, take};
use core::ops::RangeInclusive;
use core::slice;
use core::time::Duration;

/// After a holder's end, its child may keep copies of its descriptors between fork and exec. They are closed within
/// this time.
const EXEC: Duration = Duration::from_millis(50);
/// Concurrent claims of a range finish within this time. A longer wait is a wait for the end of a holder.
const RACE: Duration = Duration::from_millis(100);
/// A daemon's parent exits within this time and releases its fixed id.
const PARENT_EXITS: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(3);
/// The pause between two searches through ids that are held for longer than a race lasts.
const LONG_PAUSE: Duration = Duration::from_millis(20);

/// The facts by which a claim waits for a worker id that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClaimPatience {
    /// Whether any id of a range will do.
    pub is_range: bool,
    /// Whether this is a forked child whose parent held an id.
    pub inherited: bool,
    /// Whether the generator is opened by its first id.
    pub lazy: bool,
    /// Whether the calling thread limits its waits.
    pub limits_waits: bool,
    /// `timeout_ms`.
    pub timeout: Duration,
}

impl ClaimPatience {
    /// How long a claim tries again while the worker id is held.
    pub fn duration(&self) -> Duration {
        match (self.is_range, self.inherited) {
            // A process that is replaced ends once its successor has started.
            (true, _) if self.may_wait() => self.timeout.max(RACE),
            (true, _) => RACE,
            (false, true) => PARENT_EXITS,
            (false, false) => EXEC,
        }
    }

    /// How long a claim may last: its waits by the rules, and the time for the disk.
    pub fn claim_bound(&self, disk_bound: Duration, rules: &Rules, layout: &Layout) -> Duration {
        let waits_ms = match rules.on_clock_backwards {
            OnClockBackwards::Wait => LONGEST_SPAN_MS + layout.tick_ms(),
            OnClockBackwards::Continue => 0,
        };
        disk_bound + self.duration() + Duration::from_millis(waits_ms as u64)
    }

    /// The JavaScript thread waits at an opening, but it uses a lazy handle in the middle of its work.
    const fn may_wait(&self) -> bool {
        !(self.lazy && self.limits_waits)
    }
}

/// The worker ids that a claim may take.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClaimCandidates {
    /// This one.
    One(u32),
    /// Any id of a range. Ids whose record lies behind the clock come first.
    Within {
        /// The smallest id.
        first: u32,
        /// The largest id.
        last: u32,
    },
    /// Those whose leases are cached, in this order, because no lease server was reachable.
    Cached {
        /// The ids.
        worker_ids: Vec<u32>,
        /// Why no server was reachable.
        why: Error,
    },
}

/// The next action of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClaimAction {
    /// Read the record of this worker id without its lock, then call [`ClaimSearch::peeked`] or
    /// [`ClaimSearch::refused`].
    Peek(u32),
    /// Claim this worker id. After an error call [`ClaimSearch::refused`].
    Claim {
        /// The worker id.
        worker_id: u32,
        /// Whether a refusal names the holder, which costs system calls.
        names_holder: bool,
    },
    /// Log this text, then poll again.
    Warn(String),
    /// Log whether another user holds this id, whose record that user cannot open; then poll again.
    WarnOfStranger(u32),
    /// Poll again after this time.
    Sleep(Duration),
    /// No worker id could be claimed, because of this error.
    Failed(Error),
}

/// A claim that looks for a free worker id. Times are boot times unless they say otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimSearch {
    /// The id space.
    space: String,
    candidates: ClaimCandidates,
    /// How long a start without a record waits, in milliseconds.
    no_record_wait_ms: i64,
    patience: Duration,
    may_wait: bool,
    begun: Duration,
    /// Whether this is the first search: a problem of one id is logged once.
    is_first: bool,
    /// Whether it was logged that the range is full.
    warned: bool,
    state: SearchState,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum SearchState {
    Between,
    Searching(Search),
    /// A search ended because ids are held.
    Pausing,
    Failed(Error),
}

/// One search through the candidates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Search {
    is_last: bool,
    names_holder: bool,
    /// The ids at which the search has not peeked yet.
    unseen: RangeInclusive<u32>,
    /// The ids to claim, by their first number; the next one is the last, once all are known.
    known: Vec<(i64, u32)>,
    is_sorted: bool,
    step: Option<Step>,
    warning: Option<ClaimAction>,
    in_use: usize,
    /// The last refusal of a held id, and the first one for another reason.
    held: Option<Error>,
    other: Option<Error>,
}

/// The action whose result is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Peek(u32),
    /// The claim of an id of [`Search::known`].
    Claim {
        worker_id: u32,
        /// Whether it was peeked at, and the clock has passed its record.
        seems_free: bool,
    },
}

/// The first number in [`Search::known`] of an id whose record the clock has passed.
const PASSED: i64 = -1;

impl ClaimSearch {
    /// A claim in the id space `space`. `no_record_wait_ms` is how long a start without a record waits.
    pub fn new(
        space: &str,
        candidates: ClaimCandidates,
        patience: &ClaimPatience,
        no_record_wait_ms: i64,
        boot_time: Duration,
    ) -> ClaimSearch {
        ClaimSearch {
            space: space.to_owned(),
            candidates,
            no_record_wait_ms,
            patience: patience.duration(),
            may_wait: patience.may_wait(),
            begun: boot_time,
            is_first: true,
            warned: false,
            state: SearchState::Between,
        }
    }

    /// A claim of one id by a process that is not its generator's.
    pub fn one(space: &str, worker_id: u32, boot_time: Duration) -> ClaimSearch {
        let patience = ClaimPatience {
            is_range: false,
            inherited: false,
            lazy: false,
            limits_waits: false,
            timeout: Duration::ZERO,
        };
        ClaimSearch::new(space, ClaimCandidates::One(worker_id), &patience, 0, boot_time)
    }

    /// The next action.
    pub fn poll(&mut self, boot_time: Duration) -> ClaimAction {
        let waited = boot_time.saturating_sub(self.begun);
        loop {
            self.state = match replace(&mut self.state, SearchState::Between) {
                SearchState::Between => SearchState::Searching(self.begin(waited >= self.patience)),
                SearchState::Searching(mut search) => match search.next() {
                    Some(action) => {
                        self.state = SearchState::Searching(search);
                        return action;
                    }
                    None => {
                        self.is_first = false;
                        self.end(search)
                    }
                },
                SearchState::Pausing if waited >= RACE && self.is_range() && !self.warned => {
                    self.warned = true;
                    self.state = SearchState::Pausing;
                    return ClaimAction::Warn(self.full_warning());
                }
                SearchState::Pausing => {
                    return ClaimAction::Sleep(if waited >= RACE { LONG_PAUSE } else { PAUSE });
                }
                SearchState::Failed(error) => {
                    self.state = SearchState::Failed(error.clone());
                    return ClaimAction::Failed(error);
                }
            };
        }
    }

    /// The record of the id at which the host peeked, if there is one. `now_ms` is the clock's reading.
    pub fn peeked(&mut self, found: Option<&Record>, now_ms: i64) {
        let SearchState::Searching(search) = &mut self.state else { return };
        let Some(Step::Peek(worker_id)) = search.step else { return };
        let free_ms = match found {
            Some(record) => {
                let layout = &record.layout;
                let now = layout.tick_at(now_ms).unwrap_or(0);
                layout.tick_start_ms(record.first_free(record.run.until.max(now)))
            }
            // An id that has to wait is as good as one whose record is that far ahead.
            None if self.no_record_wait_ms > 0 => now_ms + self.no_record_wait_ms,
            None => 0,
        };
        search.known.push((if free_ms > now_ms { free_ms } else { PASSED }, worker_id));
        search.step = None;
    }

    /// The peek or the claim failed.
    pub fn refused(&mut self, error: Error) {
        let SearchState::Searching(search) = &mut self.state else { return };
        let Some(step) = search.step.take() else { return };
        let (Step::Peek(worker_id) | Step::Claim { worker_id, .. }) = step;
        match (&self.candidates, error.code()) {
            (_, Code::WorkerInUse) => {
                search.in_use += 1;
                search.held = Some(error);
                if self.is_first && matches!(step, Step::Claim { seems_free: true, .. }) {
                    search.warning = Some(ClaimAction::WarnOfStranger(worker_id));
                }
            }
            (ClaimCandidates::Within { .. }, Code::StateCorrupt | Code::StateIo | Code::ClockBackwards) => {
                if self.is_first {
                    let text = format!("{error}; the next worker id of the range is tried");
                    search.warning = Some(ClaimAction::Warn(text));
                }
                search.other.get_or_insert(error);
            }
            (ClaimCandidates::Cached { .. }, code) if code != Code::ClockBackwards => {
                let text = format!("{error}; the lease of worker id {worker_id} is left alone");
                search.warning = Some(ClaimAction::Warn(text));
            }
            _ => self.state = SearchState::Failed(error),
        }
    }

    /// What to log if this worker id was claimed.
    pub fn success_warning(&self, worker_id: u32) -> Option<String> {
        match &self.candidates {
            ClaimCandidates::Cached { why, .. } => {
                Some(format!("{why}; worker id {worker_id} continues with the lease that it still holds"))
            }
            ClaimCandidates::One(_) | ClaimCandidates::Within { .. } => None,
        }
    }

    const fn is_range(&self) -> bool {
        matches!(self.candidates, ClaimCandidates::Within { .. })
    }

    fn begin(&self, is_last: bool) -> Search {
        let none = RangeInclusive::new(1, 0);
        let (unseen, cached): (_, &[u32]) = match &self.candidates {
            ClaimCandidates::One(worker_id) => (none, slice::from_ref(worker_id)),
            ClaimCandidates::Within { first, last } => (*first..=*last, &[]),
            ClaimCandidates::Cached { worker_ids, .. } => (none, worker_ids),
        };
        let known = (0..).zip(cached.iter().copied()).collect();
        let names_holder = is_last && matches!(self.candidates, ClaimCandidates::One(_));
        Search {
            is_last,
            names_holder,
            unseen,
            known,
            is_sorted: false,
            step: None,
            warning: None,
            in_use: 0,
            held: None,
            other: None,
        }
    }

    /// The state after a search that found no id.
    fn end(&self, search: Search) -> SearchState {
        let is_last = search.is_last;
        match self.summary(search) {
            error if error.code() == Code::WorkerInUse && !is_last => SearchState::Pausing,
            error => SearchState::Failed(error),
        }
    }

    /// Why a search found no id.
    fn summary(&self, search: Search) -> Error {
        let Search { is_last, in_use, held, other, .. } = search;
        match (&self.candidates, held) {
            (ClaimCandidates::Cached { why, .. }, None) => OfflineRefusal::NoneHeld.error(why),
            (ClaimCandidates::Cached { why, .. }, Some(_)) if is_last => OfflineRefusal::InUse.error(why),
            (ClaimCandidates::One(_) | ClaimCandidates::Cached { .. }, Some(held)) => held,
            (_, held) => match other {
                Some(error) if held.is_none() => error,
                other => self.full_error(in_use, other),
            },
        }
    }

    fn full_warning(&self) -> String {
        format!(
            "every worker id of the range of {} is held; waiting up to {} ms for one to come free. With twice as many \
             ids as processes none waits, also while processes are replaced",
            Quoted(&self.space),
            self.patience.as_millis() as u64
        )
    }

    fn full_error(&self, in_use: usize, other: Option<Error>) -> Error {
        let ids = match self.candidates {
            ClaimCandidates::Within { first, last } => format!("{first}-{last}"),
            _ => String::new(),
        };
        let also = other.map(|error| format!("; besides: {}", error.message())).unwrap_or_default();
        let advice = match self.may_wait {
            true => "",
            false => ", or `await Snowflake.open` without lazy, which waits longer",
        };
        let message = format!(
            "no worker id of {ids} of {} came free within {} ms ({in_use} held){also}; widen the range to twice as many \
             ids as processes, or end a process{advice}",
            Quoted(&self.space),
            self.patience.as_millis() as u64
        );
        Error::new(Code::WorkerInUse, message)
    }
}

impl Search {
    fn next(&mut self) -> Option<ClaimAction> {
        if let Some(warning) = self.warning.take() {
            return Some(warning);
        }
        if self.step.is_none() {
            self.step = self.unseen.next().map(Step::Peek).or_else(|| self.next_claim());
        }
        Some(match self.step? {
            Step::Peek(worker_id) => ClaimAction::Peek(worker_id),
            Step::Claim { worker_id, .. } => {
                ClaimAction::Claim { worker_id, names_holder: self.names_holder }
            }
        })
    }

    fn next_claim(&mut self) -> Option<Step> {
        if !replace(&mut self.is_sorted, true) {
            self.known = sorted(take(&mut self.known));
            self.known.reverse();
        }
        let (at, worker_id) = self.known.pop()?;
        Some(Step::Claim { worker_id, seems_free: at == PASSED })
    }
}
