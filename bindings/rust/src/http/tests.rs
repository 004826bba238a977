//! Against servers on loopback that answer as each test says.

mod answers;
mod connections;
mod dialects;
mod fail_over;
mod fake_server;
mod forks;
mod options;
mod proxies;
mod tls;
