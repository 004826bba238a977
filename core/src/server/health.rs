//! The health of a source's servers: which one is asked next, and which ones back off after a failure.
//!
//! Construct: [`ServersHealth::new`]. Poll: [`ServersHealth::choose`], which begins an attempt. Events, by which an attempt
//! ends: [`ServersHealth::succeeded`], [`ServersHealth::failed`], [`ServersHealth::cancelled`]. Event:
//! [`ServersHealth::forget`]. Queries: all others.
//!
//! A server is in one of these states for each tag, the worse one of its own and of the tag's at this server:
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | healthy | an attempt fails | backing off |
//! | backing off | its back-off is over | may be probed |
//! | may be probed | it is chosen | probed: one attempt at a time |
//! | probed | the attempt was not made | may be probed |
//! | probed | the attempt fails | backing off, for longer |
//! | any | an attempt succeeds | healthy |

use crate::sorted_map::SortedMap;
use crate::time::back_off::LONGEST_MS;
use crate::{BackOff, Code, Error};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The servers of one source, in the order of the user's list. Times are milliseconds of a clock that only goes
/// forward.
///
/// `whose` is the requested tag, or "" if all requests are alike. `urgent`: a caller waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ServersHealth {
    servers: Vec<ServerHealth>,
}

/// One request to one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// Its place in the list.
    pub server: usize,
    /// Whether it checks if a failed server still fails.
    pub probes: bool,
    /// The time of its start.
    pub begun_ms: i64,
}

impl ServersHealth {
    /// A list of `count` healthy servers.
    pub fn new(count: usize) -> ServersHealth {
        let mut servers = Vec::new();
        servers.resize_with(count, ServerHealth::default);
        ServersHealth { servers }
    }

    /// The next server among those that were not tried yet: the first one that may be asked. If a caller waits, those
    /// that failed lately come last.
    pub fn choose(&mut self, whose: &str, untried: &[usize], now_ms: i64, urgent: bool) -> Option<Attempt> {
        let alone = self.is_alone(whose, now_ms, urgent);
        let comes_first = |at: &&usize| self.servers[**at].comes_first(whose, now_ms, urgent);
        let (first, then): (Vec<usize>, Vec<usize>) = untried.iter().partition(comes_first);
        let may_be_asked = |at: &usize| {
            !matches!(self.servers[*at].readiness(whose, now_ms, alone), Readiness::BacksOffUntil(_))
        };
        let ready = first.into_iter().chain(then).find(may_be_asked);
        let denied = |at: &usize| self.servers[*at].only_denied(whose, now_ms);
        let server = ready.or_else(|| untried.iter().copied().find(denied))?;
        let probes = self.servers[server].begin(whose);
        Some(Attempt { server, probes, begun_ms: now_ms })
    }

    /// The attempt was not made.
    pub fn cancelled(&mut self, attempt: Attempt, whose: &str) {
        if attempt.probes {
            self.servers[attempt.server].end_probe(whose);
        }
    }

    /// The server returned a correct response.
    pub fn succeeded(&mut self, attempt: Attempt, whose: &str) {
        self.servers[attempt.server].succeeded(whose, attempt.probes);
    }

    /// The server returned no response or a wrong one. `seed` makes the back-off differ.
    pub fn failed(&mut self, attempt: Attempt, whose: &str, now_ms: i64, seed: u64, failure: ServerFailure) {
        self.servers[attempt.server].failed(whose, attempt, now_ms, seed, failure);
    }

    /// This tag is unused now: its own back-off is dropped, and that of the servers stays.
    pub fn forget(&mut self, whose: &str) {
        self.servers.iter_mut().for_each(|server| drop(server.of_tags.remove(whose)));
    }

    /// Whether the server may be asked.
    pub fn is_ready(&self, at: usize, whose: &str, now_ms: i64, urgent: bool) -> bool {
        !matches!(self.readiness(at, whose, now_ms, urgent), Readiness::BacksOffUntil(_))
    }

    /// How long until any server may be asked; `None` if one may be asked now.
    pub fn back_off_ms(&self, now_ms: i64, urgent: bool) -> Option<i64> {
        let back_offs = (0..self.servers.len()).map(|at| match self.readiness(at, "", now_ms, urgent) {
            Readiness::BacksOffUntil(until_ms) => Some((until_ms - now_ms).max(1)),
            Readiness::Healthy | Readiness::MayBeProbed => None,
        });
        back_offs.min().flatten()
    }

    /// Whether every server has denied this tag, as far as is known, and none has responded correctly since.
    pub fn denies(&self, whose: &str) -> bool {
        self.servers.iter().all(|server| server.failure(whose).is_some_and(|(_, denied)| denied))
    }

