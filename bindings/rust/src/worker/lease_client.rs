//! The client of lease servers.

use crate::http::{HttpOptions, ServerPool};
use crate::os::env::Env;
use leafid_core::Result;
use leafid_core::http::{Exchange, ExchangeStep, HttpCall, HttpEnd, HttpResult, HttpServers, NoResponse};
use leafid_core::run::Workers;
use leafid_core::server::ServersHealth;
use std::sync::Arc;

/// The servers that lease the worker ids of one id space.
pub(crate) struct LeaseClient {
    http: ServerPool,
    options: HttpOptions,
    name: String,
}

impl LeaseClient {
    /// Reads files and the environment. Errors: `invalid_argument`.
    pub(crate) fn new(options: HttpOptions, name: String) -> Result<LeaseClient> {
        Ok(LeaseClient { http: ServerPool::new(options.clone())?, options, name })
    }

    /// Whether they are the same servers with the same options. It makes no difference which option named them.
    pub(crate) fn is_same(&self, other: &LeaseClient) -> bool {
        let mut theirs = other.options.clone();
        theirs.servers.said = self.options.servers.said;
        self.options == theirs && self.name == other.name
    }

    /// As the core knows them.
    pub(crate) fn as_workers(&self) -> Workers {
        let servers = self.http.servers();
        let health = ServersHealth::new(servers.servers.len());
        Workers::Servers { servers: Arc::new(servers), health }
    }

    /// Sends a request, on a thread of leafid.
    pub(crate) fn send(&self, env: &Env, call: HttpCall) -> HttpEnd {
        match env.number() {
            Ok(random) => self.http.carry_out(call, random),
            Err(error) => call.failed(NoResponse::Other(error.message()), false),
        }
    }

    /// Carries out an exchange that belongs to no generator.
    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line asks"))]
    pub(crate) fn ask(
        &self,
        env: &Env,
        begin: impl FnOnce(&Arc<HttpServers>, &str) -> Exchange,
    ) -> HttpResult {
        let servers = Arc::new(self.http.servers());
        let mut health = ServersHealth::new(servers.servers.len());
        let mut exchange = begin(&servers, &self.name);
        loop {
            match exchange.poll(&mut health, env.clock.boot_time()) {
                ExchangeStep::Send(call) => {
                    let end = self.send(env, *call);
                    if let Some(result) = exchange.ended(&mut health, end, env.clock.boot_time()) {
                        return result;
                    }
                }
                ExchangeStep::Sent => return exchange.close(&mut health),
                ExchangeStep::Done(result) => return result,
            }
        }
    }

    /// Ends the running requests.
    pub(crate) fn end_calls(&self) {
        self.http.end_requests();
    }
}
