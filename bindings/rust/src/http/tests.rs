//! Tests with servers on loopback whose responses each test defines.

mod answers;
mod connections;
mod fail_over;
mod fake_server;
#[cfg(unix)]
mod forks;
mod options;
mod proxies;
mod tls;
