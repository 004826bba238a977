//! Descriptors that a forked child must close: locks and sockets, which a fork copies.
//!
//! A child that keeps the copy of a lock keeps the worker id of its parent after the parent's death. So every such
//! descriptor is in a table that a child walks with only atomics, `fstat` and `close`.

use crate::os::per_process::PerProcess;
use crate::os::process::{self, forks};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

static TABLE: PerProcess<FdTable> = PerProcess::new();

/// The descriptors of one process: chunks that are never freed.
pub(crate) struct FdTable {
    first: Chunk,
}

struct Chunk {
    entries: [FdEntry; 64],
    next: AtomicPtr<Chunk>,
}

/// One descriptor and the identity of its file. Other code may have closed and reused a number.
struct FdEntry {
    /// FREE, TAKEN, or a registration: a serial number above 32 bits of the descriptor plus 2.
    state: AtomicU64,
    device: AtomicU64,
    inode: AtomicU64,
}

const FREE: u64 = 0;
const TAKEN: u64 = 1;

impl Chunk {
    const fn new() -> Chunk {
        Chunk { entries: [const { FdEntry::new() }; 64], next: AtomicPtr::new(ptr::null_mut()) }
    }

    fn next(&self) -> Option<&'static Chunk> {
        // SAFETY: chunks are leaked when they are linked, and never freed.
        unsafe { self.next.load(Acquire).as_ref() }
    }
}

impl FdEntry {
    const fn new() -> FdEntry {
        FdEntry { state: AtomicU64::new(FREE), device: AtomicU64::new(0), inode: AtomicU64::new(0) }
    }

    /// The descriptor, if it still refers to the registered file.
    fn descriptor(&self) -> Option<RawFd> {
        let fd = fd_of(self.state.load(Acquire))?;
        let known = (self.device.load(Acquire), self.inode.load(Acquire));
        (identity(fd) == Some(known)).then_some(fd)
    }
}

/// The descriptor number in a registration.
fn fd_of(state: u64) -> Option<RawFd> {
    (state as u32).checked_sub(2).map(|fd| fd as RawFd)
}

/// Device and inode; `None` if the descriptor is closed.
fn identity(fd: RawFd) -> Option<(u64, u64)> {
    // SAFETY: fstat of a number that is no open descriptor fails and does nothing.
    let stat = rustix::fs::fstat(unsafe { BorrowedFd::borrow_raw(fd) }).ok()?;
    Some((stat.st_dev as u64, stat.st_ino as u64))
}

impl FdTable {
    fn entries(&self) -> impl Iterator<Item = &FdEntry> {
        std::iter::successors(Some(&self.first), |chunk| chunk.next()).flat_map(|chunk| &chunk.entries)
    }

    /// Registers an open descriptor. If another entry has this number, other code has closed that entry's descriptor.
    fn register(&self, fd: RawFd) -> (&FdEntry, u64) {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        for entry in self.entries() {
            let state = entry.state.load(Acquire);
            if fd_of(state) == Some(fd) {
                let _ = entry.state.compare_exchange(state, FREE, AcqRel, Acquire);
            }
        }
        let entry = self.take();
        let (device, inode) = identity(fd).unwrap_or_default();
        entry.device.store(device, Release);
        entry.inode.store(inode, Release);
        let state = SERIAL.fetch_add(1, AcqRel) << 32 | (fd as u64 + 2);
        entry.state.store(state, Release);
        (entry, state)
    }

    fn take(&self) -> &FdEntry {
        loop {
            let free = |entry: &&FdEntry| entry.state.compare_exchange(FREE, TAKEN, AcqRel, Acquire).is_ok();
            if let Some(entry) = self.entries().find(free) {
                return entry;
            }
            let mut last = &self.first;
            while let Some(next) = last.next() {
                last = next;
            }
            let fresh = Box::into_raw(Box::new(Chunk::new()));
            if last.next.compare_exchange(ptr::null_mut(), fresh, AcqRel, Acquire).is_err() {
                // SAFETY: made above and never linked.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
    }
}

/// The table of the process that installed it. If it is read before the page is found wiped, it is an ancestor's.
pub(crate) fn current_table() -> Option<&'static FdTable> {
    TABLE.load_any()
}

/// Closes the descriptors of an ancestor's table. It is async-signal-safe, and several threads may run it at once.
pub(crate) fn close_all(inherited: Option<&'static FdTable>) {
    for entry in inherited.into_iter().flat_map(FdTable::entries) {
        let state = entry.state.load(Acquire);
        if let Some(fd) = entry.descriptor()
            && entry.state.compare_exchange(state, FREE, AcqRel, Acquire).is_ok()
        {
            // SAFETY: this process's copy of a descriptor that only leafid's table still names.
            drop(unsafe { OwnedFd::from_raw_fd(fd) });
        }
    }
}

/// An open descriptor that every forked child closes. A lock on it lasts until it is closed. In a child, `drop` does
/// nothing.
pub(crate) struct ForkSafeFd {
    fd: ManuallyDrop<OwnedFd>,
    entry: &'static FdEntry,
    /// The entry's state while the registration is valid.
    state: u64,
    generation: u64,
}

impl ForkSafeFd {
    /// Opens with `open` and registers the descriptor, before any lock is taken on it. A fork between the two would
    /// copy a descriptor that no child closes, so then it opens again.
    pub(crate) fn open(mut open: impl FnMut() -> io::Result<OwnedFd>) -> io::Result<ForkSafeFd> {
        let mut tries = 0;
        loop {
            let generation = process::generation();
            let seen = forks();
            let table = TABLE.get_or_install(|| FdTable { first: Chunk::new() });
            // SAFETY: TABLE is a static, and its nodes are never freed.
            let table: &'static FdTable = unsafe { &*ptr::from_ref(table) };
            let fd = open()?;
            let (entry, state) = table.register(fd.as_raw_fd());
            // In the child of a fork in between it belongs to the parent: dropping it does nothing.
            let descriptor = ForkSafeFd { fd: ManuallyDrop::new(fd), entry, state, generation };
            tries += 1;
            if generation == process::generation() && (forks() == seen || tries >= 100) {
                return Ok(descriptor);
            }
        }
    }

    /// The descriptor, for the process that opened it. Errors: in a forked child, which must not touch its parent's
    /// descriptor.
    pub(crate) fn fd(&self) -> io::Result<BorrowedFd<'_>> {
        match self.generation == process::generation() {
            true => Ok(self.fd.as_fd()),
            false => Err(io::Error::other("opened before a fork, by the parent")),
        }
    }

    /// The same, unless other code closed it: the number may then belong to another file.
    pub(crate) fn still_open(&self) -> Option<BorrowedFd<'_>> {
        let is_open = self.entry.state.load(Acquire) == self.state && self.entry.descriptor().is_some();
        self.fd().ok().filter(|_| is_open)
    }
}

impl Drop for ForkSafeFd {
    fn drop(&mut self) {
        if self.generation != process::generation() {
            return;
        }
        if self.still_open().is_some() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.fd) };
        }
        let _ = self.entry.state.compare_exchange(self.state, FREE, AcqRel, Acquire);
    }
}