    /// The error while all servers back off: that of the last one in the list, for this tag or of the server itself.
    pub fn error(&self, whose: &str) -> Error {
        let last = self.servers.iter().rev().find_map(|server| server.failure(whose)).map(|(error, _)| error);
        last.unwrap_or_else(|| Error::new(Code::SegmentUnavailable, "no server could be asked in time"))
    }

    /// The last error of each server; `None` if it did not fail, or has responded correctly since.
    pub fn last_errors(&self) -> impl Iterator<Item = Option<&Error>> {
        self.servers.iter().map(|server| server.last_error.as_ref())
    }

    fn readiness(&self, at: usize, whose: &str, now_ms: i64, urgent: bool) -> Readiness {
        self.servers[at].readiness(whose, now_ms, self.is_alone(whose, now_ms, urgent))
    }

    /// Whether a caller waits and no server is healthy.
    fn is_alone(&self, whose: &str, now_ms: i64, urgent: bool) -> bool {
        let is_healthy = |server: &ServerHealth| server.readiness(whose, now_ms, false) == Readiness::Healthy;
        urgent && !self.servers.iter().any(is_healthy)
    }
}

/// The health of one server.
///
/// A request is for a tag, or for "" if all requests are alike. A wrong response may be wrong only for its tag, so only
/// the tag's requests back off. No response, and wrong responses to many tags in a row, concern the whole server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ServerHealth {
    whole: BackOffState,
    /// The tag of the last failure of the whole server.
    asked_by: Box<str>,
    /// The tags with a wrong response and no correct one since.
    of_tags: SortedMap<Box<str>, BackOffState>,
    /// The number of correct responses, and the number of tags with a wrong response since the last of them.
    answers: u64,
    wrong_for: usize,
    last_error: Option<Error>,
}

/// The back-off of a server, or of a tag at this server, and its last failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct BackOffState {
    back_off: BackOff,
    failed_at_ms: i64,
    /// Whether a probe is running, after a failure.
    is_probed: bool,
    failure: Option<ServerFailure>,
    /// [`ServerHealth::answers`] at its last failure.
    answers: Option<u64>,
}

/// The failure of a request to a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerFailure {
    /// The error for the caller.
    pub error: Error,
    /// The error for callers of other tags.
    pub of_server: Error,
    /// It does not depend on the tag: there was no response, or the server is busy or broken.
    pub is_whole: bool,
    /// It stays the same until somebody changes the server or the options.
    pub is_denied: bool,
}

/// When a server may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Readiness {
    Healthy,
    /// It failed, and its back-off is over: one attempt at a time may probe it.
    MayBeProbed,
    /// Not before this time.
    BacksOffUntil(i64),
}

/// How long until a server that is already probed is checked again.
const PROBE_MS: i64 = 200;
/// After wrong responses to this number of tags in a row, the whole server counts as failed.
const WRONG_FOR: usize = 8;

impl BackOffState {
    fn readiness(&self, now_ms: i64, urgent: bool) -> Readiness {
        match self.back_off.ready_at_ms(urgent) {
            None => Readiness::Healthy,
            Some(_) if self.is_probed => Readiness::BacksOffUntil(now_ms + PROBE_MS),
            Some(ready_at_ms) if ready_at_ms <= now_ms => Readiness::MayBeProbed,
            Some(ready_at_ms) => Readiness::BacksOffUntil(ready_at_ms),
        }
    }

    fn comes_first(&self, now_ms: i64, urgent: bool) -> bool {
        match self.readiness(now_ms, urgent) {
            Readiness::Healthy => true,
            Readiness::MayBeProbed => !urgent || now_ms - self.failed_at_ms >= LONGEST_MS,
            Readiness::BacksOffUntil(_) => false,
        }
    }

    /// Records a failure. Requests that ran together when it failed count as one.
    fn failed(&mut self, begun_ms: i64, now_ms: i64, seed: u64, failure: ServerFailure) {
        if self.back_off.failures() == 0 || begun_ms >= self.failed_at_ms {
            self.back_off.failed(now_ms, seed);
            self.failed_at_ms = now_ms;
        }
        self.failure = Some(failure);
    }
}

impl ServerHealth {
    /// The readiness of the server for this tag.
    fn readiness(&self, whose: &str, now_ms: i64, urgent: bool) -> Readiness {
        let of_tag = self.of_tags.get(whose).map(|state| state.readiness(now_ms, urgent));
        self.whole.readiness(now_ms, urgent).max(of_tag.unwrap_or(Readiness::Healthy))
    }

    /// Whether it may be asked before healthy servers, because it comes earlier in the list. A waiting caller does not
    /// pay for this check, except once after the longest back-off.
    fn comes_first(&self, whose: &str, now_ms: i64, urgent: bool) -> bool {
        let of_tag = self.of_tags.get(whose).is_none_or(|state| state.comes_first(now_ms, urgent));
        of_tag && self.whole.comes_first(now_ms, urgent)
    }

