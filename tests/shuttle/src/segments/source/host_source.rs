//! A source without files and servers.

use super::callback::SegmentSource;
use leafid_core::supply::counter_update::{CounterUpdate, CounterUpdated};

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
