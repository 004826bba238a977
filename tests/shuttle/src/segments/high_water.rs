//! Marks in memory that remember nothing: the sources of the models repeat nothing.

use leafid_core::IdOrder;
use leafid_core::format::unused::MachineStart;
use leafid_core::supply::MarkStore;
use leafid_core::supply::mark_read::{MarkFound, MarkList, MarkRead, MarksListed};
use leafid_core::supply::mark_update::{MarkUpdate, MarkUpdated};
use leafid_core::supply::memory_mark::MemoryMark;

pub(crate) struct HighWaterMarks;

impl HighWaterMarks {
    pub(crate) fn store(&self) -> MarkStore {
        MarkStore::Memory
    }

    pub(crate) fn machine_start(&self) -> Option<MachineStart> {
        None
    }

    pub(crate) fn read(&self, read: MarkRead) -> MarkFound {
        read.end_in_memory(None)
    }

    pub(crate) fn update(&self, update: MarkUpdate) -> MarkUpdated {
        update.end_in_memory(&mut MemoryMark::new(IdOrder::Ascending))
    }

    pub(crate) fn list(&self, list: MarkList) -> MarksListed {
        list.end(0)
    }
}
