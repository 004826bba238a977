//! The supply of ids of all tags of one source, from the first wish to the last mark: the machine [`Supply`] and its
//! parts.

mod agenda;
mod callers;
pub mod counter_update;
mod fetch_texts;
mod fetches;
mod mark_calls;
pub mod mark_read;
pub mod mark_update;
pub mod memory_mark;
mod settings;
#[allow(clippy::module_inception, reason = "the machine, among its parts")]
mod supply;
mod supply_call;
mod tag_counts;
mod tag_supply;

pub use callers::{Collected, Ticket, Wish};
pub use mark_calls::{MarkRead, MarkStep, MarkUpdate, MemoryMark};
pub use settings::{MarkStore, Prewarm, Source, SupplySettings, TagId};
pub use supply::Supply;
pub use supply_call::{Call, CallEnd, FetchCall, Notice};
