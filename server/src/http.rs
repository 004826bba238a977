//! What is served over HTTP.

mod answer;
mod app;
mod counts;
mod guard;
mod leaf;
mod lease;
mod metrics;
mod range;
mod router;
mod serve;
mod status;
mod tls;

pub(crate) use app::App;
pub(crate) use router::public;
pub(crate) use serve::serve;
pub(crate) use tls::Tls;
