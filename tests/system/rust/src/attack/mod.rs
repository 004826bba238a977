//! Programs that try to get one id twice. Each ends with a line of `key=value` for the runner.

pub mod barrier;
pub mod close;
pub mod daemon;
mod issuer;
pub mod many;
pub mod signals;
pub mod storm;
pub mod waiting;
