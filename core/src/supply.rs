//! The supply of ids of all tags of one source, from the first wish to the last mark: the machine [`Supply`] and its
//! parts.

mod agenda;
mod asked_servers;
mod caller_errors;
mod close;
mod counter_steps;
pub mod counter_update;
mod fetch_texts;
mod fetches;
mod forgetting;
mod held_mark;
pub mod mark_read;
pub mod mark_update;
pub mod memory_mark;
mod needs;
mod prewarming;
mod ranges;
mod settings;
mod singles;
#[allow(clippy::module_inception, reason = "the machine, among its parts")]
mod supply;
mod supply_call;
mod supply_stats;
mod tag_counts;
mod tag_supply;
mod tickets;
mod work;

pub use crate::options::Prewarm;
pub use fetch_texts::{closed, would_block};
pub use settings::{Dialect, MarkStore, Source, SupplySettings, TagId};
pub use supply::Supply;
pub use supply_call::{Call, CallEnd, FetchCall, FetchCallEnd, GiveBack, GivenBack, Notice};
pub use supply_stats::{SupplyStats, TagStats};
pub use tickets::{Collected, Ticket, Wish};
pub use work::FetchStage;
