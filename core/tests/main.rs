//! The core through its public API: one program, which is linked once.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

mod admission;
mod answers;
mod buffer;
mod cache_files;
mod claim_search;
mod clock_backwards;
mod counter_updates;
mod earlier_files;
mod errors;
mod fail_over;
mod http;
mod layouts;
mod leases;
mod mark_updates;
mod option_names;
mod option_places;
mod option_rules;
mod options;
mod places;
mod public_ids;
mod record_files;
mod record_reset;
mod scenarios;
mod segments;
mod spans;
mod supply_paths;
mod text_forms;
mod threads;
mod ticks;
mod unused_ids;
mod vectors;
mod waiting;
mod worker_run;
