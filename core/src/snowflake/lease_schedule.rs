//! The schedule of a held lease: when it is renewed, and how long it may be used.
//!
//! Construct: [`HeldLease::new`]. Events: [`HeldLease::begin_call`], which is also the poll, [`HeldLease::call_ended`]
//! (the answer of a renewal), and [`HeldLease::leapt`]. Queries: all others.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | idle until `renew_at` | begin a call before that time | idle |
//! | idle until `renew_at` | begin a call, but a caller waits for a span | idle until the last call + 10 ms, 200 ms after a failure |
//! | idle until `renew_at` | begin a call at that time | in flight |
//! | idle until `renew_at` | the clock has leapt since the last call began | idle until now |
//! | in flight | begin a call | in flight: never two at once |
//! | in flight for longer than `patience` | | in flight; counts as failed |
//! | in flight | renewed | idle until half of the lease is over |
//! | in flight | failed | idle; backs off, at most for a quarter of the rest of the lease |
//! | in flight | not held, lost | lost: the host drops the lease |
//! | in flight | a late renewal has made another token; then not held, lost | idle: due at once, with that token |

use crate::time::back_off::SHORTEST_BACK_OFF;
use crate::{BackOff, Code, Error, Layout, Lease, Renewal, Result, Span};
use alloc::format;
use core::time::Duration;

/// How far ahead of the clock a span is requested, if the lease source sets no time. Ids continue through an outage of
/// the source of this length.
pub const SPAN_WISH_MS: i64 = 30_000;
/// The shortest time between two calls, even if the source returns very short spans.
const PAUSE: Duration = Duration::from_millis(10);
/// The shortest time between two calls after a failure.
const RETRY: Duration = SHORTEST_BACK_OFF;

/// A held lease. Times are boot times; the time of a result is that before its call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HeldLease {
    lease: Lease,
    /// The first tick outside the lease.
    until: u64,
    /// The boot time before the call that made the last token.
    asked: Duration,
    /// The time of the next renewal: half-way, or after a failure.
    renew_at: Duration,
    /// The time when the source may lease the worker id to another holder. From then on no further span is used.
    ends: Option<Duration>,
    /// The number of failed calls since the last success, and the last error.
    back_off: BackOff,
    error: Option<Error>,
    /// The begin and the end of the last call.
    begun_at: Duration,
    called_at: Duration,
    in_flight: Option<InFlight>,
    /// A call that takes longer counts as hanging.
    patience: Duration,
}

/// The running renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct InFlight {
    /// Whether a late renewal has made another token since: the source refuses the one that was sent.
    is_outdated: bool,
}

/// The arguments of a call of the lease source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RenewalRequest {
    /// The current lease.
    pub lease: Lease,
    /// The requested end of the span, Unix milliseconds.
    pub wish_ms: i64,
}

/// The result of the lease source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RenewalAnswer {
    /// A renewal.
    Renewed(Renewal),
    /// This holder has lost the worker id.
    NotHeld,
    /// The source returned this error, which says that the lease is lost.
    Lost(Error),
    /// Any other error: it is unknown whether the lease was renewed.
    Failed(Error),
}

/// The end of a renewal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RenewalEnd {
    /// The lease is still held.
    Kept,
    /// It was not renewed. The held lease may be used to its end.
    Failed(Error),
    /// This holder has lost the worker id.
    Lost(Error),
}

impl HeldLease {
    /// `asked` is the boot time before the claim. A call of the source that takes longer than `patience` counts as
    /// hanging.
    pub(crate) fn new(
        lease: Lease,
        span: Span,
        asked: Duration,
        now_ms: i64,
        patience: Duration,
    ) -> HeldLease {
        let mut held = HeldLease {
            lease,
            until: span.until,
            asked,
            renew_at: asked,
            ends: None,
            back_off: BackOff::new(),
            error: None,
            begun_at: asked,
            called_at: asked,
            in_flight: None,
            patience,
        };
        held.renewed(asked, now_ms);
        held
    }

