//! The core through its public API: one program, which is linked once.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

mod admission;
mod answers;
mod back_off;
mod buffer;
mod cached_lease;
mod claim_errors;
mod claim_search;
mod clock_backwards;
mod crash_loop;
mod earlier_files;
mod end_of_time;
mod errors;
mod fail_over;
mod fetch_threads;
mod http;
mod ids_increase;
mod issued;
mod lagging_clock;
mod layouts;
mod lease_claims;
mod leases;
mod mark_updates;
mod options;
mod places;
mod public_ids;
mod random_start;
mod record_files;
mod record_reset;
mod reserve;
mod seal;
mod segments;
mod span_length;
mod spans;
mod start;
mod supply_paths;
mod text_forms;
mod threads;
mod unused_ids;
mod used_up_tick;
mod uuids;
mod values;
mod vectors;
mod waiting;
