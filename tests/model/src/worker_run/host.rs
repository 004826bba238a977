//! The host: its locks, and records of two slots.

use super::events::Left;
use leafid_core::format::state::{self, SlotPair, StoredRecord};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Host {
    locks: BTreeMap<u32, usize>,
    pub(super) files: BTreeMap<u32, File>,
}

/// A record's file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct File {
    /// `None`: half of a write, which cannot be read.
    slots: [Option<StoredRecord>; 2],
    /// The slot of the record that its holder may rely on: the last one that was read, or reported as durable.
    pub(super) kept: usize,
    holder: Option<usize>,
    /// What was in a slot before it was written, as long as that is not synced.
    unsynced: Option<(usize, Option<StoredRecord>)>,
}

impl Host {
    pub(super) fn lock(&mut self, worker_id: u32, who: usize) -> bool {
        let free = !self.locks.contains_key(&worker_id);
        if free {
            self.locks.insert(worker_id, who);
        }
        free
    }

    /// Gives the host lock back. `None`: it was not held, or the record is still locked.
    pub(super) fn unlock(&mut self, who: usize) -> Option<()> {
        let held = self.locks.values().any(|holder| *holder == who);
        self.locks.retain(|_, holder| *holder != who);
        (held && self.record_of(who).is_none()).then_some(())
    }

    /// Whether the record could be locked. `None`: without the host lock. `new`: the bytes of a new file.
    pub(super) fn open(&mut self, worker_id: u32, who: usize, new: &[u8]) -> Option<bool> {
        let file = self.files.entry(worker_id).or_insert_with(|| File {
            slots: [0, 1].map(|slot| state::read_slot(new, slot)),
            kept: 0,
            holder: None,
            unsynced: None,
        });
        let free = file.holder.is_none();
        if free {
            (file.holder, file.kept) = (Some(who), 1 - file.slots().spare);
        }
        (self.locks.get(&worker_id) == Some(&who)).then_some(free)
    }

    /// `None`: it was not open.
    pub(super) fn close(&mut self, who: usize) -> Option<()> {
        self.locked(who)?.holder = None;
        Some(())
    }

    pub(super) fn record_of(&self, who: usize) -> Option<u32> {
        self.files.iter().find(|(_, file)| file.holder == Some(who)).map(|(worker_id, _)| *worker_id)
    }

    pub(super) fn locked(&mut self, who: usize) -> Option<&mut File> {
        self.files.values_mut().find(|file| file.holder == Some(who))
    }

    pub(super) fn is_free_of(&self, who: usize) -> bool {
        self.locks.values().all(|holder| *holder != who) && self.record_of(who).is_none()
    }

    pub(super) fn holder(&self, worker_id: u32) -> Option<usize> {
        self.locks.get(&worker_id).copied()
    }

    /// The process is gone, and its locks with it.
    pub(super) fn drop_process(&mut self, who: usize) {
        self.locks.retain(|_, holder| *holder != who);
        self.files.values_mut().filter(|file| file.holder == Some(who)).for_each(|file| file.holder = None);
    }
}

impl File {
    pub(super) fn slots(&self) -> SlotPair {
        let number = |slot: usize| self.slots[slot].as_ref().map(|stored| stored.number);
        let newest = usize::from(number(1) > number(0));
        SlotPair {
            newest: self.slots[newest].clone().expect("one slot is whole"),
            spare: 1 - newest,
            damaged: self.slots[1 - newest].is_none(),
        }
    }

    /// Half of a write cannot be read.
    pub(super) fn write(&mut self, slot: usize, stored: StoredRecord, left: Left) {
        match left {
            Left::Whole => {
                let before = self.slots[slot].replace(stored);
                self.unsynced.get_or_insert((slot, before));
            }
            Left::Half => self.slots[slot] = None,
            Left::Nothing => {}
        }
    }

    /// The write of this slot is reported as durable.
    pub(super) fn synced(&mut self, slot: usize) {
        (self.kept, self.unsynced) = (slot, None);
    }

    pub(super) fn has_unsynced(&self) -> bool {
        self.unsynced.is_some()
    }

    /// `None`: all was synced.
    pub(super) fn lose_unsynced(&mut self) -> Option<()> {
        let (slot, before) = self.unsynced.take()?;
        self.slots[slot] = before;
        self.slots.iter().any(Option::is_some).then_some(())
    }

    /// `None`: nothing would be left.
    pub(super) fn lose_newest(&mut self) -> Option<()> {
        let spare = self.slots().spare;
        self.slots[1 - spare] = None;
        self.slots[spare].is_some().then_some(())
    }

    pub(super) fn is_free(&self) -> bool {
        self.holder.is_none()
    }

    pub(super) fn largest_number(&self) -> u64 {
        self.slots.iter().flatten().map(|stored| stored.number).max().unwrap_or(0)
    }
}
