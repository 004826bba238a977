//! The hosts of a world: clocks, host locks, and records of two slots under a lock.

use super::caches::Caches;
use crate::common::NOW_MS;
use leafid_core::call::Clocks;
use leafid_core::format::state::{self, SlotPair, StoredRecord};
use leafid_core::format::two_slots::SLOT_BYTES;
use std::collections::BTreeMap;
use std::time::Duration;

/// The number of a process. None is ever used twice.
pub(crate) type Pid = usize;

/// A machine. All times of the world are milliseconds since its beginning.
#[derive(Debug)]
pub(crate) struct Host {
    /// How far its clock is from the true time.
    pub(crate) off_ms: i64,
    /// Since when its clock stands still.
    pub(crate) stands_since: Option<u64>,
    /// When it started. Its boot clock began then.
    booted: u64,
    boots: u64,
    locks: BTreeMap<u32, Pid>,
    pub(crate) files: BTreeMap<u32, StateFile>,
    pub(crate) caches: Caches,
    /// From when on it reaches each of the lease servers, which share one table.
    pub(crate) reaches_from: [u64; 2],
}

/// A record's file.
#[derive(Debug)]
pub(crate) struct StateFile {
    pub(crate) bytes: Vec<u8>,
    holder: Option<Pid>,
    /// What the slots hold, read once a change.
    newest: Option<StoredRecord>,
    /// The slot of the record that its holder may rely on: the last one that was read, or reported as durable.
    kept: usize,
}

/// How a write of a slot leaves the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Whole,
    /// Half of the new bytes, half of the old ones.
    Half,
    Nothing,
}

impl Host {
    pub(crate) fn new(off_ms: i64) -> Host {
        let (locks, files, caches) = Default::default();
        let reaches_from = [0; 2];
        Host { off_ms, stands_since: None, booted: 0, boots: 0, locks, files, caches, reaches_from }
    }

    /// `now` is the true time.
    pub(crate) fn clocks(&self, now: u64) -> Clocks {
        let wall = self.stands_since.unwrap_or(now);
        // The machine was up for a while when the world began.
        let boot = Duration::from_millis(now - self.booted + if self.boots == 0 { 1_000_000 } else { 3_000 });
        Clocks { wall_ms: NOW_MS + wall as i64 + self.off_ms, boot }
    }

    /// The time of the world when the boot clock reads this.
    pub(crate) fn time_at(&self, boot: Duration) -> u64 {
        let began = if self.boots == 0 { 1_000_000 } else { 3_000 };
        (self.booted + boot.as_millis() as u64).saturating_sub(began)
    }

    pub(crate) fn boot_id(&self) -> String {
        format!("boot-{}", self.boots)
    }

    /// The machine is started again: nothing of its processes is left.
    pub(crate) fn boot(&mut self, now: u64) {
        (self.booted, self.boots, self.stands_since) = (now, self.boots + 1, None);
        self.locks.clear();
        self.files.values_mut().for_each(|file| file.holder = None);
    }

    /// The process is gone, and its locks with it.
    pub(crate) fn drop_process(&mut self, pid: Pid) {
        self.locks.retain(|_, holder| *holder != pid);
        self.files.values_mut().filter(|file| file.holder == Some(pid)).for_each(|file| file.holder = None);
    }

    /// Whether the lock was taken.
    pub(crate) fn lock(&mut self, worker_id: u32, pid: Pid) -> bool {
        assert!(
            self.locks.get(&worker_id) != Some(&pid),
            "process {pid} takes the host lock of {worker_id} twice"
        );
        let free = !self.locks.contains_key(&worker_id);
        if free {
            assert!(
                self.locks.values().all(|holder| *holder != pid),
                "process {pid} takes the host lock of {worker_id} beside another one: {:?}",
                self.locks
            );
            self.locks.insert(worker_id, pid);
        }
        free
    }

    pub(crate) fn holder(&self, worker_id: u32) -> Option<Pid> {
        self.locks.get(&worker_id).copied()
    }

    pub(crate) fn host_lock_of(&self, pid: Pid) -> Option<u32> {
        self.locks.iter().find(|(_, holder)| **holder == pid).map(|(worker_id, _)| *worker_id)
    }

    pub(crate) fn record_of(&self, pid: Pid) -> Option<u32> {
        self.files.iter().find(|(_, file)| file.holder == Some(pid)).map(|(worker_id, _)| *worker_id)
    }

    pub(crate) fn unlock(&mut self, pid: Pid) {
        assert_eq!(self.record_of(pid), None, "process {pid} gives the host lock back before the record");
        assert!(
            self.host_lock_of(pid).is_some(),
            "process {pid} gives a host lock back that it does not hold"
        );
        self.locks.retain(|_, holder| *holder != pid);
    }

    /// Whether the record was locked. `new` is the content of a new file.
    pub(crate) fn open(&mut self, worker_id: u32, pid: Pid, new: &[u8]) -> bool {
        assert_eq!(
            self.host_lock_of(pid),
            Some(worker_id),
            "process {pid} opens a record without its host lock"
        );
        assert_eq!(self.record_of(pid), None, "process {pid} opens a second record");
        let file = self.files.entry(worker_id).or_insert_with(|| StateFile::new(new));
        let free = file.holder.is_none();
        if free {
            (file.holder, file.kept) = (Some(pid), file.read());
        }
        free
    }

    /// The record that this process holds.
    pub(crate) fn locked(&mut self, pid: Pid) -> &mut StateFile {
        let file = self.files.values_mut().find(|file| file.holder == Some(pid));
        file.unwrap_or_else(|| panic!("process {pid} uses a record that it does not hold"))
    }

    pub(crate) fn close(&mut self, pid: Pid) {
        self.locked(pid).holder = None;
    }
}

impl StateFile {
    fn new(bytes: &[u8]) -> StateFile {
        let mut file = StateFile { bytes: bytes.into(), holder: None, newest: None, kept: 0 };
        file.read();
        file
    }

    /// Returns the slot of the newest record.
    fn read(&mut self) -> usize {
        let slots = state::read_file("the record", &self.bytes);
        let SlotPair { newest, spare, .. } =
            slots.unwrap_or_else(|error| panic!("both slots are lost: {error}"));
        self.newest = Some(newest);
        1 - spare
    }

    /// The newest record that can be read.
    pub(crate) fn newest(&self) -> &StoredRecord {
        self.newest.as_ref().expect("it was read")
    }

    /// The slot that may not be written now.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }

    /// What was just written is reported as durable.
    pub(crate) fn keep(&mut self, slot: usize) {
        self.kept = slot;
    }

    /// The largest number in a slot that can be read.
    pub(crate) fn largest_number(&self) -> u64 {
        (0..2)
            .filter_map(|slot| state::read_slot(&self.bytes, slot))
            .map(|stored| stored.number)
            .max()
            .unwrap_or(0)
    }

    pub(crate) fn write(&mut self, slot: usize, bytes: &[u8], written: Written) {
        let place = &mut self.bytes[slot * SLOT_BYTES..][..SLOT_BYTES];
        match written {
            Written::Whole => place.copy_from_slice(bytes),
            Written::Half => {
                place[..bytes.len() / 64].copy_from_slice(&bytes[..bytes.len() / 64]);
                // Where the old and the new bytes are alike, half of a write would be a whole one.
                place[bytes.len() / 64] = 0;
            }
            Written::Nothing => {}
        }
        self.read();
    }
}
