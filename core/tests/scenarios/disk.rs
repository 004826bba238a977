//! The files and locks of one machine, in memory, and the part of a host that carries out calls for them.

use super::words::Words;
use leafid_core::IdOrder;
use leafid_core::call::{Clocks, FileAction, IoFailure, SharedFailure};
use leafid_core::format::file_steps::{FileFacts, FileStep};
use leafid_core::format::two_slots::{SLOT_BYTES, checked};
use leafid_core::run::cache_read::lease_file_name;
use leafid_core::run::record_open::record_file_name;
use leafid_core::run::{Holder, RunCall, RunCallEnd};
use leafid_core::supply::memory_mark::MemoryMark;
use leafid_core::supply::{Call, CallEnd};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Disk {
    /// By their names, which begin with the id space.
    files: BTreeMap<String, File>,
    /// The number of the last file that was made.
    made: u64,
    /// The records and worker ids of the host that are locked, and by whom.
    locks: BTreeMap<String, String>,
    /// The marks of processes without files, by process and tag.
    memory: BTreeMap<(String, String), MemoryMark>,
}

struct File {
    bytes: Vec<u8>,
    id: u64,
    changed_ms: i64,
}

/// For whom a call is carried out.
pub(super) struct For<'a> {
    pub(super) space: &'a str,
    pub(super) owner: &'a str,
    pub(super) clocks: Clocks,
    /// The clock after the filter.
    pub(super) now_ms: i64,
    pub(super) random: u128,
}

/// How a scenario has a call to the disk end.
#[derive(Default)]
pub(super) struct Ending {
    held: bool,
    fails: Option<String>,
    /// A failed write is half there, or whole.
    torn: bool,
    written: bool,
}

impl Ending {
    pub(super) fn of(words: &Words<'_>) -> Ending {
        let fails = words.text("fails").map(Into::into);
        let held = words.text("gives").is_some_and(|gives| gives == "held" || panic!("it gives {gives:?}"));
        Ending { held, fails, torn: words.is_set("torn"), written: words.is_set("written") }
    }

    fn failure(&self) -> Option<IoFailure> {
        self.fails.as_ref().map(IoFailure::other)
    }
}

impl File {
    fn put(&mut self, offset: usize, bytes: &[u8], clocks: Clocks) {
        self.bytes[offset..][..bytes.len()].copy_from_slice(bytes);
        self.changed_ms = clocks.wall_ms;
    }

    /// Carries out the steps of a change.
    fn change(&mut self, its: &For<'_>, mut step: impl FnMut(&[u8], FileFacts) -> FileStep) {
        loop {
            let facts = FileFacts { id: (1, self.id), changed_ms: self.changed_ms, now_ms: its.now_ms };
            let FileStep::Write { offset, bytes, .. } = step(&self.bytes, facts) else { return };
            self.put(offset, &bytes[..], its.clocks);
        }
    }

    /// The slot with the higher number.
    fn newest(&self) -> usize {
        let number = |slot: usize| -> Option<i64> {
            let text = checked(&self.bytes[slot * SLOT_BYTES..][..SLOT_BYTES])?;
            serde_json::from_str::<Value>(text).ok()?["number"].as_i64()
        };
        usize::from(number(1) > number(0))
    }
}

impl Disk {
    fn make(&mut self, name: &str, new: &[u8], clocks: Clocks) -> &mut File {
        self.made += 1;
        let file = File { bytes: new.into(), id: self.made, changed_ms: clocks.wall_ms };
        self.files.entry(name.into()).or_insert(file)
    }

    fn lock(&mut self, what: String, owner: &str) -> bool {
        *self.locks.entry(what).or_insert_with(|| owner.into()) == owner
    }

    /// The process is gone.
    pub(super) fn unlock_all(&mut self, owner: &str) {
        self.locks.retain(|_, by| by != owner);
        self.memory.retain(|(by, _), _| by != owner);
    }

    /// The machine has ended.
    pub(super) fn unlock(&mut self) {
        self.locks.clear();
        self.memory.clear();
    }

