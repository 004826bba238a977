//! What a world is of: the source, its tags, and how often things go wrong.

use crate::counters::Kind;
use leafid_core::IdOrder;
use leafid_core::supply::{MarkStore, Prewarm, Source, SupplySettings};

#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) kind: Kind,
    pub(crate) tags: &'static [&'static str],
    /// The number of ids that the source gives at a time.
    pub(crate) step: i64,
    pub(crate) adaptive: bool,
    pub(crate) keeps_unused: bool,
    /// Whether tags of the last day are fetched at a start.
    pub(crate) prewarms: bool,
    pub(crate) servers: usize,
    /// The number of processes that live at a time.
    pub(crate) processes: usize,
    /// Of a hundred steps of calls so many go wrong; drawn for each world.
    pub(crate) faults: u64,
}

pub(crate) const TAGS: &[&str] = &["order", "user", "item"];

impl Scenario {
    pub(crate) fn of(kind: Kind) -> Scenario {
        Scenario {
            kind,
            tags: TAGS,
            step: 6,
            adaptive: false,
            keeps_unused: false,
            prewarms: false,
            servers: 2,
            processes: 2,
            faults: 0,
        }
    }

    pub(crate) fn order(&self) -> IdOrder {
        match self.kind {
            Kind::Callback | Kind::Range | Kind::File => IdOrder::Ascending,
            Kind::Ranges | Kind::Tinyid | Kind::Leaf => IdOrder::Ranges,
        }
    }

    /// The settings of its processes.
    pub(crate) fn settings(&self) -> SupplySettings {
        SupplySettings {
            source: Source::Callback { is_deferred: false },
            source_name: "source".into(),
            order: self.order(),
            step: Some(self.step),
            adaptive: self.adaptive,
            prefetch: 10,
            marks: MarkStore::Files,
            keep_unused: self.keeps_unused,
            prewarm: if self.prewarms { Prewarm::LastDay } else { Prewarm::None },
        }
    }
}
