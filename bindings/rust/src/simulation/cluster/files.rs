//! The faults of files: records, locks, marks of tags.

use super::Simulation;
use super::disk::File;
use super::faults::FORGETS_MS;
use super::machine::Machine;
use crate::os::mutex::lock;
use leafid_core::format::shared::is_stamp_of;
use leafid_core::format::state;
use leafid_core::format::two_slots::{SLOT_BYTES, checked};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

impl Simulation {
    /// A record that was in use a moment ago, or one of the others.
    fn some_file(&mut self, machine: &Machine) -> Option<PathBuf> {
        let files = lock(&machine.files);
        let all: Vec<&PathBuf> = files.keys().filter(|path| is_record(path)).collect();
        (!all.is_empty()).then(|| self.draw.of(&all).clone())
    }

    /// Damages a slot, as a crash does.
    fn damage(&mut self, at: usize, file: &Mutex<File>) {
        self.troubles[at].steady_until_ms = self.machines.0[at].now_ms() + FORGETS_MS;
        let offset = SLOT_BYTES * self.draw.below(2) as usize + 20;
        lock(file).bytes[offset] ^= 1;
        lock(file).durable[offset] ^= 1;
        self.count("slot damaged");
        if self.draw.one_in(2) {
            self.kill_all(at);
        }
    }

    /// Puts back a copy of a mark with its unused ids, for a source that never repeats itself. Not within the tolerance
    /// of the time of a write: no program can copy the file, use it and put it back that fast.
    pub(crate) fn put_back(&mut self, at: usize, machine: &Machine) {
        let clock_ms = machine.now_ms();
        let marked = &mut self.troubles[at].marked;
        if let Some((path, bytes, _)) =
            marked.take_if(|(_, _, changed_ms)| !is_stamp_of(clock_ms, *changed_ms))
        {
            machine.place(&path, bytes, 0, true);
            self.count("rest of segments put back");
        }
    }

    /// Copies the mark of a directory without running processes.
    pub(crate) fn copy_mark(&mut self, at: usize) {
        let kept = |file: &Vec<u8>| {
            let text = String::from_utf8_lossy(file);
            text.contains("\"source\":\"file:") && text.contains("\"kept\"")
        };
        let files = lock(&self.machines.0[at].files);
        let found = files.iter().map(|(path, file)| (path, lock(file)));
        let mut found = found.filter(|(_, file)| kept(&file.bytes));
        self.troubles[at].marked =
            found.next().map(|(path, file)| (path.clone(), file.bytes.clone(), file.changed_ms));
    }

    pub(crate) fn trouble_files(&mut self, at: usize, machine: &Machine) {
        let clock_ms = machine.now_ms();
        let steady = clock_ms >= self.troubles[at].highest_ms;
        let kind = self.draw.below(12);
        match kind {
            9 => return self.put_back(at, machine),
            10.. => return self.rot(machine),
            _ => {}
        }
        if kind < 2 {
            if clock_ms >= self.troubles[at].steady_until_ms && at != crate::simulation::cluster::CONTAINERS {
                machine.step_clock(-1 - self.draw.amount(4_500));
                self.count("clock steps back");
            }
            return;
        }
        let Some(path) = self.some_file(machine) else { return };
        let Some(file) = lock(&machine.files).get(&path).cloned() else { return };
        if kind == 2 {
            // The host lock excludes other processes.
            lock(&file).locked = None;
            return self.count("lock vanishes");
        }
        if kind == 3 {
            // The lock of the file does.
            let held = lock(&machine.host_locks).keys().next().cloned();
            if let Some(held) = held {
                lock(&machine.host_locks).remove(&held);
                self.count("host lock vanishes");
            }
            return;
        }
        if kind == 4 {
            let bytes = lock(&file).bytes.clone();
            self.troubles[at].copied = Some((path, bytes));
            return;
        }
        if kind == 5 {
            let found = state::read_file(path.display(), &lock(&file).bytes);
            if found.is_ok_and(|found| found.newest.record.granted_at_ms <= clock_ms) {
                self.damage(at, &file);
            }
            return;
        }
        // A lost record may be ahead of a clock that stepped back.
        if !steady || at == crate::simulation::cluster::CONTAINERS {
            return;
        }
        self.troubles[at].steady_until_ms = clock_ms + FORGETS_MS;
        let inode = self.draw.number();
        match kind {
            6 => {
                machine.unlink(&path);
                self.count("record vanishes");
            }
            7 => {
                let all: Vec<_> =
                    lock(&machine.files).keys().filter(|path| is_record(path)).cloned().collect();
                all.iter().for_each(|path| machine.unlink(path));
                self.count("records of the directory vanish");
            }
            _ => {
                let Some((copied, bytes)) = self.troubles[at].copied.take() else { return };
                let onto = if self.draw.one_in(2) { copied } else { path };
                machine.place(&onto, bytes, inode, self.draw.one_in(2));
                self.count("record copied or restored");
            }
        }
        self.troubles[at].closed_until_ms = clock_ms + FORGETS_MS;
    }

    /// Damages the newest slot of a counter, or of a mark of its ids, if both slots are readable. The marker identifies the
    /// directory.
    fn rot(&mut self, machine: &Machine) {
        let is_of_counter = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.contains("\"source\":\"file:") || text.contains("\"next\"")
        };
        let files = lock(&machine.files);
        let number =
            |slot: &[u8]| serde_json::from_str::<serde_json::Value>(checked(slot)?).ok()?["number"].as_u64();
        let all = files.values().map(|file| lock(file)).filter(|file| is_of_counter(&file.bytes));
        let mut whole: Vec<_> = all
            .filter_map(|file| {
                let (first, second) = file.bytes.split_at(SLOT_BYTES);
                let is_second = number(second)? > number(first)?;
                Some((file, SLOT_BYTES * usize::from(is_second) + 40))
            })
            .collect();
        if !whole.is_empty() {
            let one = self.draw.below(whole.len() as i64) as usize;
            let (file, offset) = &mut whole[one];
            file.bytes[*offset] ^= 1;
            file.durable[*offset] ^= 1;
            self.count("newest slot of a counter or mark lost");
        }
    }

    /// Removes unreadable files after some time, as an operator does who saw the error.
    pub(crate) fn tidy(&mut self, at: usize) {
        let machine = Arc::clone(&self.machines.0[at]);
        let clock_ms = machine.now_ms();
        let in_use = |number: u64| {
            self.snowflakes.iter().flat_map(|unit| &unit.running).any(|p| p.world.fate.number == number)
        };
        let held = |id: Option<u64>| id.is_some_and(in_use);
        let unreadable: Vec<PathBuf> = lock(&machine.files)
            .iter()
            .filter(|(path, file)| {
                let file = lock(file);
                let found = state::read_file(path.display(), &file.bytes);
                let right = found.is_ok_and(|found| {
                    name_of(found.newest.record.worker_id)
                        == path.file_name().and_then(|n| n.to_str()).unwrap_or_default()
                });
                is_record(path) && !right && !held(file.locked)
            })
            .map(|(path, _)| path.clone())
            .collect();
        if !unreadable.is_empty()
            && clock_ms >= self.troubles[at].highest_ms
            && clock_ms >= self.troubles[at].steady_until_ms
        {
            unreadable.iter().for_each(|path| machine.unlink(path));
            self.troubles[at].steady_until_ms = clock_ms + FORGETS_MS;
            self.troubles[at].closed_until_ms = clock_ms + FORGETS_MS;
        }
    }
}

fn name_of(id: u32) -> String {
    format!("worker-{id}.state")
}

fn is_record(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "state")
}
