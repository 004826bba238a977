//! Worker ids leased from servers by their URLs.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod holder;
mod holding;
mod request;
mod server;
mod starts;
