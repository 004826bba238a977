//! What connections reach: from the moment at which the port is open whether this server lives, and all of it once its
//! store has answered. Nothing waits meanwhile for an answer that may never come.

use super::answer;
use super::rate_limits::{Client, RateLimits};
use super::router::{Served, with_body};
use super::routes::{Routes, get};
use super::status::{self, Ready};
use crate::options::Options;
use crate::store::Store;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::http::{Request, Response, StatusCode};
use futures_util::FutureExt;
use futures_util::future::Either;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use leafid_core::Error;
use parking_lot::Mutex;
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const WAITING: &str = "waiting for the store";

/// What a server is before it serves. Its listeners share it.
pub(crate) struct Starting {
    /// The kind of its store.
    store: &'static str,
    /// Why the store has not answered yet.
    error: Mutex<Option<Error>>,
}

/// What a listener serves.
pub(crate) struct Entrance {
    routes: Routes<Arc<Starting>>,
    starting: Arc<Starting>,
    open: OnceLock<Served>,
    pub(super) connections: usize,
    pub(super) stop_timeout: Duration,
    pub(super) rate_limits: Option<Arc<RateLimits>>,
}

impl Starting {
    pub(crate) fn new(store: &Store) -> Arc<Starting> {
        Arc::new(Starting { store: store.name(), error: Mutex::default() })
    }

    pub(crate) fn failed(&self, error: Error) {
        *self.error.lock() = Some(error);
    }

    fn reason(&self) -> String {
        match &*self.error.lock() {
            Some(error) => format!("{WAITING}: {}", error.message()),
            None => WAITING.to_owned(),
        }
    }
}

impl Entrance {
    pub(crate) fn new(
        options: &Options,
        starting: &Arc<Starting>,
        rate_limits: Option<Arc<RateLimits>>,
    ) -> Arc<Entrance> {
        let routes =
            Routes::new(unavailable).with([("/health", get(status::health)), ("/ready", get(ready))]);
        Arc::new(Entrance {
            routes,
            starting: starting.clone(),
            open: OnceLock::new(),
            connections: options.max_connections as usize,
            stop_timeout: options.stop_timeout(),
            rate_limits,
        })
    }

    /// From now on this is served, on the connections that there are, too.
    pub(crate) fn opens(&self, served: Served) {
        let _ = self.open.set(served);
    }

    /// What a connection of this client is served.
    pub(super) fn service(
        self: Arc<Self>,
        client: Option<Client>,
    ) -> impl Service<Request<Incoming>, Response = Response<Body>, Error = Infallible, Future: Send> + use<>
    {
        service_fn(move |mut request: Request<Incoming>| {
            if let Some(client) = client {
                request.extensions_mut().insert(client);
            }
            match self.open.get() {
                Some(served) => Either::Left(served.answer(request).map(answer::uncached).map(Ok)),
                None => {
                    let mut request = with_body(request);
                    let route = self.routes.find(&mut request);
                    let answered = self.routes.answer(route, request, self.starting.clone());
                    Either::Right(answered.map(answer::uncached).map(Ok))
                }
            }
        })
    }
}

async fn ready(State(starting): State<Arc<Starting>>) -> Response<Body> {
    let ready = Ready {
        ready: false,
        reason: Some(starting.reason()),
        store: starting.store.to_owned(),
        tags: 0,
        worker_id: None,
    };
    answer::json(StatusCode::SERVICE_UNAVAILABLE, &ready)
}

/// All else. Its client asks another server, or comes again.
async fn unavailable(State(starting): State<Arc<Starting>>) -> Response<Body> {
    let message = format!("this server has started and serves soon: {}", starting.reason());
    let mut response = answer::refusal(StatusCode::SERVICE_UNAVAILABLE, "segment_unavailable", &message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
