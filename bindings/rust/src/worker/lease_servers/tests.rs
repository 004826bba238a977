//! Tests with servers on loopback whose responses each test defines.

mod client;
mod options;
