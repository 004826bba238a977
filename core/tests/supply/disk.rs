//! The disk of the world: files that several processes open, lock, read and write in place. What was written is
//! durable once its write was reported as such; a power cut takes away everything else.

use std::collections::BTreeMap;

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is durable.
    Durable,
    /// It is there for all readers, until the power is cut.
    Cached,
    /// Half of it is there, and the other half as it was.
    Torn,
    /// Nothing is there.
    Lost,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    durable: Vec<u8>,
    /// The process that locks it, and the number of its call.
    pub(crate) locked: Option<(u64, u64)>,
    /// Its identity.
    pub(crate) id: (u64, u64),
    /// The kernel's time of its last write.
    pub(crate) changed_ms: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    files: BTreeMap<String, File>,
    numbers: u64,
}

impl Disk {
    pub(crate) fn file(&self, name: &str) -> Option<&File> {
        self.files.get(name)
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&String, &File)> {
        self.files.iter()
    }

    /// Makes a file with all of its bytes at once, durably, if there is none.
    pub(crate) fn create(&mut self, name: &str, bytes: &[u8], now_ms: i64) {
        if !self.files.contains_key(name) {
            self.numbers += 1;
            let (bytes, durable) = (bytes.to_vec(), bytes.to_vec());
            let file = File { bytes, durable, locked: None, id: (7, self.numbers), changed_ms: now_ms };
            self.files.insert(name.to_owned(), file);
        }
    }

    /// Whether the caller holds the lock of a file from now on.
    pub(crate) fn lock(&mut self, name: &str, holder: (u64, u64)) -> bool {
        let Some(file) = self.files.get_mut(name) else { return false };
        file.locked.get_or_insert(holder) == &holder
    }

    pub(crate) fn unlock(&mut self, holder: (u64, u64)) {
        self.files
            .values_mut()
            .filter(|file| file.locked == Some(holder))
            .for_each(|file| file.locked = None);
    }

    /// A process has ended: what it locked is free.
    pub(crate) fn unlock_all(&mut self, process: u64) {
        let its = |file: &&mut File| file.locked.is_some_and(|(holder, _)| holder == process);
        self.files.values_mut().filter(its).for_each(|file| file.locked = None);
    }

    pub(crate) fn write(&mut self, name: &str, offset: usize, bytes: &[u8], fate: Fate, now_ms: i64) {
        let Some(file) = self.files.get_mut(name) else { return };
        let kept = match fate {
            Fate::Durable | Fate::Cached => bytes.len(),
            Fate::Torn => bytes.len() / 2,
            Fate::Lost => return,
        };
        file.bytes[offset..offset + kept].copy_from_slice(&bytes[..kept]);
        file.changed_ms = now_ms;
        if fate == Fate::Durable {
            file.durable = file.bytes.clone();
        }
    }

    /// All files are as they were made durable, with a slot that was torn as it is.
    pub(crate) fn cut_power(&mut self) {
        self.files.values_mut().for_each(|file| (file.bytes, file.locked) = (file.durable.clone(), None));
    }

    /// The bytes of a file that outlive a power cut.
    pub(crate) fn durable(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(|file| file.durable.as_slice())
    }
}
