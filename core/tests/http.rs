//! Exchanges with servers over HTTP, without a socket, a thread or a clock: whom they ask, and what comes of it.

mod all_ends;
mod claims;
mod frames;
mod ids;
mod protocols;
mod unanswered;

use leafid_core::http::{
    BodyEnd, ClaimEnd, Exchange, ExchangeStep, Frame, HttpCall, HttpResult, HttpServer, HttpServers,
    NoResponse, ResponseHead,
};
use leafid_core::server::ServersHealth;
use leafid_core::wire::Request;
use leafid_core::wire::leaf::LeafMode;
use leafid_core::wire::range::RangeRequest;
use leafid_core::{Error, Lease, LeaseClaim, RenewalAnswer};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
/// No message may contain it.
const SECRET: &str = "s3cret";

/// The servers of a source, their health, and the clock.
struct World {
    servers: Arc<HttpServers>,
    health: ServersHealth,
    now: Duration,
    /// Counts the random numbers.
    random: u128,
}

/// What an exchange is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Claim,
    Renewal,
    Release,
    Range,
    Leaf,
    Tinyid,
}

const SUBJECTS: [Subject; 6] =
    [Subject::Claim, Subject::Renewal, Subject::Release, Subject::Range, Subject::Leaf, Subject::Tinyid];

impl World {
    /// `http://s0`, `http://s1` and so on.
    fn new(count: usize) -> World {
        let server = |at| HttpServer { url: format!("http://s{at}"), proxy: None };
        let servers = HttpServers {
            option: "servers",
            servers: (0..count).map(server).collect(),
            request_timeout: SECOND,
            connect_timeout: Duration::from_millis(300),
        };
        let health = ServersHealth::new(count);
        World { servers: Arc::new(servers), health, now: Duration::from_secs(100), random: 0 }
    }

    fn exchange(&self, of: Subject) -> Exchange {
        let (servers, seed, now) = (&self.servers, 7, self.now);
        let held = Lease { worker_id: 3, token: Some(SECRET.into()), ..Lease::default() };
        match of {
            Subject::Claim => Exchange::claim(servers, "shop", None, (1_000, 31_000), seed, now),
            Subject::Renewal => Exchange::renewal(servers, "shop", &held, 61_000, seed, now),
            Subject::Release => Exchange::release(servers, "shop", &held, 5_000, seed, now),
            Subject::Range => {
                let wish = RangeRequest { tag: "order", step: 1_000, after: 900, ordered: true };
                Exchange::range(servers, wish, seed, now)
            }
            Subject::Leaf => Exchange::leaf(servers, LeafMode::Segment { block_size: 1 }, "order", seed, now),
            Subject::Tinyid => Exchange::tinyid(servers, "order", SECRET, seed, now),
        }
    }

    /// The claim that had no answer, once more.
    fn claim_again(&self, unanswered: Option<LeaseClaim>) -> Exchange {
        Exchange::claim(&self.servers, "shop", unanswered, (1_000, 31_000), 7, self.now)
    }

    fn poll(&mut self, exchange: &mut Exchange) -> ExchangeStep {
        exchange.poll(&mut self.health, self.now)
    }

    /// The next call, which is not made yet.
    #[track_caller]
    fn call(&mut self, exchange: &mut Exchange) -> HttpCall {
        let ExchangeStep::Send(call) = self.poll(exchange) else { panic!("nothing is sent") };
        *call
    }

    /// The next call, and its request.
    #[track_caller]
    fn sent(&mut self, exchange: &mut Exchange) -> (HttpCall, Request) {
        let mut call = self.call(exchange);
        self.random += 1;
        let request = call.request(self.random);
        (call, request)
    }

    /// The result, if no server can be asked any more.
    #[track_caller]
    fn over(&mut self, exchange: &mut Exchange) -> HttpResult {
        let ExchangeStep::Done(result) = self.poll(exchange) else { panic!("a server is asked") };
        result
    }

