//! The fetches of a tag: when the next segment is fetched.
//!
//! Construct: [`FetchState::new`]. Poll: [`FetchState::poll`], [`FetchState::begin`]. Events: [`FetchState::needs`],
//! [`FetchState::timer`], [`FetchState::cancelled`], [`FetchState::succeeded`], [`FetchState::failed`]. Queries: all others.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | idle, backing off | poll, and it may be fetched now | queued |
//! | idle, backing off | poll, and its back-off is not over | backing off |
//! | idle, backing off | poll, and the source does not know the tag | the same, unless a caller waits and its back-off is over |
//! | backing off | its timer | idle |
//! | queued | begin | fetching; idle if nothing is wanted any more |
//! | queued, fetching | poll | the same: never two at once |
//! | fetching | succeeded, failed, cancelled | idle |

use crate::segment::adaptive_step::AdaptiveStep;
use crate::time::back_off::URGENT_MS;
use crate::{BackOff, Code, Error};
use alloc::boxed::Box;
use core::mem::take;

/// If a source returns ids one by one, this number of fetches in a row may return only skipped ids before that is an
/// error. The marks are bounded, and ids that arrive late may look like repeated ones.
const MOST_SKIPPED_FETCHES: u32 = 4;

/// The fetches of one tag. Times are boot times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FetchState {
    phase: FetchPhase,
    step: AdaptiveStep,
    /// The number of ids for which a call waits.
    need: i64,
    /// What went wrong since the last success. Most tags have none, and a program may hold many tags.
    trouble: Option<Box<Trouble>>,
    /// The number of fetches that have ended, and of those that failed.
    ended: u64,
    failures: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Trouble {
    back_off: BackOff,
    /// The error of the last fetch.
    error: Option<Error>,
    is_denied: bool,
    /// The number of fetches in a row that returned only skipped ids.
    skipped: u32,
}

/// The phase of a tag's fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FetchPhase {
    /// No fetch is running.
    Idle,
    /// The next fetch may begin at this time.
    BackingOff(i64),
    /// It is queued for a thread or by the circuit breaker.
    Queued,
    /// The request was sent to the source.
    Fetching,
}

/// The next action of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FetchAction {
    /// Nothing.
    Nothing,
    /// Start a fetch on a thread.
    Fetch,
    /// Call [`FetchState::timer`] at this time, and poll.
    WakeAt(i64),
}

/// The request to a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FetchPlan {
    /// The step by the rule of [`AdaptiveStep`], to pass back to [`FetchState::succeeded`]; 0 leaves the choice to the
    /// source.
    pub(crate) wanted: i64,
    /// The number of ids to request; 0 leaves the choice to the source.
    pub(crate) step: i64,
    /// The number of ids that a stock needs; 0 for other sources.
    pub(crate) short: u64,
}

impl FetchState {
    /// Idle.
    pub(crate) const fn new(step: AdaptiveStep) -> FetchState {
        FetchState { phase: FetchPhase::Idle, step, need: 0, trouble: None, ended: 0, failures: 0 }
    }

    /// A call waits for this many ids, or will come back for them.
    pub(crate) fn needs(&mut self, ids: i64) {
        self.need = self.need.max(ids);
    }

    /// The number of ids for which a call waits, or will come back.
    pub(crate) const fn need(&self) -> i64 {
        self.need
    }

    /// The next action when more ids are wanted. `waits`: a caller waits now. `urgent`: one waits, or will soon.
    pub(crate) fn poll(&mut self, waits: bool, urgent: bool, now_ms: i64) -> FetchAction {
        let backing_off = match self.phase {
            FetchPhase::Idle => None,
            FetchPhase::BackingOff(until_ms) => Some(until_ms),
            FetchPhase::Queued | FetchPhase::Fetching => return FetchAction::Nothing,
        };
        match self.trouble.as_ref().and_then(|trouble| trouble.back_off.ready_at_ms(urgent)) {
            Some(ready_ms) if ready_ms > now_ms => {
                // A tag that the source does not know is fetched again only for its callers, not by itself.
                if self.is_unknown() {
                    return FetchAction::Nothing;
                }
                // Checked again soon, because a caller may wait by then.
                let wake_ms = ready_ms.min(now_ms + URGENT_MS);
                if backing_off.is_some_and(|until_ms| until_ms <= wake_ms && until_ms > now_ms) {
                    return FetchAction::Nothing;
                }
                self.phase = FetchPhase::BackingOff(wake_ms);
                FetchAction::WakeAt(wake_ms)
            }
            _ if self.is_unknown() && !waits => FetchAction::Nothing,
            _ => {
                self.phase = FetchPhase::Queued;
                FetchAction::Fetch
            }
        }
    }

