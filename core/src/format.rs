//! The formats of leafid's files: bytes to records and back. Nothing is opened, locked or written here.
//!
//! A file has two slots of readable JSON ([`two_slots`]). The state file of a worker id is [`state`]'s; all others have
//! the head of [`shared`] and a content: [`mark`], [`counter`], [`cached_lease`]. [`file_names`] derives their names from
//! tags.

pub mod cached_lease;
#[cfg(test)]
#[path = "../tests/properties/cases.rs"]
mod cases;
pub mod counter;
pub mod decimal;
pub mod file_names;
#[cfg(all(feature = "options", feature = "wire"))]
pub mod file_steps;
pub mod mark;
pub mod shared;
mod span_text;
pub mod state;
pub mod two_slots;
pub mod unused;