    /// A slot of a file loses some of what was written.
    pub(super) fn damage(&mut self, name: &str, slot: &str) {
        let file = self.files.get_mut(name).unwrap_or_else(|| panic!("there is no file {name}"));
        let newest = file.newest();
        let slots: &[usize] = match slot {
            "newest" => &[newest],
            "older" => &[1 - newest],
            "both" => &[0, 1],
            _ => panic!("no slot {slot:?}"),
        };
        slots.iter().for_each(|slot| file.bytes[slot * SLOT_BYTES + 30] ^= 1);
    }

    pub(super) fn remove(&mut self, name: &str) {
        assert!(self.files.remove(name).is_some(), "there is no file {name}");
    }

    /// Carries out a call of a run that is not its source's.
    pub(super) fn run(&mut self, call: RunCall, its: &For<'_>, ending: &Ending) -> RunCallEnd {
        let in_space = |name: &str| format!("{}/{name}", its.space);
        let locked = |worker_id: u32| format!("worker id {worker_id} of {}", its.space);
        let of_shared = || ending.failure().map(|failure| SharedFailure::Io(FileAction::Write, failure));
        match call {
            RunCall::LockHost(call) => {
                let is_ours = !ending.held && self.lock(locked(call.worker_id()), its.owner);
                if is_ours { call.taken() } else { call.held() }
            }
            RunCall::UnlockHost(call) => {
                self.locks.remove(&locked(call.worker_id()));
                call.end()
            }
            RunCall::Holder(call) => {
                let by = self.locks.get(&locked(call.worker_id())).map(|by| format!("the process {by}"));
                call.end(Holder { by, ..Holder::default() })
            }
            RunCall::Names(call) => {
                let prefix = format!("worker id {} of ", call.worker_id());
                let names = self.locks.keys().filter_map(|name| name.strip_prefix(&prefix));
                let names = names.filter(|name| *name != its.space).map(Into::into).collect();
                call.end(names)
            }
            RunCall::ListRecords(call) => {
                let prefix = in_space("");
                call.end(self.files.keys().filter_map(|name| name.strip_prefix(&prefix)))
            }
            RunCall::PeekRecord(call) => {
                let name = in_space(&record_file_name(call.worker_id()));
                match (self.files.get(&name), ending.failure()) {
                    (None, _) => call.missing().into(),
                    (Some(_), Some(failure)) => call.failed(name, &failure).into(),
                    (Some(file), None) => call.read(&file.bytes, name).into(),
                }
            }
            RunCall::OpenRecord(call) => {
                let name = in_space(&record_file_name(call.worker_id()));
                if let Some(failure) = ending.failure() {
                    return call.failed(FileAction::Open, name, &failure).into();
                }
                if ending.held || !self.lock(name.clone(), its.owner) {
                    return call.held().into();
                }
                let new = call.initial().unwrap();
                let file = self.make(&name, &new, its.clocks);
                call.read(&file.bytes, name).into()
            }
            RunCall::WriteRecord(mut write) => {
                let record = in_space(&record_file_name(write.record(its.random).record.worker_id));
                let mut file = self.files.get_mut(&record);
                if let Err(error) = write.check(file.as_deref().map(|file| &file.bytes[..])) {
                    return write.end(Err(error)).into();
                }
                let bytes = write.bytes(its.random).unwrap();
                let length = if ending.torn { SLOT_BYTES / 64 } else { SLOT_BYTES };
                if let Some(file) = &mut file
                    && (ending.torn || ending.written || ending.fails.is_none())
                {
                    file.put(write.offset(), &bytes[..length], its.clocks);
                }
                match ending.failure() {
                    Some(failure) => write.failed(FileAction::Write, &failure).into(),
                    None => write.end(Ok(())).into(),
                }
            }
            RunCall::CloseRecord(call) => {
                self.locks.remove(&in_space(&record_file_name(call.worker_id())));
                call.end()
            }
            RunCall::ListLeaseCaches(mut call) => {
                let prefix = in_space("");
                for (name, file) in &self.files {
                    if let Some(name) = name.strip_prefix(&prefix) {
                        call.add(name, &file.bytes);
                    }
                }
                call.end(its.clocks.boot, its.now_ms).into()
            }
            RunCall::ReadLeaseCache(call) => {
                let name = in_space(&lease_file_name(call.worker_id()));
                match (self.files.get(&name), of_shared()) {
                    (None, _) => call.missing().into(),
                    (Some(_), Some(failure)) => call.failed(name, &failure).into(),
                    (Some(file), None) => {
                        let facts =
                            FileFacts { id: (1, file.id), changed_ms: file.changed_ms, now_ms: its.now_ms };
                        call.end(&file.bytes, facts, its.clocks.boot, true, name).into()
                    }
                }
            }
            RunCall::WriteLeaseCache(mut call) => {
                let name = in_space(&lease_file_name(call.worker_id()));
                if let Some(failure) = of_shared() {
                    return call.failed(name, &failure).into();
                }
                let new = call.initial(true).unwrap().unwrap();
                let file = self.make(&name, &new, its.clocks);
                file.change(its, |bytes, facts| call.step(bytes, facts, 0, &name));
                call.end(name).into()
            }
            RunCall::DropLeaseCache(mut call) => {
                let name = in_space(&lease_file_name(call.worker_id()));
                match (self.files.get_mut(&name), of_shared()) {
                    (None, _) => call.missing(name).into(),
                    (Some(_), Some(failure)) => call.failed(name, &failure).into(),
                    (Some(file), None) => {
                        file.change(its, |bytes, facts| call.step(bytes, facts, &name));
                        call.end().into()
                    }
                }
            }
            call => panic!("{call:?} is of a source"),
        }
    }

