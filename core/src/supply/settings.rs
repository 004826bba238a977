//! What a supply is of: its source, its marks, and the rules of its tags.

use crate::{CallLimit, IdOrder, Stock};
use alloc::string::String;
use alloc::vec::Vec;

/// The step if neither the user nor the source sets one: a common value in Leaf's tables.
const STEP: i64 = 1_000;

/// A tag of one [`super::Supply`]. None is used again for another tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagId(pub u64);

/// The valid options of a supply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SupplySettings {
    /// What gives the ids.
    pub source: Source,
    /// The name of the source, under which its marks are stored.
    pub source_name: String,
    /// The order of its ids.
    pub order: IdOrder,
    /// How many ids are requested at a time; `None` leaves it to the source.
    pub step: Option<i64>,
    /// Whether the step follows the use.
    pub adaptive: bool,
    /// When more than this percentage of a segment is used, the next one is fetched.
    pub prefetch: u32,
    /// Where the marks are.
    pub marks: MarkStore,
    /// Whether the unused ids are stored when the supply is closed.
    pub keep_unused: bool,
    /// The tags that are fetched before their first use.
    pub prewarm: Prewarm,
}

/// What gives the ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A callback of the user.
    Callback {
        /// It ends later, on the thread that asks for ids: that thread cannot wait for it.
        is_deferred: bool,
    },
}

/// Where the marks of the tags are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkStore {
    /// In files of the state directory.
    Files,
    /// In the memory of the process, which outlives the supply.
    Memory,
    /// In the supply itself.
    Held,
}

/// The tags to fetch before their first use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Prewarm {
    /// None.
    #[default]
    None,
    /// These.
    Tags(Vec<String>),
    /// Those that were used within a day.
    LastDay,
}

impl SupplySettings {
    /// The first step of a tag; 0 leaves it to the source.
    pub(super) fn first_step(&self) -> i64 {
        self.step.unwrap_or(if self.source.has_step() { 0 } else { STEP })
    }

    /// The smallest request to a source that has not returned its step.
    pub(super) const fn source_step(&self) -> i64 {
        STEP
    }

    /// How many fetches run beside each other. A callback that hangs keeps no other tag waiting for long.
    pub(super) fn limit(&self) -> CallLimit {
        match self.source {
            Source::Callback { is_deferred: false } => CallLimit { few: 4, many: 16, slow_ms: 100, all: 16 },
            Source::Callback { is_deferred: true } => {
                CallLimit { few: 4, many: 16, slow_ms: 1_000, all: 1_024 }
            }
        }
    }

    /// The rules of the stock, for a source that returns ids one by one.
    pub(super) fn stock(&self) -> Option<Stock> {
        self.source.is_one_by_one().then(|| Stock {
            most: self.step.unwrap_or(STEP) as u64,
            adaptive: self.adaptive,
            prefetch: self.prefetch.into(),
        })
    }
}

impl Source {
    /// Whether it has a step of its own.
    pub(super) fn has_step(&self) -> bool {
        !matches!(self, Source::Callback { .. })
    }

    /// Whether each request returns one id, or one block of ids.
    pub(super) fn is_one_by_one(&self) -> bool {
        false
    }

    /// Whether its fetches end on the thread that asks for ids.
    pub(super) fn is_deferred(&self) -> bool {
        matches!(self, Source::Callback { is_deferred: true })
    }
}
