//! What must be known of forks: which process this is, which descriptors a child must let go, and threads and locks that
//! a fork cannot catch in the middle.
//!
//! The only `unsafe` of the host lives below this module.

mod bounded;
mod descriptor;
mod generation;
mod per_process;
mod signals;
mod thread;

pub(crate) use bounded::{Bounded, bounded};
pub(crate) use descriptor::Descriptor;
pub(crate) use generation::current;
use generation::is_raw_child;
pub(crate) use per_process::PerProcess;
pub(crate) use signals::without_signals;
pub(crate) use thread::{Thread, spawn};
