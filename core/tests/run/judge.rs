//! What may never happen among the processes of a world.

use super::disk::Pid;
use leafid_core::Layout;
use std::collections::{BTreeMap, BTreeSet};

/// All ids.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    pub(crate) issued: BTreeSet<i64>,
    /// Who has ids of a tick of a worker id: no other process has.
    ticks: BTreeMap<(u32, u64), Pid>,
    /// The number of leases of caches.
    pub(crate) cached: u64,
}

impl Judge {
    /// A process has an id from its generator.
    pub(crate) fn issued(&mut self, pid: Pid, id: i64, layout: Layout) {
        let parts = layout.decode(id).expect("a generator's own");
        let (worker_id, tick) =
            (parts.worker_id, layout.tick_at(parts.timestamp_ms).expect("after the epoch"));
        assert!(self.issued.insert(id), "{id} of worker id {worker_id} comes twice, now from process {pid}");
        let by = *self.ticks.entry((worker_id, tick)).or_insert(pid);
        assert_eq!(by, pid, "tick {tick} of worker id {worker_id} has ids of two processes");
    }
}
