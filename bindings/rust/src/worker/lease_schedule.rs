//! A lease as a generator holds it: when it is renewed, and what is left of it.

use crate::os::env::Env;
use crate::os::mutex::{FIRST_RETRY, lock, retry_delay};
use crate::worker::source::{self, WorkerLeases};
use leafid_core::{Code, Error, Layout, Lease, Renewal, Span};
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How far ahead of the clock a span is wished for, where the giver names no time of its own: so long an outage of the
/// giver is bridged.
pub(crate) const WISH_MS: i64 = 30_000;
/// However short the spans are that it gives, the giver is not called without a pause.
const PAUSE: Duration = Duration::from_millis(10);

/// A lease that is held. Times are of the suspend-counting clock, from before the call that the giver answered.
pub(crate) struct Held {
    pub(crate) source: Arc<dyn WorkerLeases>,
    pub(crate) lease: Lease,
    /// The first tick outside it.
    pub(crate) until: u64,
    /// When it is to be renewed: half-way, or after a failure.
    renew_at: Duration,
    /// When the giver may give the id to another: no further span is taken from then on.
    ends: Option<Duration>,
    /// Calls that failed since the last that did not, and how the last one did.
    failed: u32,
    error: Option<Error>,
    /// When the last call ended, and when the one under way began.
    called_at: Duration,
    called_since: Duration,
    /// A call that takes longer hangs.
    patience: Duration,
    pub(crate) call: Arc<Call>,
}

/// The call of the giver: never two at once.
#[derive(Default)]
pub(crate) struct Call {
    under_way: AtomicBool,
    /// What was answered after the generator was closed: its token is the one to give back.
    late: Mutex<Option<Option<Renewal>>>,
}

impl Call {
    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way.load(Acquire)
    }

    pub(crate) fn ends(&self) {
        self.under_way.store(false, Release);
    }

    /// Ends it for whoever closed the generator meanwhile.
    pub(crate) fn ends_late(&self, answer: source::Answer<Option<Renewal>>) {
        *lock(&self.late) = answer.ok();
        self.ends();
    }

    /// The lease as it is to be given back; none if it is lost.
    pub(crate) fn latest(&self, lease: Lease) -> Option<Lease> {
        match lock(&self.late).take() {
            None => Some(lease),
            Some(None) => None,
            Some(Some(renewal)) => Some(Lease { token: renewal.token.or(lease.token), ..lease }),
        }
    }
}

/// What the giver is called with.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) source: Arc<dyn WorkerLeases>,
    pub(crate) lease: Lease,
    /// Where the span is wished to end.
    pub(crate) wish_ms: i64,
    pub(crate) call: Arc<Call>,
}

/// How a renewal ended.
pub(crate) enum Renewed {
    Kept,
    Failed(Error),
    /// The id is no longer this holder's.
    Lost(Error),
}

impl Held {
    /// `asked`: the suspend-counting clock before the claim.
    pub(crate) fn new(
        source: Arc<dyn WorkerLeases>,
        lease: Lease,
        span: Span,
        asked: Duration,
        now_ms: i64,
        patience: Duration,
    ) -> Held {
        let mut held = Held {
            source,
            lease,
            until: span.until,
            renew_at: asked,
            ends: None,
            failed: 0,
            error: None,
            called_at: asked,
            called_since: asked,
            patience,
            call: Arc::default(),
        };
        held.answered(asked, now_ms);
        held
    }

    fn answered(&mut self, asked: Duration, now_ms: i64) {
        let left_ms = self.lease.until_ms.saturating_sub(now_ms);
        let life_ms = self.lease.lease_ms.map_or(left_ms, |lease_ms| lease_ms.min(left_ms)).max(20);
        self.renew_at = asked + Duration::from_millis(life_ms as u64 / 2);
        self.ends = self.lease.lease_ms.map(|ms| asked + Duration::from_millis(ms as u64));
        self.failed = 0;
        self.error = None;
    }

    /// The first tick that may not be had now.
    pub(crate) fn bound(&self, counted: Duration) -> u64 {
        if self.has_ended(counted) { 0 } else { self.until }
    }

    /// Whether the giver may have given the id to another.
    fn has_ended(&self, counted: Duration) -> bool {
        self.ends.is_some_and(|ends| counted >= ends)
    }

    /// What to call the giver with, if that is to be done now; then the call is under way. `waited_for`: by a caller that
    /// has no span.
    pub(crate) fn begin_call(&mut self, counted: Duration, now_ms: i64, waited_for: bool) -> Option<Ask> {
        if waited_for {
            let pause = if self.failed > 0 { FIRST_RETRY } else { PAUSE };
            self.renew_at = self.renew_at.min(self.called_at + pause);
        }
        let begins = counted >= self.renew_at && !self.call.under_way.swap(true, AcqRel);
        if begins {
            self.called_since = counted;
        }
        begins.then(|| Ask {
            source: Arc::clone(&self.source),
            lease: self.lease.clone(),
            // Not below what is held, as after a step back.
            wish_ms: now_ms.saturating_add(self.lease.lease_ms.unwrap_or(WISH_MS)).max(self.lease.until_ms),
            call: Arc::clone(&self.call),
        })
    }

    /// When the giver may give the id to another, if it is not renewed.
    pub(crate) fn ends(&self) -> Option<Duration> {
        self.ends
    }

    pub(crate) fn is_calling(&self) -> bool {
        self.call.is_under_way()
    }

    /// Whether the last call failed and the next is not under way yet, or the one under way hangs.
    pub(crate) fn has_failed(&self, counted: Duration) -> bool {
        self.failed > 0 && !self.is_calling() || self.hangs(counted)
    }

