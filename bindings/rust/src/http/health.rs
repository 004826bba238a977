//! What is known of each server: its connections, and whether it rests because it failed.

use leafid_core::{BackOff, Error, LONGEST_MS};
use std::collections::BTreeMap;
use std::time::Instant;
use ureq::Agent;

/// One server as this process knows it. Times are milliseconds of a clock that only goes forward.
///
/// A request is made for somebody: a tag, or "" where all requests are alike. An answer that is wrong may be wrong for
/// that tag alone, so only the tag's requests rest; no answer, and wrong ones to many tags in a row, say it of the server.
#[derive(Default)]
pub(super) struct Server {
    whole: Rest,
    /// Who asked when it failed last as a whole.
    asked_by: Box<str>,
    /// Of each tag that it answered wrongly, and not rightly since.
    of_tags: BTreeMap<Box<str>, Rest>,
    /// Right answers so far, and the tags that were answered wrongly since the last of them.
    answers: u64,
    wrong_for: usize,
    last_error: Option<Error>,
    agent: Option<Agent>,
}

/// Whether it is asked, and what it failed with.
#[derive(Default)]
struct Rest {
    back_off: BackOff,
    failed_at_ms: i64,
    /// It failed last, and a request finds out whether it still does.
    is_probed: bool,
    failure: Option<Failure>,
    /// [`Server::answers`] at its last failure.
    answers: Option<u64>,
}

/// What a request to a server failed with.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// As who asked is told.
    pub(super) error: Error,
    /// As others are, who asked for something else.
    pub(super) of_server: Error,
    /// It says nothing of who asked: there was no answer, or one of a server that is busy or broken.
    pub(super) is_whole: bool,
    /// It will be the same until somebody changes the server or the options.
    pub(super) is_denied: bool,
}

/// When a server may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Readiness {
    Healthy,
    /// It failed, and has rested: one request at a time may find out more.
    Rested,
    /// Not before.
    RestsUntil(i64),
}

/// A server that is asked by another request meanwhile is looked at again after this.
const PROBE_MS: i64 = 200;
/// Wrong answers to so many tags in a row are the server's own fault.
const WRONG_FOR: usize = 8;

impl Rest {
    fn readiness(&self, now_ms: i64, urgent: bool) -> Readiness {
        match self.back_off.ready_at_ms(urgent) {
            None => Readiness::Healthy,
            Some(_) if self.is_probed => Readiness::RestsUntil(now_ms + PROBE_MS),
            Some(ready_at_ms) if ready_at_ms <= now_ms => Readiness::Rested,
            Some(ready_at_ms) => Readiness::RestsUntil(ready_at_ms),
        }
    }

    fn comes_first(&self, now_ms: i64, urgent: bool) -> bool {
        match self.readiness(now_ms, urgent) {
            Readiness::Healthy => true,
            Readiness::Rested => !urgent || now_ms - self.failed_at_ms >= LONGEST_MS,
            Readiness::RestsUntil(_) => false,
        }
    }

    /// Requests that were under way together when it failed count as one.
    fn failed(&mut self, begun_ms: i64, now_ms: i64, seed: u64, failure: Failure) {
        if self.back_off.failures() == 0 || begun_ms >= self.failed_at_ms {
            self.back_off.failed(now_ms, seed);
            self.failed_at_ms = now_ms;
        }
        self.failure = Some(failure);
    }
}

impl Server {
    /// `urgent`: somebody waits, and no other server is healthy.
    pub(super) fn readiness(&self, whose: &str, now_ms: i64, urgent: bool) -> Readiness {
        let of_tag = self.of_tags.get(whose).map(|rest| rest.readiness(now_ms, urgent));
        self.whole.readiness(now_ms, urgent).max(of_tag.unwrap_or(Readiness::Healthy))
    }

    /// Whether it may be asked before others that are healthy, for it stands before them in the list. Somebody who waits is
    /// not to pay for finding out, but for once after the longest rest.
    pub(super) fn comes_first(&self, whose: &str, now_ms: i64, urgent: bool) -> bool {
        let of_tag = self.of_tags.get(whose).is_none_or(|rest| rest.comes_first(now_ms, urgent));
        of_tag && self.whole.comes_first(now_ms, urgent)
    }

    /// Whether it rests only for it denied what this tag asks: whoever asks rests by itself, and asks for news.
    pub(super) fn only_denied(&self, whose: &str, now_ms: i64) -> bool {
        let denied = |rest: &Rest| rest.failure.as_ref().is_some_and(|failure| failure.is_denied);
        self.of_tags.get(whose).is_some_and(denied)
            && !matches!(self.whole.readiness(now_ms, true), Readiness::RestsUntil(_))
    }

    fn rests(&mut self, whose: &str) -> impl Iterator<Item = &mut Rest> {
        let failing = |rest: &&mut Rest| rest.back_off.failures() > 0;
        std::iter::once(&mut self.whole).chain(self.of_tags.get_mut(whose)).filter(failing)
    }

    /// A request to it begins. Whether it is a probe, to be said when it ends.
    pub(super) fn begin(&mut self, whose: &str) -> bool {
        self.rests(whose).map(|rest| rest.is_probed = true).count() > 0
    }

