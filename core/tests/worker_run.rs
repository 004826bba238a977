//! A run of a worker id, from the claim to the release, carried out by a host of a few lines.

mod fixed_ids;
mod host;
