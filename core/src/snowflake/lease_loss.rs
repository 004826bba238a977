//! The claims of a generator that lost its lease: when to claim another one.
//!
//! Construct: [`LeaseLoss::new`]. Events: [`LeaseLoss::claim_failed`], [`LeaseLoss::take_over`],
//! [`LeaseLoss::sealed`]. Poll:
//! [`LeaseLoss::poll`]. Queries: all others. A claim that succeeds ends the machine: another generator takes over.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | backing off | poll before it is due | backing off; callers wait, or get the last error |
//! | backing off | poll when it is due, or for a caller 200 ms after the last failure | claiming, a new round |
//! | claiming | poll | claiming: never two at once |
//! | claiming for longer than `patience` | poll | backing off: the round is given up |
//! | claiming | its claim failed | backing off, for longer each time |
//! | any | the claim of an earlier round failed | the same |
//! | any | the claim of an earlier round got a lease | the same; the host releases the lease |
//! | any | the generator was sealed | the same; the next one starts above it |
//! | claiming | its claim got a lease | claiming; the generator is sealed, and the next one starts above it |
//!
//! Callers get no error in the first `timeout` after the loss, in which the next claim probably succeeds, unless no retry
//! heals it. After that time an outage lasts, and no call waits for it. A process that was stopped (SIGSTOP, a frozen
//! sandbox, a paused machine) meets failures that are its own: its requests timed out while it did not run. So the time
//! starts again after a stop.

use crate::time::back_off::SHORTEST_BACK_OFF;
use crate::{BackOff, Code, Error};
use alloc::format;
use core::time::Duration;

/// The shortest time between two claims, and between two checks of one.
const RETRY: Duration = SHORTEST_BACK_OFF;
/// A process that polls later than this did not run.
const STOPPED: Duration = Duration::from_secs(1);

/// A lost lease, and the claims made since. Times are boot times.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LeaseLoss {
    worker_id: u32,
    why: Error,
    /// The start of the running claim.
    claiming: Option<Duration>,
    /// The number of claims. A hanging claim was given up if it is not the last one.
    round: u64,
    back_off: BackOff,
    /// The time when the last claim failed, and the time of the next one.
    failed_at: Duration,
    due: Duration,
    /// How long callers wait before they get an error, and the time when that is over.
    timeout: Duration,
    told_from: Duration,
    /// The time when the host should poll again.
    polled_by: Duration,
    /// The first tick that the next generator may use, once this one is sealed.
    floor: u64,
}

/// The next action of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LossAction {
    /// Claim, in this round, and poll again after 200 ms.
    Claim(u64),
    /// A claim is running or will follow: callers wait. Poll again after this time.
    Wait(Duration),
    /// The last claim failed with this error, which callers get: poll again after this time.
    Failed(Error, Duration),
}

impl LeaseLoss {
    /// `losses` is the number of leases lost in a row before this one without a renewal in between. The time between
    /// the claims grows with it. Callers wait for `timeout` before they get an error.
    pub(crate) const fn new(
        worker_id: u32,
        why: Error,
        losses: u32,
        boot_time: Duration,
        timeout: Duration,
    ) -> LeaseLoss {
        let back_off = BackOff::after(losses);
        let wait = if losses == 0 { Duration::ZERO } else { back_off.duration(false) };
        LeaseLoss {
            worker_id,
            why,
            claiming: None,
            round: 0,
            back_off,
            failed_at: boot_time,
            due: boot_time.saturating_add(wait),
            timeout,
            told_from: boot_time.saturating_add(timeout),
            polled_by: boot_time,
            floor: 0,
        }
    }