    /// Carries out a call of a supply that is not its source's. `order`: of the ids, where marks are in memory.
    pub(super) fn supply(
        &mut self,
        call: Call,
        its: &For<'_>,
        (in_files, order): (bool, IdOrder),
        ending: &Ending,
    ) -> CallEnd {
        let in_space = |name: &str| format!("{}/{name}", its.space);
        let of_tag = |tag: &str| (its.owner.to_owned(), tag.to_owned());
        let of_shared = || ending.failure().map(|failure| SharedFailure::Io(FileAction::Write, failure));
        match call {
            Call::ListMarks(mut list) => {
                let prefix = in_space(&list.prefix());
                for (name, file) in self.files.range(prefix.clone()..) {
                    if name.starts_with(&prefix) {
                        list.add(&name[its.space.len() + 1..], &file.bytes);
                    }
                }
                list.end(its.now_ms).into()
            }
            Call::ReadMark(read) if !in_files => {
                let mark = self.memory.get(&of_tag(&read.key().tag));
                read.end_in_memory(mark).into()
            }
            Call::ReadMark(read) => {
                let name = in_space(&read.key().file_name());
                match of_shared() {
                    Some(failure) => read.failed(name, &failure).into(),
                    None => {
                        let found = self.files.get(&name).map(|file| &file.bytes[..]);
                        read.end(found, name).into()
                    }
                }
            }
            Call::UpdateMark(update) if !in_files => {
                let mark = self.memory.entry(of_tag(&update.key().tag));
                update.end_in_memory(mark.or_insert_with(|| MemoryMark::new(order))).into()
            }
            Call::UpdateMark(mut update) => {
                let name = in_space(&update.key().file_name());
                if let Some(failure) = of_shared().filter(|_| !ending.written) {
                    return update.failed(name, &failure).into();
                }
                if update.needs_memory() {
                    let mark = self.memory.entry(of_tag(&update.key().tag));
                    update.recall(mark.or_insert_with(|| MemoryMark::new(order)));
                }
                let new = update.initial().unwrap();
                if !self.files.contains_key(&name) {
                    let Some(new) = new else { return update.missing().into() };
                    self.make(&name, &new, its.clocks);
                }
                let file = self.files.get_mut(&name).unwrap();
                // A host that heard of a failure does not go on.
                let mut is_over = false;
                file.change(its, |bytes, facts| match std::mem::replace(&mut is_over, ending.written) {
                    true => FileStep::Done,
                    false => update.step(bytes, facts, &name),
                });
                match of_shared() {
                    Some(failure) => update.failed(name, &failure).into(),
                    None => update.end().into(),
                }
            }
            call => panic!("{call:?} is of a source"),
        }
    }
}