    /// Whether it backs off only because it denied this tag: then the tag's own back-off decides.
    fn only_denied(&self, whose: &str, now_ms: i64) -> bool {
        let denied = |state: &BackOffState| state.failure.as_ref().is_some_and(|failure| failure.is_denied);
        self.of_tags.get(whose).is_some_and(denied)
            && !matches!(self.whole.readiness(now_ms, true), Readiness::BacksOffUntil(_))
    }

    fn failing(&mut self, whose: &str) -> impl Iterator<Item = &mut BackOffState> {
        let failing = |state: &&mut BackOffState| state.back_off.failures() > 0;
        core::iter::once(&mut self.whole).chain(self.of_tags.get_mut(whose)).filter(failing)
    }

    /// Starts an attempt and returns whether it is a probe.
    fn begin(&mut self, whose: &str) -> bool {
        self.failing(whose).map(|state| state.is_probed = true).count() > 0
    }

    /// A probe has ended, or was not made.
    fn end_probe(&mut self, whose: &str) {
        self.failing(whose).for_each(|state| state.is_probed = false);
    }

    fn succeeded(&mut self, whose: &str, probed: bool) {
        if probed {
            self.end_probe(whose);
        }
        self.whole.back_off.succeeded();
        self.of_tags.remove(whose);
        // Without a tag that failed, nothing is compared with it.
        self.answers = if self.of_tags.is_empty() { 0 } else { self.answers + 1 };
        (self.wrong_for, self.last_error) = (0, None);
    }

    fn failed(&mut self, whose: &str, attempt: Attempt, now_ms: i64, seed: u64, failure: ServerFailure) {
        let Attempt { probes, begun_ms, .. } = attempt;
        if probes {
            self.end_probe(whose);
        }
        self.last_error = Some(failure.error.clone());
        let mut is_whole = failure.is_whole || whose.is_empty();
        if !is_whole {
            let state = self.of_tags.or_default(whose.into());
            if state.answers.replace(self.answers) != Some(self.answers) {
                self.wrong_for += 1;
            }
            state.failed(begun_ms, now_ms, seed, failure.clone());
            is_whole = self.wrong_for >= WRONG_FOR;
        }
        if is_whole {
            self.whole.failed(begun_ms, now_ms, seed, failure);
            self.asked_by = whose.into();
        }
    }

