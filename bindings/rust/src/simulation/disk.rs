//! The disk of a machine. At a power cut, unsynced writes are lost, torn or kept, in any order.

use super::machine::{Draw, Machine, World, killed};
use crate::os::env::{Disk, FileAccess, FileId, HostLock, LockedFile, NewFile};
use crate::os::mutex::lock;
use leafid_core::Result;
use leafid_core::format::two_slots::SLOT_BYTES;
use leafid_core::options::deployment::{FileSystem, Scope};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) struct File {
    inode: u64,
    /// The content as every process sees it.
    pub(crate) bytes: Vec<u8>,
    /// The content after a power cut, without the pending writes.
    pub(crate) durable: Vec<u8>,
    /// Written, but not synced.
    pending: Vec<(usize, Vec<u8>)>,
    pub(crate) changed_ms: i64,
    /// The process that holds its lock.
    pub(crate) locked: Option<u64>,
}

impl Machine {
    /// Leaves of all files what a power cut leaves.
    pub(crate) fn cut_power(&self, draw: &mut Draw) {
        for (path, before) in std::mem::take(&mut *lock(&self.names)) {
            let mut files = lock(&self.files);
            match before {
                _ if draw.one_in(2) => None,
                Some(file) => files.insert(path, file),
                None => files.remove(&path),
            };
        }
        for file in lock(&self.files).values() {
            let mut file = lock(file);
            let mut pending = std::mem::take(&mut file.pending);
            while !pending.is_empty() {
                let (offset, bytes) = pending.swap_remove(draw.below(pending.len() as i64) as usize);
                match draw.below(4) {
                    0 | 1 => {}
                    2 => put(&mut file.durable, offset, &bytes),
                    _ => tear(&mut file.durable, offset, &bytes, draw.one_in(2), draw.below(1_000)),
                }
            }
            file.bytes = file.durable.clone();
            file.locked = None;
        }
    }

    /// A file that a user creates, instead of another one or over its content.
    pub(crate) fn place(&self, path: &Path, bytes: Vec<u8>, inode: u64, over: bool) {
        let mut files = lock(&self.files);
        let changed_ms = self.now_ms();
        match files.get(path).filter(|_| over) {
            Some(file) => {
                let mut file = lock(file);
                (file.bytes, file.durable, file.changed_ms) = (bytes.clone(), bytes, changed_ms);
                file.pending.clear();
            }
            None => {
                let durable = bytes.clone();
                let file = File { inode, bytes, durable, pending: Vec::new(), changed_ms, locked: None };
                files.insert(path.to_owned(), Arc::new(Mutex::new(file)));
                lock(&self.names).remove(path);
            }
        }
    }

    /// Creates a file whose bytes are durable and whose name is not yet.
    fn link(&self, path: &Path, bytes: Vec<u8>, inode: u64) {
        let before = lock(&self.names).get(path).cloned().flatten();
        self.place(path, bytes, inode, false);
        lock(&self.names).insert(path.to_owned(), before);
    }

    /// Removes a name. A power cut may restore it until its directory is synced.
    pub(crate) fn unlink(&self, path: &Path) {
        if let Some(file) = lock(&self.files).remove(path) {
            lock(&self.names).entry(path.to_owned()).or_insert(Some(file));
        }
    }

    /// Makes the names in a directory durable.
    fn sync_names(&self, directory: Option<&Path>) {
        lock(&self.names).retain(|path, _| path.parent() != directory);
    }

    /// Whether the file at this path survives a power cut.
    pub(crate) fn is_named(&self, path: &Path) -> bool {
        !lock(&self.names).contains_key(path)
    }

    /// All processes are gone.
    pub(crate) fn unlock_all(&self) {
        lock(&self.host_locks).clear();
        lock(&self.files).values().for_each(|file| lock(file).locked = None);
    }

    fn may_panic(&self) {
        assert!(!self.panicking.load(Relaxed), "played");
    }

