//! Programs that try to get one id twice. Each ends with a line of `key=value` for the runner.

pub mod barrier;
pub mod burst;
pub mod close;
pub mod footprint;
pub mod many;
pub mod signals;
pub mod storm;
pub mod waiting;
