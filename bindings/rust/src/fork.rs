//! What must be known of forks: which process this is, and which descriptors a child must let go.
//!
//! The only `unsafe` of the host lives below this module.

mod descriptor;
mod generation;
mod per_process;
mod threads;

pub(crate) use descriptor::Descriptor;
pub(crate) use generation::current;
pub(crate) use per_process::PerProcess;
pub(crate) use threads::{Bounded, bounded, spawn, without_signals};