    /// Ends the call by a response. Also returns whether its connection is kept.
    fn respond(
        &mut self,
        exchange: &mut Exchange,
        call: HttpCall,
        reply: &Reply,
    ) -> (Option<HttpResult>, bool) {
        let (end, keeps) = reply.end(call);
        (exchange.ended(&mut self.health, end, self.now), keeps)
    }

    /// Ends the call without a response.
    fn fail(
        &mut self,
        exchange: &mut Exchange,
        call: HttpCall,
        why: NoResponse<'_>,
        is_stale: bool,
    ) -> Option<HttpResult> {
        exchange.ended(&mut self.health, call.failed(why, is_stale), self.now)
    }

    /// The result of a request to one server, with this response.
    #[track_caller]
    fn result(&mut self, of: Subject, reply: &Reply) -> HttpResult {
        let mut exchange = self.exchange(of);
        let (call, _) = self.sent(&mut exchange);
        let (result, _) = self.respond(&mut exchange, call, reply);
        result.unwrap_or_else(|| self.over(&mut exchange))
    }
}

/// A response.
#[derive(Clone, Debug)]
struct Reply {
    status: u16,
    body: String,
    age: Option<&'static [u8]>,
}

impl Reply {
    fn new(status: u16, body: &str) -> Reply {
        Reply { status, body: body.into(), age: None }
    }

    fn end(&self, call: HttpCall) -> (leafid_core::http::HttpEnd, bool) {
        let location = (self.status == 302).then_some(&b"http://other/"[..]);
        let frame = Frame::Read { is_http_1_0: false, content_lengths: &[b"4"], transfer_encodings: &[] };
        let head = ResponseHead { status: self.status, location, age: self.age, frame };
        let reply = call.response(&head, self.body.clone().into_bytes(), BodyEnd::There);
        call.end(&reply)
    }

    /// The correct response to the request with this random number.
    fn good(of: Subject, random: u128) -> Reply {
        let (status, body) = match of {
            Subject::Claim => (
                200,
                format!(
                    r#"{{"instance":"{random:032x}","worker_id":3,"from":1000,"until":31000,"lease_ms":30000,"token":"{SECRET}","peer_times":[]}}"#
                ),
            ),
            Subject::Renewal => (
                200,
                format!(r#"{{"nonce":"{random:032x}","until":61000,"lease_ms":30000,"token":"{SECRET}"}}"#),
            ),
            Subject::Release => (204, String::new()),
            Subject::Range => (
                200,
                format!(
                    r#"{{"tag":"order","start":"1000","end":"2000","stride":1,"step":1000,"nonce":"{random:032x}"}}"#
                ),
            ),
            Subject::Leaf => (200, "1000".into()),
            Subject::Tinyid => (200, "999,1200,1999,1,0".into()),
        };
        Reply { status, body, age: None }
    }
}

/// The error of a result. Of a claim, a renewal, a release or ids alike.
fn error(result: &HttpResult) -> Option<&Error> {
    match result {
        HttpResult::Claimed(ClaimEnd { lease, .. }) => lease.as_ref().err(),
        HttpResult::Renewed(RenewalAnswer::Failed(error) | RenewalAnswer::Lost(error)) => Some(error),
        HttpResult::Renewed(_) => None,
        HttpResult::Released(result) => result.as_ref().err(),
        HttpResult::Ids(result) => result.as_ref().err(),
    }
}

/// The code and the message of the error.
#[track_caller]
fn told(result: &HttpResult) -> (&'static str, &str) {
    let error = error(result).expect("it has failed");
    assert!(!error.message().contains(SECRET), "{error}");
    (error.code().name(), error.message())
}

#[track_caller]
fn claimed(result: HttpResult) -> ClaimEnd {
    let HttpResult::Claimed(end) = result else { panic!("{result:?}") };
    end
}
