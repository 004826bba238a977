//! Exchanges with servers over HTTP, without a socket, a thread or a clock: whom they ask, and what comes of it.

mod claims;
mod ids;

use leafid_core::http::{Exchange, ExchangeStep, HttpCall, HttpResult, HttpServer, HttpServers};
use leafid_core::wire::{Request, Response};
use leafid_core::{Error, ServersHealth};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// The servers of a source, their health, and the clock.
struct World {
    servers: Arc<HttpServers>,
    health: ServersHealth,
    now: Duration,
    /// Counts the random numbers.
    random: u128,
}

impl World {
    /// `http://s0`, `http://s1` and so on.
    fn new(option: &'static str, count: usize) -> World {
        let server = |at| HttpServer { url: format!("http://s{at}"), proxy: None };
        let servers = HttpServers {
            option,
            servers: (0..count).map(server).collect(),
            request_timeout: SECOND,
            connect_timeout: Duration::from_millis(300),
        };
        let health = ServersHealth::new(count);
        World { servers: Arc::new(servers), health, now: Duration::from_secs(100), random: 0 }
    }

    fn poll(&mut self, exchange: &mut Exchange) -> ExchangeStep {
        exchange.poll(&mut self.health, self.now)
    }

    /// The next call, and its request.
    #[track_caller]
    fn sent(&mut self, exchange: &mut Exchange) -> (HttpCall, Request) {
        let ExchangeStep::Send(mut call) = self.poll(exchange) else { panic!("nothing is sent") };
        self.random += 1;
        let request = call.request(self.random);
        (*call, request)
    }

    /// The result, if no server can be asked any more.
    #[track_caller]
    fn over(&mut self, exchange: &mut Exchange) -> HttpResult {
        let ExchangeStep::Done(result) = self.poll(exchange) else { panic!("a server is asked") };
        result
    }

    /// Ends the call by a response.
    fn respond(
        &mut self,
        exchange: &mut Exchange,
        call: HttpCall,
        status: u16,
        body: &str,
    ) -> Option<HttpResult> {
        let (end, _) = call.clone().end(&self.response(&call, status, body));
        exchange.ended(&mut self.health, end, self.now)
    }

    fn response(&self, call: &HttpCall, status: u16, body: &str) -> Response {
        Response::new(&call.url(), status, body.as_bytes(), self.servers.option)
    }
}

/// The code and the message of an error.
#[track_caller]
fn told(error: &Error) -> (&'static str, &str) {
    (error.code().name(), error.message())
}
