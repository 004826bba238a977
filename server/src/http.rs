//! What is served over HTTP.

mod answer;
mod app;
mod counts;
mod leaf;
mod lease;
mod metrics;
mod range;
mod router;
mod serve;
mod status;

pub(crate) use app::App;
pub(crate) use serve::serve;
