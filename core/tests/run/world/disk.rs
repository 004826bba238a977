//! The disk of a host, and its locks: records of two slots. It carries out the calls of runs.

use super::seen::Wrong;
use leafid_core::call::{FileAction, IoFailure};
use leafid_core::format::state::{self, SlotPair, StoredRecord};
use leafid_core::run::record_write::RecordWrite;
use leafid_core::run::{Holder, RunCall, RunCallEnd};
use std::collections::BTreeMap;

/// The number of a process.
pub(crate) type Pid = usize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Disk {
    locks: BTreeMap<u32, Pid>,
    /// The number of files that were deleted.
    deleted: u128,
    pub(crate) files: BTreeMap<u32, File>,
}

/// A record's file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct File {
    /// `None`: half of a write, which cannot be read.
    slots: [Option<StoredRecord>; 2],
    /// The slot of the record that its holder may rely on: the last one that was read, or reported as durable.
    pub(crate) kept: usize,
    holder: Option<Pid>,
    /// Only its holder has it.
    is_deleted: bool,
    /// What was in a slot before it was written, as long as that is not synced.
    unsynced: Option<(usize, Option<StoredRecord>)>,
}

/// How a write leaves its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(unreachable_pub, reason = "an event of another program has it")]
pub enum Written {
    Whole,
    Half,
    Nothing,
}

pub(crate) fn broken() -> IoFailure {
    IoFailure::other("the disk is broken")
}

impl Disk {
    /// Carries out a call that writes no record and is not the source's. What the process may not do is done all the same.
    pub(crate) fn carry_out(&mut self, who: Pid, call: RunCall) -> (RunCallEnd, Result<(), Wrong>) {
        let mut is_right = true;
        let end = match call {
            RunCall::LockHost(call) => {
                is_right = self.host_lock_of(who).is_none();
                let holder = *self.locks.entry(call.worker_id()).or_insert(who);
                if holder == who { call.taken() } else { call.held() }
            }
            RunCall::UnlockHost(call) => {
                is_right = self.host_lock_of(who).is_some() && self.record_of(who).is_none();
                self.locks.retain(|_, holder| *holder != who);
                call.end()
            }
            RunCall::Holder(call) => {
                let by = self.holder(call.worker_id()).map(|_| "process".into());
                call.end(Holder { by, ..Holder::default() })
            }
            RunCall::Names(call) => call.end(Vec::new()),
            RunCall::ListRecords(call) => {
                let names: Vec<String> = self.files.keys().map(|id| format!("worker-{id}.state")).collect();
                call.end(names.iter().map(String::as_str))
            }
            RunCall::PeekRecord(call) => match self.files.get(&call.worker_id()) {
                None => call.missing().into(),
                Some(file) => call.read_slots(file.slots(), "the record").into(),
            },
            RunCall::OpenRecord(call) => {
                let worker_id = call.worker_id();
                is_right = self.host_lock_of(who) == Some(worker_id) && self.record_of(who).is_none();
                let new = call.initial().expect("it fits");
                let file = self.files.entry(worker_id).or_insert_with(|| File::new(&new));
                let (is_free, slots) = (file.is_free(), file.slots());
                if slots.newest.record.check().is_err() {
                    return (call.held().into(), Err(Wrong::OwnRecordRefused));
                }
                if is_free {
                    (file.holder, file.kept) = (Some(who), 1 - slots.spare);
                }
                if is_free { call.read_slots(slots, "the record").into() } else { call.held().into() }
            }
            RunCall::CloseRecord(call) => {
                is_right = self.record_of(who).is_some();
                self.close_record(who);
                call.end()
            }
            call => unreachable!("{call:?} is not of the disk"),
        };
        (end, if is_right { Ok(()) } else { Err(Wrong::Locks) })
    }

    /// A write has its effect. `fails`: its end says that it has none.
    pub(crate) fn write(
        &mut self,
        who: Pid,
        mut write: RecordWrite,
        (written, fails): (Written, bool),
    ) -> Result<RunCallEnd, Wrong> {
        let deleted = self.deleted;
        let file = self.locked(who).ok_or(Wrong::Locks)?;
        let found = (!file.is_deleted).then(|| file.slots());
        if let Err(error) = write.check_slots(found.as_ref()) {
            return Ok(write.end(Err(error)).into());
        }
        // Of a run that begins: no two have the same.
        let owner = (deleted << 64) + u128::from(file.largest_number()) + 1;
        let (slot, stored) = (write.slot(), write.record(owner).clone());
        file.write(slot, stored, written);
        if fails {
            return Ok(write.failed(FileAction::Write, &broken()).into());
        }
        file.synced(slot);
        Ok(write.end(Ok(())).into())
    }