    /// At most 10 s, so that a failing test ends.
    fn may_hang(&self) {
        for _ in 0..10_000 {
            if !self.hanging.load(Relaxed) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Removes all files, as with the disk of a container.
    pub(crate) fn forget_all(&self) {
        lock(&self.files).clear();
        lock(&self.names).clear();
    }
}

fn put(file: &mut [u8], offset: usize, bytes: &[u8]) {
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// Writes only the front or the back of a slot. The cut depends on the length of the text and lies behind its number,
/// so that a torn slot is never readable, whatever else it contains (pids, the host's name).
fn tear(file: &mut [u8], offset: usize, bytes: &[u8], front: bool, permille: i64) {
    let text = bytes.iter().rposition(|&byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let cut = 60 + text.saturating_sub(60) * permille as usize / 1_000;
    match front {
        true => put(file, offset, &bytes[..cut]),
        false => put(file, offset + cut, &bytes[cut..]),
    }
}

/// The disk as a process sees it.
pub(crate) struct ProcessDisk(pub(crate) World);

impl Disk for ProcessDisk {
    fn directory(&self, _: &Path, _: FileAccess) -> io::Result<(FileId, FileSystem)> {
        let machine = &self.0.machine;
        Ok(((machine.number as u64, 1), lock(&machine.file_system).clone()))
    }

    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self.0.machine.may_panic();
        self.0.fate.alive()?;
        Ok(lock(&self.0.machine.files).get(path).map(|file| lock(file).bytes.clone()))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let files = lock(&self.0.machine.files);
        let inside = files.keys().filter(|file| file.parent() == Some(path));
        Ok(inside.filter_map(|file| Some(file.file_name()?.to_owned())).collect())
    }

    fn open(&self, path: &Path, new: Option<NewFile<'_>>) -> io::Result<Option<Box<dyn LockedFile>>> {
        let World { machine, fate, .. } = &self.0;
        machine.may_panic();
        fate.alive()?;
        let there = lock(&machine.files).contains_key(path);
        match new {
            None if !there => return Err(io::ErrorKind::NotFound.into()),
            Some(_) if !there && machine.failing.load(Relaxed) => {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Some(new) if !there => {
                let (ends, inode) = (fate.ends_here(), fate.below(i64::MAX) as u64);
                if !ends || fate.below(2) == 0 {
                    machine.link(path, new.bytes.to_vec(), inode);
                }
                fate.alive()?;
            }
            _ => {}
        }
        let Some(file) = lock(&machine.files).get(path).cloned() else { return Err(killed()) };
        let number = fate.number;
        // As with flock, this process itself is refused too.
        if lock(&file).locked.is_some() {
            return Ok(None);
        }
        lock(&file).locked = Some(number);
        Ok(Some(Box::new(ProcessFile { world: self.0.clone(), file, path: path.to_owned() })))
    }

    fn machine_id(&self) -> Option<String> {
        Some(format!("machine {}", self.0.machine.number))
    }

    fn lock_worker(&self, name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>> {
        let (key, number) = ((name.to_owned(), worker_id), self.0.fate.number);
        let mut host_locks = lock(&self.0.machine.host_locks);
        if host_locks.contains_key(&key) {
            return Ok(None);
        }
        host_locks.insert(key.clone(), number);
        Ok(Some(Box::new(SimulatedLock(self.0.clone(), key))))
    }

    fn scope(&self) -> Scope {
        self.0.machine.scope
    }

    fn holder(&self, _: &str, _: u32) -> Option<String> {
        None
    }
}

struct SimulatedLock(World, (String, u32));
impl HostLock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        let mut host_locks = lock(&self.0.machine.host_locks);
        if host_locks.get(&self.1) == Some(&self.0.fate.number) {
            host_locks.remove(&self.1);
        }
    }
}

struct ProcessFile {
    world: World,
    file: Arc<Mutex<File>>,
    path: PathBuf,
}

impl Drop for ProcessFile {
    fn drop(&mut self) {
        self.unlock();
    }
}

impl LockedFile for ProcessFile {
    fn read(&self) -> io::Result<Vec<u8>> {
        self.world.fate.alive()?;
        Ok(lock(&self.file).bytes.clone())
    }

    fn put(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        let World { machine, fate, .. } = &self.world;
        machine.may_panic();
        machine.may_hang();
        // A thread of a killed process may still run. It writes nothing any more.
        fate.alive()?;
        let mut file = lock(&self.file);
        file.changed_ms = machine.now_ms();
        let failing = self.world.fails();
        let torn = match fate.ends_here() {
            true if fate.below(3) == 0 => return Err(killed()),
            true => fate.below(2) == 0,
            false => failing,
        };
        match torn {
            true => tear(&mut file.bytes, offset, bytes, fate.below(2) == 0, fate.below(1_000)),
            false => put(&mut file.bytes, offset, bytes),
        }
        let slot = file.bytes[offset..offset + SLOT_BYTES.min(bytes.len())].to_vec();
        file.pending.push((offset, slot));
        fate.alive()?;
        if failing { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&self) -> io::Result<()> {
        let fate = &self.world.fate;
        fate.alive()?;
        if self.world.fails() {
            return Err(io::Error::other("an input/output error"));
        }
        if !fate.ends_here() || fate.below(2) == 0 {
            let mut file = lock(&self.file);
            file.durable = file.bytes.clone();
            file.pending.clear();
        }
        fate.alive()
    }

    fn is_in_place(&self) -> io::Result<bool> {
        let there = lock(&self.world.machine.files).get(&self.path).cloned();
        Ok(there.is_some_and(|there| Arc::ptr_eq(&there, &self.file)))
    }

    fn id(&self) -> io::Result<FileId> {
        Ok((self.world.machine.number as u64, lock(&self.file).inode))
    }

    fn sync_name(&self) -> io::Result<()> {
        let World { machine, fate, .. } = &self.world;
        fate.alive()?;
        if self.world.fails() {
            return Err(io::Error::other("an input/output error"));
        }
        if !fate.ends_here() || fate.below(2) == 0 {
            machine.sync_names(self.path.parent());
        }
        fate.alive()
    }

    fn changed_ms(&self) -> io::Result<i64> {
        Ok(lock(&self.file).changed_ms)
    }

    fn unlock(&self) {
        let mut file = lock(&self.file);
        if file.locked == Some(self.world.fate.number) {
            file.locked = None;
        }
    }
}
