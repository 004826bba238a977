//! A source without files and servers.

use super::callback::SegmentSource;
use leafid_core::IdOrder;
use leafid_core::supply::Source;
use leafid_core::supply::counter_update::{CounterUpdate, CounterUpdated};

pub(crate) struct SourceProperties {
    pub(crate) host: HostSource,
    pub(crate) of_supply: Source,
    pub(crate) order: IdOrder,
    pub(crate) threads: usize,
}

pub(crate) enum HostSource {
    Callback(SegmentSource),
    Counters(NoCounters),
}

pub(crate) struct NoCounters;

impl NoCounters {
    pub(crate) fn update(&self, _update: CounterUpdate) -> CounterUpdated {
        unreachable!("no model has counters")
    }
}

impl HostSource {
    pub(crate) fn close_idle(&self) {}

    pub(crate) fn close(&self) {}
}
