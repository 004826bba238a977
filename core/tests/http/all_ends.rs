//! Every sequence of ends that calls to two servers can have.

use super::{Reply, SUBJECTS, Subject, World, error};
use leafid_core::http::{Exchange, ExchangeStep, HttpCall, HttpEnd, HttpResult, NoResponse};
use leafid_core::server::ServersHealth;
use std::time::Duration;

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Good,
    Page,
    Busy,
    Unauthorized,
    /// Of a tinyid: it has no ids, and it does not say why.
    Empty,
    Closed,
    Stale,
    TimedOut,
    /// By the end of another call.
    Stray,
}

const ENDS: [How; 9] = [
    How::Good,
    How::Page,
    How::Busy,
    How::Unauthorized,
    How::Empty,
    How::Closed,
    How::Stale,
    How::TimedOut,
    How::Stray,
];

/// A sequence of calls so far.
#[derive(Clone)]
struct Path {
    of: Subject,
    exchange: Exchange,
    health: ServersHealth,
    now: Duration,
    random: u128,
    ends: Vec<How>,
}

impl Path {
    /// Follows all ends of the next call. Returns the number of complete sequences.
    fn follow(mut self, stray: &HttpEnd) -> usize {
        match self.exchange.poll(&mut self.health, self.now) {
            ExchangeStep::Send(call) => {
                ENDS.iter().map(|&how| self.clone().end(*call.clone(), how, stray)).sum()
            }
            ExchangeStep::Done(result) => self.over(&result),
            ExchangeStep::Sent => panic!("{:?}: it is sent without a call", self.ends),
        }
    }

    fn end(mut self, mut call: HttpCall, how: How, stray: &HttpEnd) -> usize {
        self.ends.push(how);
        self.random += 1;
        let request = call.request(self.random);
        let sent = format!("{request:?}");
        // A claim is the same at all servers; other requests never are.
        let claims = if self.of == Subject::Claim { 1..=self.random } else { self.random..=self.random };
        let proof = claims.clone().find(|proof| sent.contains(&format!("{proof:032x}")));
        assert!(proof.is_some() || self.of == Subject::Release, "{:?}: {sent}", self.ends);
        let proof = proof.unwrap_or_default();
        if self.of == Subject::Claim && !self.ends.contains(&How::Stray) {
            assert_eq!(proof, 1, "{:?}", self.ends);
        }
        assert!(call.server < 2 && call.within <= Duration::from_secs(1), "{:?}", self.ends);
        let within = call.within;
        let end = match how {
            How::Good => Reply::good(self.of, proof).end(call).0,
            How::Page => Reply::new(200, "<html>").end(call).0,
            How::Busy => Reply::new(503, "busy").end(call).0,
            How::Unauthorized => Reply::new(401, "").end(call).0,
            How::Empty => Reply::new(200, "").end(call).0,
            How::Closed => call.failed(NoResponse::Closed, false),
            How::Stale => call.failed(NoResponse::Closed, true),
            How::TimedOut => {
                self.now += within;
                call.failed(NoResponse::TimedOut, false)
            }
            How::Stray => stray.clone(),
        };
        match self.exchange.ended(&mut self.health, end, self.now) {
            Some(result) => self.over(&result),
            None => self.follow(stray),
        }
    }

    fn over(self, result: &HttpResult) -> usize {
        let Path { of, health, now, ends, .. } = self;
        let is_reason =
            of == Subject::Tinyid && ends.contains(&How::Empty) && ends.last() != Some(&How::Empty);
        let is_good = ends.last() == Some(&How::Good);
        assert!(error(result).is_none() == is_good || is_reason, "{of:?} {ends:?}: {result:?}");
        let phases = if ends.contains(&How::Empty) { 2 } else { 1 };
        assert!(
            ends.len() <= 3 * phases,
            "{of:?} {ends:?}: each server is asked once, and one of them again"
        );
        assert!(now <= Duration::from_secs(100 + phases as u64), "{of:?} {ends:?}: {now:?}");
        let later_ms = 1_000_000;
        let ready = [0, 1].map(|server| health.is_ready(server, "order", later_ms, true));
        assert_eq!(ready, [true; 2], "{of:?} {ends:?}: no probe is left behind");
        1
    }
}

#[test]
fn every_exchange_ends_by_one_answer_or_one_error() {
    for of in SUBJECTS {
        let mut world = World::new(2);
        let elsewhere = if of == Subject::Leaf { Subject::Range } else { Subject::Leaf };
        let (call, _) = world.sent(&mut world.exchange(elsewhere));
        let (stray, _) = Reply::good(elsewhere, 1).end(call);
        let exchange = world.exchange(of);
        let path =
            Path { of, exchange, health: ServersHealth::new(2), now: world.now, random: 0, ends: Vec::new() };
        let sequences = path.follow(&stray);
        assert!(sequences > 70, "{of:?}: {sequences}");
    }
}