    /// The next action. A claim that takes longer than `patience` is given up. `waited_for`: a caller waits for a span.
    pub(crate) fn poll(&mut self, boot_time: Duration, patience: Duration, waited_for: bool) -> LossAction {
        self.note_stop(boot_time);
        if self.claiming.is_some_and(|since| boot_time >= since.saturating_add(patience)) {
            let why = format!("the claim has not answered for {} ms", patience.as_millis() as u64);
            self.fail(&Error::new(Code::WorkerLost, why), boot_time);
        }
        let due = if waited_for { self.due.min(self.failed_at.saturating_add(RETRY)) } else { self.due };
        let (action, again) = if self.claiming.is_some() {
            (LossAction::Wait(RETRY), RETRY)
        } else if boot_time >= due {
            self.claiming = Some(boot_time);
            self.round += 1;
            // A host may have one thread, which makes the claim.
            (LossAction::Claim(self.round), patience)
        } else if boot_time < self.told_from && self.why.code().can_retry() {
            (LossAction::Wait(due - boot_time), due - boot_time)
        } else {
            let again = self.due - boot_time;
            (LossAction::Failed(self.why.clone(), again), again)
        };
        self.polled_by = boot_time.saturating_add(again);
        action
    }

    /// The claim of this round failed.
    pub(crate) fn claim_failed(&mut self, round: u64, error: &Error, boot_time: Duration) {
        if self.is_current(round) {
            self.note_stop(boot_time);
            self.fail(error, boot_time);
        }
    }

    /// After a stop of this process callers wait once more.
    fn note_stop(&mut self, boot_time: Duration) {
        if boot_time > self.polled_by.saturating_add(STOPPED) {
            self.told_from = boot_time.saturating_add(self.timeout);
            self.polled_by = boot_time;
        }
    }

    fn fail(&mut self, error: &Error, boot_time: Duration) {
        self.back_off.failed(0, 0);
        self.due = boot_time.saturating_add(self.back_off.duration(false));
        self.failed_at = boot_time;
        self.claiming = None;
        // What no retry heals keeps its code.
        let (code, advice) = match error.code() {
            code if !code.can_retry() => (code, ""),
            _ => (Code::WorkerLost, "; leafid tries again; call again later"),
        };
        let message = format!(
            "the lease of worker id {} was lost, and no other could be claimed: {}{advice}",
            self.worker_id,
            error.message()
        );
        self.why = Error::new(code, message);
    }

    /// The claim of this round got a lease. Returns the first tick that the next generator may use; `None` if the round
    /// was given up. `seal` seals this generator, and returns its first unused tick, the first time.
    pub(crate) fn take_over(&mut self, round: u64, seal: impl FnOnce() -> Option<u64>) -> Option<u64> {
        if !self.is_current(round) {
            return None;
        }
        seal().into_iter().for_each(|first_unused| self.sealed(first_unused));
        Some(self.floor)
    }

    /// This generator was sealed: its first unused tick.
    pub(crate) const fn sealed(&mut self, first_unused: u64) {
        self.floor = first_unused;
    }

    /// Whether this is the last round. The claims of earlier rounds were given up.
    pub(crate) const fn is_current(&self, round: u64) -> bool {
        self.round == round
    }

    /// Whether a claim is running.
    pub(crate) const fn is_claiming(&self) -> bool {
        self.claiming.is_some()
    }

    /// The error for callers.
    pub(crate) const fn why(&self) -> &Error {
        &self.why
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);
    const TIMEOUT: Duration = Duration::from_secs(2);

    fn at(ms: u64) -> Duration {
        Duration::from_millis(1_000 + ms)
    }

    fn error(message: &str) -> Error {
        Error::new(Code::WorkerLost, message)
    }

    fn lost(losses: u32) -> LeaseLoss {
        LeaseLoss::new(7, error("lost"), losses, at(0), TIMEOUT)
    }

    #[test]
    fn a_caller_has_one_made_sooner_but_not_at_once() {
        let mut loss = lost(5);
        assert_eq!(loss.poll(at(199), PATIENCE, true), LossAction::Wait(Duration::from_millis(1)));
        assert_eq!(loss.poll(at(200), PATIENCE, true), LossAction::Claim(1));
    }