    /// The timer of [`FetchAction::WakeAt`]. Returns false if it is out of date and has no effect.
    pub(crate) fn timer(&mut self, at_ms: i64) -> bool {
        let is_due = self.phase == FetchPhase::BackingOff(at_ms);
        if is_due {
            self.phase = FetchPhase::Idle;
        }
        is_due
    }

    /// A thread is about to ask the source. `short` is the number of ids that a stock needs, 0 for other sources;
    /// `None` if no ids are wanted any more. `source_step` is the smallest request to a source that has not returned
    /// its step.
    pub(crate) fn begin(&mut self, short: Option<u64>, source_step: i64, now_ms: i64) -> Option<FetchPlan> {
        let Some(short) = short else {
            self.phase = FetchPhase::Idle;
            return None;
        };
        self.phase = FetchPhase::Fetching;
        let wanted = self.step.wanted(now_ms);
        let need = take(&mut self.need);
        // While it fails, a request for one id is enough to check.
        let fails = self.has_failed() || self.trouble.as_ref().is_some_and(|trouble| trouble.skipped > 0);
        let short = if fails { short.min(1) } else { short };
        let step = match short {
            0 if wanted == 0 && need <= source_step => 0,
            0 => wanted.max(need),
            short => need.max(short as i64),
        };
        Some(FetchPlan { wanted, step, short })
    }

    /// The source was not asked after all.
    pub(crate) fn cancelled(&mut self) {
        self.phase = FetchPhase::Idle;
    }

    /// Segments came. `wanted` is that of the plan. `own_step` is the source's own, if it is known. `refused` says why
    /// some were skipped.
    pub(crate) fn succeeded(
        &mut self,
        wanted: i64,
        own_step: Option<i64>,
        refused: Option<Error>,
        now_ms: i64,
    ) {
        self.ends();
        self.trouble = refused.map(|error| Box::new(Trouble { error: Some(error), ..Trouble::default() }));
        self.step.fetched(wanted, own_step.unwrap_or(self.step.source()), now_ms);
    }

    /// No segment came. `is_denied`: the error stays until somebody changes the source or the options. `may_skip`: the
    /// error only says that all ids were skipped. Returns the number of failures in a row, 0 if the ids were only
    /// skipped.
    pub(crate) fn failed(
        &mut self,
        error: Error,
        is_denied: bool,
        may_skip: bool,
        now_ms: i64,
        seed: u64,
    ) -> u32 {
        self.ends();
        let trouble = self.trouble.get_or_insert_default();
        (trouble.error, trouble.is_denied) = (Some(error), is_denied);
        if may_skip && trouble.skipped < MOST_SKIPPED_FETCHES {
            trouble.skipped += 1;
            return 0;
        }
        self.failures += 1;
        trouble.back_off.failed(now_ms, seed);
        trouble.back_off.failures()
    }

    fn ends(&mut self) {
        self.phase = FetchPhase::Idle;
        self.ended += 1;
    }

    fn is_unknown(&self) -> bool {
        self.error().is_some_and(|error| error.code() == Code::UnknownTag)
    }

    /// The phase of its fetch.
    pub(crate) const fn phase(&self) -> FetchPhase {
        self.phase
    }

    /// Whether a fetch is queued or running.
    pub(crate) const fn is_fetching(&self) -> bool {
        matches!(self.phase, FetchPhase::Queued | FetchPhase::Fetching)
    }

    /// The step.
    pub(crate) const fn step(&self) -> &AdaptiveStep {
        &self.step
    }