    pub(crate) fn holder(&self, worker_id: u32) -> Option<Pid> {
        self.locks.get(&worker_id).copied()
    }

    pub(crate) fn host_lock_of(&self, who: Pid) -> Option<u32> {
        self.locks.iter().find(|(_, holder)| **holder == who).map(|(worker_id, _)| *worker_id)
    }

    pub(crate) fn record_of(&self, who: Pid) -> Option<u32> {
        self.files.iter().find(|(_, file)| file.holder == Some(who)).map(|(worker_id, _)| *worker_id)
    }

    /// The record that this process holds.
    pub(crate) fn held(&self, who: Pid) -> Option<&File> {
        self.files.values().find(|file| file.holder == Some(who))
    }

    fn locked(&mut self, who: Pid) -> Option<&mut File> {
        self.files.values_mut().find(|file| file.holder == Some(who))
    }

    pub(crate) fn is_free_of(&self, who: Pid) -> bool {
        self.host_lock_of(who).is_none() && self.record_of(who).is_none()
    }

    /// The process is gone, and its locks with it.
    pub(crate) fn drop_process(&mut self, who: Pid) {
        self.locks.retain(|_, holder| *holder != who);
        self.close_record(who);
    }

    fn close_record(&mut self, who: Pid) {
        self.files.retain(|_, file| file.holder != Some(who) || !file.is_deleted);
        self.files.values_mut().filter(|file| file.holder == Some(who)).for_each(|file| file.holder = None);
    }

    /// A record that is held is deleted. `None`: it is not held, or was deleted before.
    pub(crate) fn delete(&mut self, worker_id: u32) -> Option<()> {
        let file = self.files.get_mut(&worker_id).filter(|file| !file.is_free() && !file.is_deleted)?;
        file.is_deleted = true;
        self.deleted += 1;
        Some(())
    }
}

impl File {
    fn new(bytes: &[u8]) -> File {
        let slots = [0, 1].map(|slot| state::read_slot(bytes, slot));
        File { slots, kept: 0, holder: None, is_deleted: false, unsynced: None }
    }

    pub(crate) fn slots(&self) -> SlotPair {
        let number = |slot: usize| self.slots[slot].as_ref().map(|stored| stored.number);
        let newest = usize::from(number(1) > number(0));
        SlotPair {
            newest: self.slots[newest].clone().expect("one slot is whole"),
            spare: 1 - newest,
            damaged: self.slots[1 - newest].is_none(),
        }
    }

    pub(crate) fn write(&mut self, slot: usize, stored: StoredRecord, written: Written) {
        match written {
            Written::Whole => {
                let before = self.slots[slot].replace(stored);
                self.unsynced.get_or_insert((slot, before));
            }
            Written::Half => self.slots[slot] = None,
            Written::Nothing => {}
        }
    }

    /// The write of this slot is reported as durable.
    pub(crate) fn synced(&mut self, slot: usize) {
        (self.kept, self.unsynced) = (slot, None);
    }

    pub(crate) fn has_unsynced(&self) -> bool {
        self.unsynced.is_some()
    }

    /// `None`: all was synced.
    pub(crate) fn lose_unsynced(&mut self) -> Option<()> {
        let (slot, before) = self.unsynced.take()?;
        self.slots[slot] = before;
        self.slots.iter().any(Option::is_some).then_some(())
    }

    /// `None`: nothing would be left.
    pub(crate) fn lose_newest(&mut self) -> Option<()> {
        let spare = self.slots().spare;
        self.slots[1 - spare] = None;
        self.slots[spare].is_some().then_some(())
    }

    pub(crate) fn is_free(&self) -> bool {
        self.holder.is_none()
    }

    pub(crate) fn largest_number(&self) -> u64 {
        self.slots.iter().flatten().map(|stored| stored.number).max().unwrap_or(0)
    }
}