    fn hangs(&self, counted: Duration) -> bool {
        self.is_calling() && counted >= self.called_since + self.patience
    }

    /// How long until the giver is to be called.
    pub(crate) fn due_in(&self, counted: Duration) -> Duration {
        // A call that ends says so itself.
        let due = if self.is_calling() { self.called_since + self.patience } else { self.renew_at };
        due.saturating_sub(counted).max(PAUSE)
    }

    /// Takes the answer of a renewal that was asked for at `asked`.
    pub(crate) fn take(
        &mut self,
        answer: source::Answer<Option<Renewal>>,
        asked: Duration,
        layout: &Layout,
        env: &Env,
    ) -> Renewed {
        let (counted, now_ms) = (env.clock.boot_time(), env.clock.filtered_ms());
        self.called_at = counted;
        let error = match answer {
            Ok(Some(renewal)) => match self.lease.renewed(renewal, layout, now_ms) {
                Ok((lease, until)) => {
                    self.lease = lease;
                    self.until = self.until.max(until);
                    self.answered(asked, now_ms);
                    return Renewed::Kept;
                }
                Err(error) => error,
            },
            Ok(None) => return Renewed::Lost(self.lost("is no longer this holder's, as its giver says")),
            Err(error) => match error.downcast::<Error>() {
                Ok(error) if error.code() == Code::WorkerLost => return Renewed::Lost(*error),
                Ok(error) => *error,
                Err(error) => source::failed("the renewal of the lease", error),
            },
        };
        self.fail(error.clone(), counted);
        Renewed::Failed(error)
    }

    fn fail(&mut self, error: Error, counted: Duration) {
        let left = self.ends.map_or(Duration::MAX, |ends| ends.saturating_sub(counted) / 4);
        self.renew_at = counted + retry_delay(self.failed).min(left.max(FIRST_RETRY));
        self.failed = self.failed.saturating_add(1);
        self.error = Some(error);
    }

    /// Whether nothing is left of it, and the giver could not be asked for more.
    pub(crate) fn is_over(&self, counted: Duration, now: u64) -> bool {
        self.has_failed(counted) && (self.has_ended(counted) || self.until <= now)
    }

    /// Why nothing more can be had of it.
    pub(crate) fn used_up(&self, counted: Duration) -> Error {
        match &self.error {
            _ if self.hangs(counted) => {
                let waited = (counted - self.called_since).as_millis();
                self.lost(&format!("was used to its end, and its renewal has not answered for {waited} ms"))
            }
            Some(error) => {
                self.lost(&format!("was used to its end, for it could not be renewed ({})", error.message()))
            }
            None => self.lost("was used to its end"),
        }
    }

    fn lost(&self, what: &str) -> Error {
        let message = format!(
            "the lease of worker id {} {what}; a new one is claimed by itself, ask again",
            self.lease.worker_id
        );
        Error::new(Code::WorkerLost, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::source::Silent;

    fn lease() -> Lease {
        let token = Some("first".into());
        Lease { worker_id: 7, until_ms: 3_000, lease_ms: Some(1_000), token, ..Lease::default() }
    }

    fn at(ms: u64) -> Duration {
        Duration::from_millis(10_000 + ms)
    }

    /// Asked for at 10 s by the suspend-counting clock; its calls hang after 300 ms.
    fn held() -> Held {
        let span = Span { from: 0, until: 3_000 };
        Held::new(Arc::new(Silent), lease(), span, at(0), 1_000, Duration::from_millis(300))
    }

    fn down() -> Error {
        Error::new(Code::WorkerLost, "down")
    }

    #[test]
    fn no_span_is_had_once_the_giver_may_give_the_id_to_another() {
        let mut held = held();
        assert_eq!((held.bound(at(999)), held.bound(at(1_000))), (3_000, 0));
        assert!(!held.is_over(at(5_000), 3_000), "nothing failed: it is asked first");
        held.fail(down(), at(100));
        assert!(!held.is_over(at(999), 2_999));
        assert!(held.is_over(at(999), 3_000), "the span is over");
        assert!(held.is_over(at(1_000), 2_999), "the lease is");
        let why = held.used_up(at(1_000));
        assert!(why.message().contains("could not be renewed (down)"), "{why}");
    }

    #[test]
    fn who_waits_has_the_giver_called_sooner_but_not_without_a_pause() {
        let mut held = held();
        assert!(held.begin_call(at(499), 1_000, false).is_none());
        assert!(held.begin_call(at(9), 1_000, true).is_none());
        assert!(held.begin_call(at(10), 1_000, true).is_some());
        assert!(held.begin_call(at(600), 1_000, true).is_none(), "never two at once");
        assert!(!held.has_failed(at(309)) && held.has_failed(at(310)), "one that hangs has failed");
        let why = held.used_up(at(710));
        assert!(why.message().contains("has not answered for 700 ms"), "{why}");
        held.call.ends();
        held.fail(down(), at(100));
        assert!(held.begin_call(at(199), 1_000, true).is_none());
        assert!(held.begin_call(at(200), 1_000, true).is_some());
    }

    #[test]
    fn what_is_given_back_is_what_a_late_renewal_left() {
        let renewal = |token: Option<&str>| Renewal { token: token.map(Into::into), ..Renewal::default() };
        for (answer, token) in [
            (Ok(Some(renewal(Some("second")))), Some("second")),
            (Ok(Some(renewal(None))), Some("first")),
            (Ok(None), None),
            (Err("down".into()), Some("first")),
        ] {
            let call = Call::default();
            call.under_way.store(true, Release);
            call.ends_late(answer);
            assert!(!call.is_under_way());
            let latest = call.latest(lease());
            assert_eq!(latest.and_then(|lease| lease.token).as_deref(), token);
        }
    }
}
