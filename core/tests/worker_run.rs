//! A run of a worker id, from the claim to the release, carried out by a host of a few lines.

mod closes;
mod fixed_ids;
mod host;
mod leases;
mod options;
mod servers;
mod shared_leases;
mod state_table;