    /// Whether the last fetch failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.trouble.as_ref().is_some_and(|trouble| trouble.back_off.failures() > 0)
    }

    /// The error of the last fetch; `None` after a success.
    pub(crate) fn error(&self) -> Option<&Error> {
        self.trouble.as_ref()?.error.as_ref()
    }

    /// The error of the last fetch, if the source does not know the tag or denies it to this program.
    pub(crate) fn refused(&self) -> Option<&Error> {
        let is_denied = self.trouble.as_ref()?.is_denied;
        self.error().filter(|_| is_denied || self.is_unknown())
    }

    /// The number of fetches that have ended.
    pub(crate) const fn ended(&self) -> u64 {
        self.ended
    }

    /// The number of fetches that have begun.
    pub(crate) const fn begun(&self) -> u64 {
        self.ended + matches!(self.phase, FetchPhase::Fetching) as u64
    }

    /// The number of fetches that failed.
    pub(crate) const fn failures(&self) -> u64 {
        self.failures
    }

    /// The same without its counts, to compare two of them.
    #[cfg(all(feature = "format", feature = "options", feature = "wire"))]
    pub(crate) fn uncounted(&self) -> FetchState {
        FetchState { ended: 0, failures: 0, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN_MS: i64 = 1_000_000;

    fn state() -> FetchState {
        FetchState::new(AdaptiveStep::new(1_000, false))
    }

    /// The state after this number of failures at the beginning.
    fn failed(code: Code, times: usize) -> FetchState {
        let mut state = state();
        for _ in 0..times {
            state.failed(Error::new(code, "as asked"), false, false, BEGIN_MS, 0);
        }
        state
    }

    #[test]
    fn a_timer_that_comes_soon_enough_is_not_asked_for_again() {
        for (until_ms, comes) in [(100, false), (101, true), (300, true), (500, true), (501, false)] {
            let mut state = failed(Code::SegmentUnavailable, 3);
            state.phase = FetchPhase::BackingOff(BEGIN_MS + until_ms);
            let wanted = if comes { FetchAction::Nothing } else { FetchAction::WakeAt(BEGIN_MS + 500) };
            assert_eq!(state.poll(false, false, BEGIN_MS + 100), wanted, "{until_ms}");
        }
    }

    #[test]
    fn a_timer_that_is_out_of_date_changes_nothing() {
        let mut state = failed(Code::SegmentUnavailable, 1);
        assert_eq!(state.poll(false, false, BEGIN_MS), FetchAction::WakeAt(BEGIN_MS + 200));
        assert!(!state.timer(BEGIN_MS + 100));
        assert_eq!(state.phase(), FetchPhase::BackingOff(BEGIN_MS + 200));
        assert!(state.timer(BEGIN_MS + 200));
        assert_eq!(state.phase(), FetchPhase::Idle);
        assert_eq!(state.poll(false, false, BEGIN_MS + 200), FetchAction::Fetch);
    }

    #[test]
    fn one_fetch_is_under_way_at_a_time() {
        let mut state = state();
        assert_eq!(
            (state.poll(true, true, 0), state.poll(true, true, 0)),
            (FetchAction::Fetch, FetchAction::Nothing)
        );
        assert!(state.is_fetching() && state.begun() == 0);
        assert!(state.begin(Some(0), 1_000, 0).is_some());
        assert_eq!((state.poll(true, true, 0), state.begun(), state.ended()), (FetchAction::Nothing, 1, 0));
        state.succeeded(1_000, None, None, 0);
        assert_eq!((state.begun(), state.ended(), state.phase()), (1, 1, FetchPhase::Idle));
        assert_eq!(state.poll(false, false, 0), FetchAction::Fetch);
        assert_eq!(
            (state.begin(None, 1_000, 0), state.phase()),
            (None, FetchPhase::Idle),
            "nothing is wanted"
        );
    }

    #[test]
    fn as_much_is_asked_for_as_is_needed_and_one_id_while_a_stock_fails() {
        let plan = |source, needs, short: u64, fails: bool| {
            let code = Code::SegmentRegressed;
            let mut state = FetchState::new(AdaptiveStep::new(source, false));
            if fails {
                assert_eq!(state.failed(Error::new(code, "as asked"), false, true, 0, 0), 0);
            }
            state.needs(needs);
            state.needs(1);
            state.begin(Some(short), 1_000, 0).map(|plan| (plan.wanted, plan.step, plan.short))
        };
        assert_eq!(
            [plan(0, 1_000, 0, false), plan(0, 1_001, 0, false)],
            [Some((0, 0, 0)), Some((0, 1_001, 0))]
        );
        assert_eq!([plan(10, 5, 0, false), plan(10, 25, 0, false)], [Some((10, 10, 0)), Some((10, 25, 0))]);
        assert_eq!(
            [plan(10, 1, 100, false), plan(10, 150, 100, false)],
            [Some((10, 100, 100)), Some((10, 150, 100))]
        );
        assert_eq!([plan(10, 1, 100, true), plan(10, 7, 100, true)], [Some((10, 1, 1)), Some((10, 7, 1))]);
    }

    #[test]
    fn ids_are_skipped_four_times_in_a_row_before_that_is_a_failure() {
        let mut state = state();
        let mut fail = || state.failed(Error::new(Code::SegmentRegressed, "as asked"), false, true, 0, 0);
        assert_eq!([(); 6].map(|()| fail()), [0, 0, 0, 0, 1, 2]);
        state.succeeded(1_000, None, None, 0);
        assert_eq!((state.failures(), state.ended(), state.has_failed()), (2, 7, false));
        assert!(state.error().is_none());
    }

    #[test]
    fn a_refusal_is_known_until_the_next_fetch() {
        for (code, is_denied, is_refused) in [
            (Code::SegmentUnavailable, false, false),
            (Code::SegmentUnavailable, true, true),
            (Code::UnknownTag, false, true),
        ] {
            let mut state = state();
            state.failed(Error::new(code, "as asked"), is_denied, false, 0, 0);
            assert_eq!(state.refused().is_some(), is_refused, "{code:?}");
            state.succeeded(1_000, Some(70), None, 0);
            assert_eq!((state.refused(), state.step().source()), (None, 70));
        }
    }
}