    /// The next call of the lease source, if it is due now; then it is in flight. `waited_for`: a caller waits for a
    /// span.
    pub(crate) fn begin_call(
        &mut self,
        boot_time: Duration,
        now_ms: i64,
        waited_for: bool,
    ) -> Option<RenewalRequest> {
        if waited_for {
            let pause = if self.back_off.failures() > 0 { RETRY } else { PAUSE };
            self.renew_at = self.renew_at.min(self.called_at.saturating_add(pause));
        }
        let begins = boot_time >= self.renew_at && self.in_flight.is_none();
        if begins {
            self.begun_at = boot_time;
            self.in_flight = Some(InFlight { is_outdated: false });
        }
        begins.then(|| RenewalRequest {
            lease: self.lease.clone(),
            // Not below the held span, such as after a step back.
            wish_ms: now_ms
                .saturating_add(self.lease.lease_ms.unwrap_or(SPAN_WISH_MS))
                .max(self.lease.until_ms),
        })
    }

    /// The clock has leapt at this boot time, as in a copy of the machine that goes on: another copy may have the lease by
    /// now. If no call has begun since, the next one is due.
    pub(crate) fn leapt(&mut self, at: Duration) {
        if at > self.begun_at {
            self.renew_at = self.renew_at.min(at);
        }
    }

    /// The call in flight has ended. `asked` is the boot time before it; `boot_time` and `now_ms` are the current clocks.
    pub(crate) fn call_ended(
        &mut self,
        answer: RenewalAnswer,
        layout: &Layout,
        asked: Duration,
        boot_time: Duration,
        now_ms: i64,
    ) -> RenewalEnd {
        let is_outdated = self.is_outdated();
        self.in_flight = None;
        self.called_at = boot_time;
        let error = match answer {
            RenewalAnswer::Renewed(renewal) => match self.take(renewal, layout, asked, now_ms) {
                Ok(()) => {
                    self.renewed(asked, now_ms);
                    return RenewalEnd::Kept;
                }
                Err(error) => error,
            },
            RenewalAnswer::NotHeld | RenewalAnswer::Lost(_) if is_outdated => {
                self.renew_at = boot_time;
                return RenewalEnd::Failed(self.outdated());
            }
            RenewalAnswer::NotHeld => {
                return RenewalEnd::Lost(self.lost("is no longer held here, as its source reports"));
            }
            RenewalAnswer::Lost(error) => return RenewalEnd::Lost(error),
            RenewalAnswer::Failed(error) => error,
        };
        self.fail(error.clone(), boot_time);
        RenewalEnd::Failed(error)
    }

    /// A call ended after it counted as failed. If none after it has succeeded, its token is the source's last one.
    /// Nothing else of it counts: another call may be in flight.
    pub(crate) fn call_ended_late(
        &mut self,
        renewal: Renewal,
        layout: &Layout,
        asked: Duration,
        now_ms: i64,
    ) {
        if asked > self.asked {
            // Why its span is of no use is known by the calls after it.
            let _ = self.take(renewal, layout, asked, now_ms);
        }
    }

    /// What a renewal brought: a token, also where its span is of no use.
    fn take(&mut self, renewal: Renewal, layout: &Layout, asked: Duration, now_ms: i64) -> Result<()> {
        if self.take_token(&renewal) {
            self.asked = asked;
        }
        let (lease, until) = self.lease.renewed(renewal, layout, now_ms)?;
        self.lease = lease;
        self.until = self.until.max(until);
        Ok(())
    }

    /// The source knows the lease by this token alone from now on. Returns whether the renewal is of this lease.
    fn take_token(&mut self, renewal: &Renewal) -> bool {
        let is_its = renewal.worker_id.is_none_or(|worker_id| worker_id == self.lease.worker_id);
        if is_its && renewal.token.is_some() && renewal.token != self.lease.token {
            self.lease.token.clone_from(&renewal.token);
            self.in_flight.iter_mut().for_each(|call| call.is_outdated = true);
        }
        is_its
    }

    fn renewed(&mut self, asked: Duration, now_ms: i64) {
        let left_ms = self.lease.until_ms.saturating_sub(now_ms);
        let life_ms = self.lease.lease_ms.map_or(left_ms, |lease_ms| lease_ms.min(left_ms)).max(20);
        self.renew_at = asked.saturating_add(Duration::from_millis(life_ms as u64 / 2));
        self.ends = self.lease.lease_ms.map(|ms| asked.saturating_add(Duration::from_millis(ms as u64)));
        self.back_off.succeeded();
        self.error = None;
    }

