//! What is served over HTTP.

mod admin;
mod answer;
mod app;
mod counts;
mod entrance;
mod guard;
mod hosts;
mod leaf;
mod lease;
mod metrics;
mod metrics_workers;
mod monitor;
mod monitor_leases;
mod monitor_tags;
mod pages;
mod range;
mod rate_limits;
mod router;
mod routes;
mod serve;
mod spelling;
mod status;
mod tinyid;
mod tinyid_tokens;
mod tls;
mod words;

pub(crate) use app::App;
pub(crate) use entrance::{Entrance, Starting};
pub(crate) use rate_limits::RateLimits;
pub(crate) use router::{admin_api, public_api};
pub(crate) use serve::serve;
pub(crate) use tls::Tls;
