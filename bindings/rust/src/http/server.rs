//! What is known of each server: its connections, and whether it rests because it failed.

use leafid_core::{BackOff, Error, LONGEST_MS};
use std::time::Instant;
use ureq::Agent;

/// One server as this process knows it. Times are milliseconds of a clock that only goes forward.
#[derive(Default)]
pub(super) struct Server {
    back_off: BackOff,
    failed_at_ms: i64,
    /// It failed last, and a request finds out whether it still does.
    is_probed: bool,
    last_error: Option<Error>,
    agent: Option<Agent>,
}

/// When a server may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Healthy,
    /// It failed, and has rested: one request at a time may find out more.
    Rested,
    /// Not before.
    RestsUntil(i64),
}

/// A server that is asked by another request meanwhile is looked at again after this.
const PROBE_MS: i64 = 200;

impl Server {
    /// `urgent`: somebody waits, and no other server is healthy.
    pub(super) fn readiness(&self, now_ms: i64, urgent: bool) -> Readiness {
        match self.back_off.ready_at_ms(urgent) {
            None => Readiness::Healthy,
            Some(_) if self.is_probed => Readiness::RestsUntil(now_ms + PROBE_MS),
            Some(ready_at_ms) if ready_at_ms <= now_ms => Readiness::Rested,
            Some(ready_at_ms) => Readiness::RestsUntil(ready_at_ms),
        }
    }

    /// Whether it may be asked before others that are healthy, for it stands before them in the list. Somebody who waits is
    /// not to pay for finding out, but for once after the longest rest.
    pub(super) fn comes_first(&self, now_ms: i64, urgent: bool) -> bool {
        match self.readiness(now_ms, urgent) {
            Readiness::Healthy => true,
            Readiness::Rested => !urgent || now_ms - self.failed_at_ms >= LONGEST_MS,
            Readiness::RestsUntil(_) => false,
        }
    }

    /// A request to it begins. Whether it is a probe, to be said when it ends.
    pub(super) fn begin(&mut self) -> bool {
        let probes = self.back_off.failures() > 0;
        self.is_probed |= probes;
        probes
    }

    /// A probe that was not made after all.
    pub(super) fn gave_up(&mut self) {
        self.is_probed = false;
    }

    pub(super) fn succeeded(&mut self, probed: bool) {
        self.is_probed &= !probed;
        self.back_off.succeeded();
        self.last_error = None;
    }

    /// Requests that were under way together when it failed count as one.
    pub(super) fn failed(&mut self, probed: bool, begun_ms: i64, now_ms: i64, seed: u64, error: Error) {
        self.is_probed &= !probed;
        if self.back_off.failures() == 0 || begun_ms >= self.failed_at_ms {
            self.back_off.failed(now_ms, seed);
            self.failed_at_ms = now_ms;
        }
        self.last_error = Some(error);
    }

    pub(super) fn last_error(&self) -> Option<&Error> {
        self.last_error.as_ref()
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

    #[test]
    fn one_that_failed_comes_last_while_somebody_waits_but_not_for_ever() {
        let mut server = Server::default();
        assert!(server.comes_first(0, true));
        server.failed(false, 0, 50, 7, Error::new(Code::SegmentUnavailable, "down"));
        for (now_ms, for_prefetch, for_who_waits) in
            [(60, false, false), (250, true, false), (10_049, true, false), (10_050, true, true)]
        {
            let comes_first = [false, true].map(|urgent| server.comes_first(now_ms, urgent));
            assert_eq!(comes_first, [for_prefetch, for_who_waits], "{now_ms}");
        }
        assert!(server.begin(), "it is a probe");
        assert!(!server.comes_first(20_000, true), "one at a time");
        server.succeeded(true);
        assert!(server.comes_first(20_000, true));
    }
}
