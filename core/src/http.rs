//! Exchanges with servers over HTTP, for leases and for segments: who is asked, what is sent, what a response means, when
//! the next server is asked, and what comes of it.
//!
//! A machine keeps an [`Exchange`] for each request and hands out its [`HttpCall`]s. The host sends a call, and reports
//! its end. It keeps the sockets, TLS, proxies and name look-up, and reads a response within bounds.

mod exchange;
mod frame;
mod frame_check;
mod http_call;
mod http_servers;
mod no_response;
mod subject;

pub use exchange::{ClaimEnd, Exchange, ExchangeStep, HttpResult};
pub use frame::{BodyEnd, Frame, HURRY, LARGEST_BODY, ResponseHead};
pub use frame_check::FrameCheck;
pub use http_call::{HttpCall, HttpEnd, LateEnd};
pub use http_servers::{HttpProxy, HttpServer, HttpServers};
pub use no_response::{NoResponse, TlsFault};