    /// The error while it backs off, or until its next correct response; and whether it denied the request.
    fn failure(&self, whose: &str) -> Option<(Error, bool)> {
        let failing = |state: &&BackOffState| state.back_off.failures() > 0;
        let told = self.of_tags.get(whose).filter(failing).and_then(|state| state.failure.as_ref());
        let told = told.map(|failure| (failure.error.clone(), failure.is_denied));
        told.or_else(|| {
            let failure = Some(&self.whole).filter(failing)?.failure.as_ref()?;
            let error = if *self.asked_by == *whose { &failure.error } else { &failure.of_server };
            Some((error.clone(), failure.is_denied))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;
    use alloc::format;

    fn failure(is_whole: bool, is_denied: bool) -> ServerFailure {
        let error = |text| Error::new(Code::SegmentUnavailable, text);
        ServerFailure { error: error("down"), of_server: error("down for others"), is_whole, is_denied }
    }

    /// An attempt that is not a probe fails at once.
    fn fail(server: &mut ServerHealth, whose: &str, now_ms: i64, failure: ServerFailure) {
        let attempt = Attempt { server: 0, probes: false, begun_ms: now_ms };
        server.failed(whose, attempt, now_ms, 0, failure);
    }

    #[test]
    fn one_that_failed_comes_last_while_a_caller_waits_but_not_for_ever() {
        for is_whole in [true, false] {
            let mut server = ServerHealth::default();
            assert!(server.comes_first("a", 0, true));
            fail(&mut server, "a", 50, failure(is_whole, false));
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
        let mut server = ServerHealth::default();
        for now_ms in 0..20 {
            fail(&mut server, "bad", now_ms, failure(false, true));
        }
        assert_eq!(server.readiness("good", 20, true), Readiness::Healthy);
        assert_eq!(server.failure("good"), None);
        assert!(server.failure("bad").is_some_and(|(error, denied)| error.message() == "down" && denied));
        for tag in 1..WRONG_FOR {
            assert_eq!(server.readiness("good", 20, true), Readiness::Healthy, "{tag} wrong ones");
            fail(&mut server, &format!("bad{tag}"), 20, failure(false, true));
        }
        assert_eq!(server.readiness("good", 20, true), Readiness::BacksOffUntil(220));
        let told = server.failure("good");
        assert!(told.is_some_and(|(error, denied)| error.message() == "down for others" && denied));
        let probes = server.begin("good");
        server.succeeded("good", probes);
        assert_eq!(server.readiness("good", 221, true), Readiness::Healthy);
        assert_ne!(server.readiness("bad", 221, true), Readiness::Healthy);
        // Tags that were wrong before it answered count again.
        (0..WRONG_FOR).for_each(|tag| fail(&mut server, &format!("bad{tag}"), 221, failure(false, true)));
        assert_eq!(server.readiness("good", 221, true), Readiness::BacksOffUntil(421));
    }

    /// The chosen server; 9 for none.
    fn chosen(servers: &mut ServersHealth, now_ms: i64, urgent: bool) -> (usize, bool) {
        servers.choose("a", &[0, 1], now_ms, urgent).map_or((9, false), |begun| (begun.server, begun.probes))
    }

    #[test]
    fn the_first_healthy_server_is_asked_and_one_that_failed_is_probed_by_one_at_a_time() {
        let mut servers = ServersHealth::new(2);
        let first = servers.choose("a", &[0, 1], 0, true).unwrap_or_else(|| unreachable!("both are healthy"));
        assert_eq!(first, Attempt { server: 0, probes: false, begun_ms: 0 });
        servers.failed(first, "a", 0, 0, failure(true, false));
        assert_eq!(chosen(&mut servers, 199, true), (1, false), "the first one backs off");
        assert_eq!(chosen(&mut servers, 200, true), (1, false), "no caller that waits pays for a probe");
        let probe = servers.choose("a", &[0, 1], 200, false);
        assert_eq!(probe, Some(Attempt { server: 0, probes: true, begun_ms: 200 }));
        assert_eq!(chosen(&mut servers, 200, false), (1, false), "one at a time");
        let probe = probe.unwrap_or(first);
        servers.cancelled(probe, "a");
        assert_eq!(chosen(&mut servers, 200, false), (0, true), "it was not made");
        servers.succeeded(probe, "a");
        assert_eq!(chosen(&mut servers, 200, true), (0, false));
    }

    /// Three failures in a row, after which it backs off for 800 ms from 0 ms on, or 400 for a caller that waits.
    fn fail_thrice(servers: &mut ServersHealth, server: usize) {
        for begun_ms in -2..=0 {
            let attempt = Attempt { server, probes: false, begun_ms };
            servers.failed(attempt, "a", begun_ms, 0, failure(true, false));
        }
    }

    #[test]
    fn a_server_is_asked_sooner_only_for_a_caller_that_waits_while_no_other_is_healthy() {
        let mut servers = ServersHealth::new(2);
        let ready =
            |servers: &ServersHealth| [true, false].map(|urgent| servers.is_ready(0, "a", 400, urgent));
        fail_thrice(&mut servers, 0);
        assert_eq!(ready(&servers), [false, false], "the other one is healthy");
        fail_thrice(&mut servers, 1);
        assert_eq!(ready(&servers), [true, false]);
        assert_eq!([799, 800].map(|now_ms| servers.is_ready(0, "a", now_ms, false)), [false, true]);
    }

    #[test]
    fn a_server_that_is_probed_may_be_asked_after_200_ms() {
        let mut servers = ServersHealth::new(1);
        fail_thrice(&mut servers, 0);
        assert!(servers.choose("a", &[0], 900, true).is_some_and(|attempt| attempt.probes));
        assert_eq!(servers.back_off_ms(900, true), Some(PROBE_MS));
    }

    #[test]
    fn a_server_that_answers_has_no_failure_any_more() {
        let mut servers = ServersHealth::new(1);
        fail_thrice(&mut servers, 0);
        let attempt = Attempt { server: 0, probes: false, begun_ms: 800 };
        servers.failed(attempt, "a", 800, 0, failure(true, true));
        assert!(servers.denies("a"));
        servers.succeeded(attempt, "a");
        assert!(!servers.denies("a"));
        assert_eq!(servers.error("a").message(), "no server could be asked in time");
    }

    #[test]
    fn a_tag_that_is_denied_is_asked_for_only_at_a_server_that_does_not_back_off() {
        let mut servers = ServersHealth::new(1);
        let attempt = Attempt { server: 0, probes: false, begun_ms: 0 };
        servers.failed(attempt, "a", 0, 0, failure(false, false));
        assert_eq!(servers.choose("a", &[0], 1, true), None, "a wrong response is no denial");
        servers.failed(attempt, "a", 0, 0, failure(false, true));
        assert!(servers.choose("a", &[0], 1, true).is_some());
        servers.failed(attempt, "b", 1, 0, failure(true, false));
        assert_eq!(servers.choose("a", &[0], 2, true), None);
    }
}
