//! What must be known of forks: which process this is, which descriptors a child must let go, and threads and locks that
//! a fork cannot catch in the middle.
//!
//! The only `unsafe` of the host lives below this module.

mod bounded;
mod descriptor;
mod generation;
mod per_process;
mod signals;
#[cfg(test)]
pub(crate) mod simulated;
mod thread;

pub(crate) use bounded::{Bounded, MOST_STUCK, bounded, bounded_unless};
pub(crate) use descriptor::Descriptor;
use generation::is_raw_child;
#[cfg(feature = "cli")]
pub(crate) use generation::is_wiped;
pub(crate) use generation::{current, watch};
pub(crate) use per_process::PerProcess;
pub(crate) use signals::without_signals;
pub(crate) use thread::{Code, Thread, spawn};
