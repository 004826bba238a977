//! The checks of options: what the user wrote becomes checked values, or an error that says what is allowed.
//!
//! Nothing is read here: the environment, the clock and the host's name are arguments.

mod allowed;
mod checks;
mod clock_check;
mod clock_source;
pub mod deployment;
#[cfg(all(feature = "format", feature = "wire"))]
mod environment;
#[cfg(all(feature = "format", feature = "wire"))]
mod option_json;
#[cfg(all(feature = "format", feature = "wire"))]
mod option_value;
mod protocol;
mod refused;
#[cfg(all(feature = "format", feature = "wire"))]
mod run_options;
#[cfg(all(feature = "format", feature = "wire"))]
mod server_options;
mod server_url;
#[cfg(all(feature = "format", feature = "wire"))]
mod servers;
mod settings;
#[cfg(all(feature = "format", feature = "wire"))]
mod supply_options;
#[cfg(any(feature = "format", feature = "wire"))]
mod table;
mod tags;
mod unknown_option;
mod worker_ids;

pub use crate::secrets::{ENCODED, has_raw_password, shown_path, shown_url, shown_urls};
pub use crate::spelling::{Named, Spelling};
pub use allowed::allowed;
pub use checks::{
    DEFAULT_TIMEOUT_MS, MOST_IDS, MOST_MS, Variable, check_n, flag, id_space, milliseconds, no_memory,
    refuse_options_of,
};
pub use clock_check::{built_ms, check_built, check_clock};
pub use clock_source::ClockSource;
#[cfg(all(feature = "format", feature = "wire"))]
pub use environment::{Environment, NamedDirectory};
#[cfg(all(feature = "format", feature = "wire"))]
pub use option_json::options_of_json;
#[cfg(all(feature = "format", feature = "wire"))]
pub use option_value::{FileTag, OptionValue, OptionValues};
pub use protocol::Protocol;
pub use refused::refused;
#[cfg(all(feature = "format", feature = "wire"))]
pub use run_options::{RunOptions, WorkerFrom};
#[cfg(all(feature = "format", feature = "wire"))]
pub use server_options::ServerOptions;
pub use server_url::server_url;
pub use settings::{check_unpersisted, no_record_wait_ms, rules, start_tick, with_epoch};
#[cfg(all(feature = "format", feature = "wire"))]
pub use supply_options::{MOST_PREWARMED, Prewarm, SupplyFrom, SupplyOptions};
#[cfg(any(feature = "format", feature = "wire"))]
pub use table::{OPTIONS, OptionKind, OptionOf, OptionRow};
pub use tags::{check_row_tag, check_tag, check_tag_of_ids};
pub use unknown_option::unknown_option;
pub use worker_ids::{ChosenBy, WorkerOption, WorkerRange, of_hostname, server_urls};
