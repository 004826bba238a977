//! The claims of a generator that lost its lease: when to claim another one.
//!
//! Construct: [`LeaseLoss::new`]. Events: [`LeaseLoss::claim_failed`], [`LeaseLoss::take_over`]. Poll:
//! [`LeaseLoss::poll`]. Queries: all others. A claim that succeeds ends the machine: another generator takes over.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | backing off | poll before it is due | backing off; callers get the last error |
//! | backing off | poll when it is due, or for a caller 200 ms after the last failure | claiming, a new round |
//! | claiming | poll | claiming: never two at once |
//! | claiming for longer than `patience` | poll | backing off: the round is given up |
//! | claiming | its claim failed | backing off, for longer each time |
//! | any | the claim of an earlier round failed | the same |
//! | any | the claim of an earlier round got a lease | the same; the host releases the lease |
//! | claiming | its claim got a lease | claiming; the generator is sealed, and the next one starts above it |

use crate::{BackOff, Code, Error, SHORTEST_BACK_OFF};
use alloc::format;
use core::time::Duration;

/// The shortest time between two claims, and between two checks of one.
const RETRY: Duration = SHORTEST_BACK_OFF;

/// A lost lease, and the claims made since. Times are boot times.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseLoss {
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
    /// The first tick that the next generator may use, once this one is sealed.
    floor: u64,
}

/// The next action of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossAction {
    /// Claim, in this round, and poll again after 200 ms.
    Claim(u64),
    /// A claim is running: poll again after this time.
    Wait(Duration),
    /// The last claim failed with this error: poll again after this time.
    Failed(Error, Duration),
}

impl LeaseLoss {
    /// `losses` is the number of leases lost in a row before this one without a renewal in between. The time between
    /// the claims grows with it.
    pub const fn new(worker_id: u32, why: Error, losses: u32, boot_time: Duration) -> LeaseLoss {
        let back_off = BackOff::after(losses);
        let wait = if losses == 0 { Duration::ZERO } else { back_off.duration(false) };
        let due = boot_time.saturating_add(wait);
        LeaseLoss { worker_id, why, claiming: None, round: 0, back_off, failed_at: boot_time, due, floor: 0 }
    }

    /// The next action. A claim that takes longer than `patience` is given up. `waited_for`: a caller waits for a span.
    pub fn poll(&mut self, boot_time: Duration, patience: Duration, waited_for: bool) -> LossAction {
        if self.claiming.is_some_and(|since| boot_time >= since + patience) {
            let why = format!("the claim has not answered for {} ms", patience.as_millis() as u64);
            self.fail(&Error::new(Code::WorkerLost, why), boot_time);
        }
        let may_retry = waited_for && boot_time >= self.failed_at + RETRY;
        if self.claiming.is_some() {
            LossAction::Wait(RETRY)
        } else if boot_time >= self.due || may_retry {
            self.claiming = Some(boot_time);
            self.round += 1;
            LossAction::Claim(self.round)
        } else {
            LossAction::Failed(self.why.clone(), self.due - boot_time)
        }
    }

    /// The claim of this round failed.
    pub fn claim_failed(&mut self, round: u64, error: &Error, boot_time: Duration) {
        if self.is_current(round) {
            self.fail(error, boot_time);
        }
    }

    fn fail(&mut self, error: &Error, boot_time: Duration) {
        self.back_off.failed(0, 0);
        self.due = boot_time + self.back_off.duration(false);
        self.failed_at = boot_time;
        self.claiming = None;
        let message = format!(
            "the lease of worker id {} was lost, and no other could be claimed: {}; leafid tries again; call again \
             later",
            self.worker_id,
            error.message()
        );
        self.why = Error::new(Code::WorkerLost, message);
    }

    /// The claim of this round got a lease. Returns the first tick that the next generator may use; `None` if the round
    /// was given up. `seal` seals this generator, and returns its first unused tick, the first time.
    pub fn take_over(&mut self, round: u64, seal: impl FnOnce() -> Option<u64>) -> Option<u64> {
        if !self.is_current(round) {
            return None;
        }
        if let Some(first_unused) = seal() {
            self.floor = first_unused;
        }
        Some(self.floor)
    }

    /// Whether this is the last round. The claims of earlier rounds were given up.
    pub const fn is_current(&self, round: u64) -> bool {
        self.round == round
    }

    /// Whether a claim is running.
    pub const fn is_claiming(&self) -> bool {
        self.claiming.is_some()
    }

    /// The error for callers.
    pub const fn why(&self) -> &Error {
        &self.why
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn at(ms: u64) -> Duration {
        Duration::from_millis(1_000 + ms)
    }

    fn error(message: &str) -> Error {
        Error::new(Code::WorkerLost, message)
    }

    fn lost(losses: u32) -> LeaseLoss {
        LeaseLoss::new(7, error("lost"), losses, at(0))
    }

    #[test]
    fn the_first_claim_is_made_at_once_and_later_ones_with_ever_more_time_between() {
        let mut loss = lost(0);
        assert_eq!(loss.poll(at(0), PATIENCE, false), LossAction::Claim(1));
        assert_eq!(loss.poll(at(0), PATIENCE, true), LossAction::Wait(RETRY), "never two at once");
        let (mut now, mut waits) = (0, [0; 4]);
        for (round, wait) in (1..).zip(&mut waits) {
            loss.claim_failed(round, &error("down"), at(now));
            let LossAction::Failed(why, again) = loss.poll(at(now), PATIENCE, false) else {
                unreachable!("it is not due")
            };
            assert!(why.to_string().contains("no other could be claimed: down"), "{why}");
            *wait = again.as_millis();
            now += again.as_millis() as u64;
            assert_eq!(loss.poll(at(now), PATIENCE, false), LossAction::Claim(round + 1));
        }
        assert_eq!(waits, [200, 400, 800, 1_600]);
    }

    #[test]
    fn leases_lost_one_after_another_are_claimed_later_each_time() {
        for (losses, back_off_ms) in [(1, 200), (2, 400), (100, 10_000)] {
            let again = LossAction::Failed(error("lost"), Duration::from_millis(back_off_ms));
            assert_eq!(lost(losses).poll(at(0), PATIENCE, false), again, "{losses}");
        }
    }

    #[test]
    fn a_caller_has_one_made_sooner_but_not_at_once() {
        let mut loss = lost(5);
        assert!(matches!(loss.poll(at(199), PATIENCE, true), LossAction::Failed(..)));
        assert_eq!(loss.poll(at(200), PATIENCE, true), LossAction::Claim(1));
    }

    #[test]
    fn a_claim_that_hangs_is_given_up_and_its_end_changes_nothing() {
        let mut loss = lost(0);
        assert_eq!(loss.poll(at(0), PATIENCE, false), LossAction::Claim(1));
        assert_eq!(loss.poll(at(19_999), PATIENCE, false), LossAction::Wait(RETRY));
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
