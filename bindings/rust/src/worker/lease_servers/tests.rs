//! Against servers on loopback that answer as each test says.

mod client;
mod options;