    fn fail(&mut self, error: Error, boot_time: Duration) {
        let left = self.ends.map_or(Duration::MAX, |ends| ends.saturating_sub(boot_time) / 4);
        self.back_off.failed(0, 0);
        self.renew_at = boot_time.saturating_add(self.back_off.duration(false).min(left.max(RETRY)));
        self.error = Some(error);
    }

    /// The current lease.
    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// The boot time before the call that made the last token.
    pub(crate) fn asked(&self) -> Duration {
        self.asked
    }

    /// The first tick that may not be used now.
    pub(crate) fn bound(&self, boot_time: Duration) -> u64 {
        if self.has_ended(boot_time) { 0 } else { self.until }
    }

    /// The time when the source may lease the worker id to another holder, without a renewal.
    pub(crate) fn ends(&self) -> Option<Duration> {
        self.ends
    }

    /// Whether the source may have leased the worker id to another holder.
    fn has_ended(&self, boot_time: Duration) -> bool {
        self.ends.is_some_and(|ends| boot_time >= ends)
    }

    /// Whether the next renewal is due, and none is in flight.
    pub(crate) fn is_due(&self, boot_time: Duration) -> bool {
        boot_time >= self.renew_at && !self.is_calling()
    }

    /// Whether a renewal is in flight.
    pub(crate) fn is_calling(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Whether the call in flight was sent with a token that is none any more.
    fn is_outdated(&self) -> bool {
        self.in_flight.is_some_and(|call| call.is_outdated)
    }

    /// Whether the last call failed and the next one is not in flight yet, or the call in flight hangs.
    pub(crate) fn has_failed(&self, boot_time: Duration) -> bool {
        self.back_off.failures() > 0 && !self.is_calling() || self.hangs_since(boot_time).is_some()
    }

    fn hangs_since(&self, boot_time: Duration) -> Option<Duration> {
        let hangs = self.is_calling() && boot_time >= self.begun_at.saturating_add(self.patience);
        hangs.then_some(self.begun_at)
    }

    /// How long until the next useful call of [`HeldLease::begin_call`].
    pub(crate) fn due_in(&self, boot_time: Duration) -> Duration {
        // The host accepts a result at once, so only a hanging call needs a check.
        let due = if self.is_calling() { self.begun_at.saturating_add(self.patience) } else { self.renew_at };
        due.saturating_sub(boot_time).max(PAUSE)
    }

    /// Whether the lease is used up and its renewal failed.
    pub(crate) fn is_over(&self, boot_time: Duration, now: u64) -> bool {
        self.has_failed(boot_time) && (self.has_ended(boot_time) || self.until <= now)
    }

    /// Why the lease has no further span.
    pub(crate) fn used_up(&self, boot_time: Duration) -> Error {
        match (self.hangs_since(boot_time), &self.error) {
            (Some(since), _) => {
                let waited = (boot_time - since).as_millis() as u64;
                self.lost(&format!(
                    "was used to its end, and its renewal, sent {waited} ms ago, has no answer: it hangs, or this process \
                     was stopped meanwhile"
                ))
            }
            (None, Some(error)) => self
                .lost(&format!("was used to its end, because it could not be renewed ({})", error.message())),
            (None, None) => self.lost("was used to its end"),
        }
    }

    /// The lease to release at a close; `None` if it is lost. `late` is the result of a renewal that ended after the
    /// close: its token is the one to release.
    pub(crate) fn into_released(mut self, late: Option<RenewalAnswer>) -> Option<Lease> {
        match late {
            // Another holder may have the worker id.
            Some(RenewalAnswer::NotHeld | RenewalAnswer::Lost(_)) if !self.is_outdated() => return None,
            Some(RenewalAnswer::Renewed(renewal)) => {
                self.take_token(&renewal);
            }
            Some(_) | None => {}
        }
        Some(self.lease)
    }

    fn outdated(&self) -> Error {
        let message = format!(
            "worker id {} has another token since this renewal was sent, by one that ended late; it is renewed again",
            self.lease.worker_id
        );
        Error::new(Code::WorkerLost, message)
    }

    fn lost(&self, what: &str) -> Error {
        let message = format!(
            "the lease of worker id {} {what}; leafid claims a new one; call again",
            self.lease.worker_id
        );
        Error::new(Code::WorkerLost, message)
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::{LayoutFields, Order};

    fn lease() -> Lease {
        let token = Some("first".into());
        Lease { worker_id: 7, until_ms: 3_000, lease_ms: Some(1_000), token, ..Lease::default() }
    }

    fn at(ms: u64) -> Duration {
        Duration::from_millis(10_000 + ms)
    }

    /// Requested at the boot time of 10 s. Its calls hang after 300 ms.
    fn held() -> HeldLease {
        let span = Span { from: 0, until: 3_000 };
        HeldLease::new(lease(), span, at(0), 1_000, Duration::from_millis(300))
    }

    fn layout() -> Layout {
        let (timestamp_bits, worker_bits, sequence_bits) = (41, 10, 12);
        let order = Order::WorkerSequence;
        let fields =
            LayoutFields { epoch_ms: 0, tick_ms: 1, timestamp_bits, worker_bits, sequence_bits, order };
        Layout::new(fields).expect("63 bits")
    }

    fn down() -> Error {
        Error::new(Code::WorkerLost, "down")
    }

    fn ends(held: &mut HeldLease, answer: RenewalAnswer, ms: u64) -> RenewalEnd {
        held.call_ended(answer, &layout(), at(ms), at(ms), 1_000 + ms as i64)
    }

    #[test]
    fn no_span_is_had_once_the_source_may_give_the_id_to_another() {
        let mut held = held();
        assert_eq!((held.bound(at(999)), held.bound(at(1_000))), (3_000, 0));
        assert!(!held.is_over(at(5_000), 3_000), "nothing failed: the source is asked first");
        ends(&mut held, RenewalAnswer::Failed(down()), 100);
        assert!(!held.is_over(at(999), 2_999));
        assert!(held.is_over(at(999), 3_000), "the span is over");
        assert!(held.is_over(at(1_000), 2_999), "the lease is");
        let why = held.used_up(at(1_000));
        assert!(why.message().contains("could not be renewed (down)"), "{why}");
    }

    #[test]
    fn a_caller_that_waits_has_the_source_called_sooner_but_not_without_a_pause() {
        let mut held = held();
        assert!(held.begin_call(at(499), 1_000, false).is_none());
        assert!(held.begin_call(at(9), 1_000, true).is_none());
        assert!(held.begin_call(at(10), 1_000, true).is_some());
        assert!(held.begin_call(at(600), 1_000, true).is_none(), "never two at once");
        assert!(!held.has_failed(at(309)) && held.has_failed(at(310)), "one that hangs has failed");
        let why = held.used_up(at(710));
        assert!(why.message().contains("sent 700 ms ago"), "{why}");
        ends(&mut held, RenewalAnswer::Failed(down()), 100);
        assert!(held.begin_call(at(299), 1_000, true).is_none());
        assert!(held.begin_call(at(300), 1_000, true).is_some());
    }

    #[test]
    fn a_renewal_is_due_when_half_of_the_lease_is_over_and_later_after_each_failure() {
        let mut held = held();
        assert_eq!(held.due_in(at(0)), Duration::from_millis(500));
        let request = held.begin_call(at(500), 1_500, false).expect("it is due");
        assert_eq!((request.lease, request.wish_ms), (lease(), 3_000), "not below what is held");
        assert_eq!(held.due_in(at(500)), Duration::from_millis(300), "to see whether it hangs");
        let renewal = Renewal { until_ms: 4_000, lease_ms: Some(4_000), ..Renewal::default() };
        assert_eq!(ends(&mut held, RenewalAnswer::Renewed(renewal), 500), RenewalEnd::Kept);
        assert_eq!((held.bound(at(4_499)), held.ends()), (4_000, Some(at(4_500))));
        for (failed_at, due) in [(2_000, 200), (2_200, 400), (2_600, 475), (4_400, 200)] {
            let end = ends(&mut held, RenewalAnswer::Failed(down()), failed_at);
            assert_eq!(end, RenewalEnd::Failed(down()));
            assert_eq!(held.due_in(at(failed_at)), Duration::from_millis(due), "{failed_at}");
        }
    }

    #[test]
    fn the_token_of_a_renewal_counts_also_where_its_span_does_not() {
        let renewal = |until_ms| Renewal { until_ms, token: Some("second".into()), ..Renewal::default() };
        let passed = renewal(4_000);
        let of_another = Renewal { worker_id: Some(8), ..renewal(9_000) };
        let too_long = Renewal { lease_ms: Some(0), ..renewal(9_000) };
        for (renewal, token) in [(passed, "second"), (of_another, "first"), (too_long, "second")] {
            let mut in_time = held();
            assert!(in_time.begin_call(at(500), 1_500, false).is_some());
            let answer = RenewalAnswer::Renewed(renewal.clone());
            let end = in_time.call_ended(answer, &layout(), at(500), at(4_000), 5_000);
            assert!(matches!(end, RenewalEnd::Failed(_)), "{end:?}");
            let mut late = held();
            late.call_ended_late(renewal, &layout(), at(500), 5_000);
            for held in [in_time, late] {
                assert_eq!((held.lease().token.as_deref(), held.bound(at(999))), (Some(token), 3_000));
                assert_eq!(held.bound(at(1_000)), 0, "it ends as before");
                let released = held.into_released(None).and_then(|lease| lease.token);
                assert_eq!(released.as_deref(), Some(token));
            }
        }
    }

    #[test]
    fn of_two_renewals_the_token_of_the_one_that_was_asked_for_last_counts() {
        let renewal =
            |until_ms, token: &str| Renewal { until_ms, token: Some(token.into()), ..Renewal::default() };
        let mut held = held();
        let passed = RenewalAnswer::Renewed(renewal(4_000, "third"));
        held.call_ended(passed, &layout(), at(700), at(4_000), 5_000);
        held.call_ended_late(renewal(9_000, "second"), &layout(), at(500), 5_000);
        assert_eq!((held.lease().token.as_deref(), held.asked()), (Some("third"), at(700)));
    }

    #[test]
    fn a_call_that_was_sent_with_an_older_token_loses_nothing() {
        let renewal =
            |token: &str| Renewal { until_ms: 4_000, token: Some(token.into()), ..Renewal::default() };
        for (token, is_lost) in [("second", false), ("first", true)] {
            for answer in [RenewalAnswer::NotHeld, RenewalAnswer::Lost(down())] {
                let mut held = held();
                assert!(held.begin_call(at(500), 1_500, false).is_some());
                held.call_ended_late(renewal(token), &layout(), at(100), 1_500);
                let given_back = held.clone().into_released(Some(answer.clone()));
                assert_eq!(given_back.and_then(|lease| lease.token).is_none(), is_lost);
                let end = ends(&mut held, answer, 600);
                assert_eq!(matches!(end, RenewalEnd::Lost(_)), is_lost, "{end:?}");
                if !is_lost {
                    let again = held.begin_call(at(600), 1_600, false).expect("it is due at once");
                    assert_eq!(again.lease.token.as_deref(), Some("second"));
                    assert!(matches!(ends(&mut held, RenewalAnswer::NotHeld, 700), RenewalEnd::Lost(_)));
                }
            }
        }
    }

    #[test]
    fn what_is_given_back_is_what_a_late_renewal_left() {
        let renewal = |token: Option<&str>| {
            let renewal = Renewal { token: token.map(Into::into), ..Renewal::default() };
            Some(RenewalAnswer::Renewed(renewal))
        };
        for (late, token) in [
            (renewal(Some("second")), Some("second")),
            (renewal(None), Some("first")),
            (Some(RenewalAnswer::NotHeld), None),
            (Some(RenewalAnswer::Lost(down())), None),
            (Some(RenewalAnswer::Failed(down())), Some("first")),
            (None, Some("first")),
        ] {
            let given_back = held().into_released(late);
            assert_eq!(given_back.and_then(|lease| lease.token).as_deref(), token);
        }
    }
}