    /// A probe has ended, or was not made after all.
    pub(super) fn gave_up(&mut self, whose: &str) {
        self.rests(whose).for_each(|rest| rest.is_probed = false);
    }

    pub(super) fn succeeded(&mut self, whose: &str, probed: bool) {
        if probed {
            self.gave_up(whose);
        }
        self.whole.back_off.succeeded();
        self.of_tags.remove(whose);
        (self.answers, self.wrong_for, self.last_error) = (self.answers + 1, 0, None);
    }

    pub(super) fn failed(
        &mut self,
        whose: &str,
        probed: bool,
        begun_ms: i64,
        now_ms: i64,
        seed: u64,
        failure: Failure,
    ) {
        if probed {
            self.gave_up(whose);
        }
        self.last_error = Some(failure.error.clone());
        let mut is_whole = failure.is_whole || whose.is_empty();
        if !is_whole {
            let rest = self.of_tags.entry(whose.into()).or_default();
            if rest.answers.replace(self.answers) != Some(self.answers) {
                self.wrong_for += 1;
            }
            rest.failed(begun_ms, now_ms, seed, failure.clone());
            is_whole = self.wrong_for >= WRONG_FOR;
        }
        if is_whole {
            self.whole.failed(begun_ms, now_ms, seed, failure);
            self.asked_by = whose.into();
        }
    }

    /// What it failed with last, if it did.
    pub(super) fn last_error(&self) -> Option<&Error> {
        self.last_error.as_ref()
    }

    /// What to tell somebody while it rests, or has not answered rightly since.
    pub(super) fn failure(&self, whose: &str) -> Option<(Error, bool)> {
        let failing = |rest: &&Rest| rest.back_off.failures() > 0;
        let told = self.of_tags.get(whose).filter(failing).and_then(|rest| rest.failure.as_ref());
        let told = told.map(|failure| (failure.error.clone(), failure.is_denied));
        told.or_else(|| {
            let failure = Some(&self.whole).filter(failing)?.failure.as_ref()?;
            let error = if *self.asked_by == *whose { &failure.error } else { &failure.of_server };
            Some((error.clone(), failure.is_denied))
        })
    }

    /// Its connections.
    pub(super) fn agent(&mut self, make: impl FnOnce() -> Agent) -> Agent {
        self.agent.get_or_insert_with(make).clone()
    }

    /// Forgets its connections: they are closed once no request uses them.
    pub(super) fn forget_connections(&mut self) -> Option<Agent> {
        self.agent.take()
    }
}

/// A clock that only goes forward.
pub(super) fn since_ms(origin: Instant) -> i64 {
    // 292 million years.
    origin.elapsed().as_millis() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use leafid_core::Code;

    fn failure(is_whole: bool, is_denied: bool) -> Failure {
        let error = |text| Error::new(Code::SegmentUnavailable, text);
        Failure { error: error("down"), of_server: error("down for others"), is_whole, is_denied }
    }

    #[test]
    fn one_that_failed_comes_last_while_somebody_waits_but_not_for_ever() {
        for is_whole in [true, false] {
            let mut server = Server::default();
            assert!(server.comes_first("a", 0, true));
            server.failed("a", false, 0, 50, 7, failure(is_whole, false));
            for (now_ms, for_prefetch, for_who_waits) in
                [(60, false, false), (250, true, false), (10_049, true, false), (10_050, true, true)]
            {
                let comes_first = [false, true].map(|urgent| server.comes_first("a", now_ms, urgent));
                assert_eq!(comes_first, [for_prefetch, for_who_waits], "{now_ms}");
            }
            assert_eq!(server.comes_first("b", 60, true), !is_whole);
            let told = |whose| server.failure(whose).map(|(error, _)| error.message().to_owned());
            assert_eq!(told("a").as_deref(), Some("down"));
            assert_eq!(told("b").as_deref(), is_whole.then_some("down for others"));
            assert!(server.begin("a"), "it is a probe");
            assert!(!server.comes_first("a", 20_000, true), "one at a time");
            server.succeeded("a", true);
            assert!(server.comes_first("a", 20_000, true));
        }
    }

    #[test]
    fn what_is_wrong_for_one_tag_is_no_rest_for_others_unless_it_is_for_many() {
        let mut server = Server::default();
        for now_ms in 0..20 {
            server.failed("bad", false, now_ms, now_ms, 0, failure(false, true));
        }
        assert_eq!(server.readiness("good", 20, true), Readiness::Healthy);
        assert_eq!(server.failure("good"), None);
        assert!(server.failure("bad").is_some_and(|(error, denied)| error.message() == "down" && denied));
        for tag in 1..WRONG_FOR {
            assert_eq!(server.readiness("good", 20, true), Readiness::Healthy, "{tag} wrong ones");
            server.failed(&format!("bad{tag}"), false, 20, 20, 0, failure(false, true));
        }
        assert_eq!(server.readiness("good", 20, true), Readiness::RestsUntil(220));
        let told = server.failure("good");
        assert!(told.is_some_and(|(error, denied)| error.message() == "down for others" && denied));
        let probes = server.begin("good");
        server.succeeded("good", probes);
        assert_eq!(server.readiness("good", 221, true), Readiness::Healthy);
        assert_ne!(server.readiness("bad", 221, true), Readiness::Healthy);
    }
}
