//! Worker ids leased from servers by their URLs.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/fake_server.rs"]
mod fake_server;
mod holder;
mod holding;
mod server;
mod starts;
