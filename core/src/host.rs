//! The calls of both machines in the words of a host that has files, locks, requests and user code, and knows neither
//! records nor marks: [`HostCall`]. docs/WASM-ABI.md has the kinds, with their numbers and texts.

mod host_call;
mod host_terms;
mod of_runs;
#[cfg(feature = "supply")]
mod of_supplies;

pub use host_call::{HostCall, MachineEnd};
pub use host_terms::{FileSeen, HostEnd, HostKind, HostRequest};