    fn is_told(loss: &mut LeaseLoss, ms: u64) -> bool {
        matches!(loss.poll(at(ms), PATIENCE, false), LossAction::Failed(..))
    }

    #[test]
    fn a_process_that_was_stopped_waits_once_more() {
        let down = |loss: &mut LeaseLoss, round, ms| {
            assert_eq!(loss.poll(at(ms), PATIENCE, false), LossAction::Claim(round));
            loss.claim_failed(round, &error("down"), at(ms));
            is_told(loss, ms)
        };
        let mut loss = lost(0);
        let told = [(1, 0), (2, 200), (3, 600), (4, 1_400), (5, 3_000)]
            .map(|(round, ms)| down(&mut loss, round, ms));
        assert_eq!(told, [false, false, false, false, true]);
        assert!(down(&mut loss, 6, 7_200), "it is only as late as a busy machine may be");
        assert!(!down(&mut loss, 7, 60_000), "it was stopped between two claims");
        assert_eq!([61_999, 62_000].map(|ms| is_told(&mut loss, ms)), [false, true]);
        assert_eq!(loss.poll(at(70_000), PATIENCE, false), LossAction::Claim(8));
        assert_eq!(loss.poll(at(70_200), PATIENCE, false), LossAction::Wait(RETRY));
        loss.claim_failed(8, &error("timed out"), at(90_000));
        assert_eq!([90_000, 91_999, 92_000].map(|ms| is_told(&mut loss, ms)), [false, false, true]);
    }

    #[test]
    fn what_no_retry_heals_is_returned_at_once_by_its_own_code() {
        let mut loss = lost(0);
        assert_eq!(loss.poll(at(0), PATIENCE, true), LossAction::Claim(1));
        loss.claim_failed(1, &Error::new(Code::SourceInvalid, "answered 401"), at(0));
        let LossAction::Failed(why, _) = loss.poll(at(0), PATIENCE, true) else { unreachable!("it failed") };
        let text = "the lease of worker id 7 was lost, and no other could be claimed: answered 401";
        assert_eq!((why.code(), why.message()), (Code::SourceInvalid, text));
        assert_eq!(loss.poll(at(200), PATIENCE, true), LossAction::Claim(2), "it is claimed all the same");
    }

    #[test]
    fn a_claim_that_hangs_is_given_up_and_its_end_changes_nothing() {
        let mut loss = lost(0);
        assert_eq!(loss.poll(at(0), PATIENCE, false), LossAction::Claim(1));
        for ms in (1..20).map(|second| second * 1_000).chain([19_999]) {
            assert_eq!(loss.poll(at(ms), PATIENCE, false), LossAction::Wait(RETRY));
        }
        let LossAction::Failed(why, again) = loss.poll(at(20_000), PATIENCE, false) else {
            unreachable!("it hangs")
        };
        assert!(why.message().contains("has not answered for 20000 ms"), "{why}");
        assert_eq!((again, loss.is_claiming()), (RETRY, false));
        assert_eq!(loss.poll(at(20_200), PATIENCE, false), LossAction::Claim(2));
        loss.claim_failed(1, &error("late"), at(20_300));
        assert!(loss.is_claiming() && loss.is_current(2) && !loss.is_current(1));
        assert_eq!(*loss.why(), why);
    }

    #[test]
    fn the_next_generator_starts_above_the_sealed_one_whichever_claim_succeeds() {
        let mut loss = lost(0);
        assert_eq!(loss.poll(at(0), PATIENCE, false), LossAction::Claim(1));
        assert_eq!(loss.take_over(1, || Some(500)), Some(500));
        loss.claim_failed(1, &error("no first span"), at(0));
        assert_eq!(loss.poll(at(200), PATIENCE, false), LossAction::Claim(2));
        assert_eq!(loss.take_over(1, || unreachable!("it was given up")), None);
        assert_eq!(loss.take_over(2, || None), Some(500), "it was sealed before");
    }
}
