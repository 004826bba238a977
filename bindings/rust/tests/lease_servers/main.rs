//! Worker ids leased from servers by their URLs.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod answers;
#[path = "../common/mod.rs"]
mod common;
mod echo;
mod holder;
mod holding;
mod request;
mod server;
mod several;
mod starts;
mod tls;
