//! The checks of options: what the user wrote becomes checked values, or an error that says what is allowed.
//!
//! Nothing is read here: the environment, the clock and the host's name are arguments.

mod allowed;
mod checks;
mod clock_check;
mod clock_source;
pub mod deployment;
mod refused;
mod segments;
mod servers;
mod settings;
mod worker_ids;

pub use crate::secrets::{ENCODED, has_raw_password, shown_path, shown_url, shown_urls};
pub use allowed::allowed;
pub use checks::{
    DEFAULT_TIMEOUT_MS, MOST_IDS, MOST_MS, Variable, check_n, flag, id_space, milliseconds, no_memory,
    refuse_options_of,
};
pub use clock_check::{built_ms, check_built, check_clock};
pub use clock_source::ClockSource;
pub use refused::refused;
pub use segments::{
    MOST_PREWARMED, SourceChoice, block_size, check_keep_unused, check_leaf_order, check_prewarm, check_step,
    check_tag, check_tinyid_step, id_order, prefetch,
};
pub use servers::{check_connections, check_header, check_header_bytes, check_servers};
pub use settings::{check_unpersisted, no_record_wait_ms, rules, start_tick, with_epoch};
pub use worker_ids::{WorkerOption, WorkerRange, of_hostname, server_urls};
