//! The protocols of servers: what each one is sent, and how its response is judged. The host keeps connections,
//! deadlines and threads.

pub mod leaf;
pub mod lease_server;
pub mod range;
pub mod tinyid;
mod verdict;

pub use verdict::{Body, Method, Request, Response, Verdict, percent_encoded, quoted};

/// Parses a number that has only one spelling: no sign, no leading zero, below 2^63.
fn canonical(text: &str) -> Option<i64> {
    if text.len() > 1 && text.starts_with('0') { None } else { crate::parse_id(text).ok() }
}
