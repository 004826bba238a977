//! The checks of options: what the user wrote becomes checked values, or an error that says what is allowed.
//!
//! Nothing is read here: the environment, the clock and the host's name are arguments.

mod allowed;
mod checks;
mod clock_check;
mod clock_source;
mod settings;
mod worker_ids;

pub use allowed::allowed;
pub use checks::{MOST_IDS, Variable, check_n, flag, id_space, milliseconds, no_memory};
pub use clock_check::{check_built, check_clock};
pub use clock_source::ClockSource;
pub use settings::{check_unpersisted, no_record_wait_ms, rules, start_tick, with_epoch};
pub use worker_ids::{WantedIds, WorkerRange, of_hostname, server_urls};
