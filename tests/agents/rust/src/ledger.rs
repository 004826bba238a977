//! Where the processes of one attack write down what they were given: memory that forks share and kills leave behind.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Ids and the process that got each, in memory shared by all children.
#[derive(Clone, Copy)]
pub struct Ledger {
    cells: &'static [AtomicU64],
    capacity: usize,
}

impl Ledger {
    /// Room for this many ids.
    pub fn new(capacity: usize) -> Ledger {
        let length = (2 * capacity + 1) * 8;
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert!(memory != libc::MAP_FAILED, "no shared memory");
        let cells = unsafe { std::slice::from_raw_parts(memory.cast::<AtomicU64>(), 2 * capacity + 1) };
        Ledger { cells, capacity }
    }

    /// Room for `n` ids in a row. Taken before the ids are asked for: a process that a fork copies between the two
    /// writes its copy of an id over the same place, and is not mistaken for a duplicate.
    pub fn reserve(&self, n: usize) -> Option<usize> {
        let at = self.cells[2 * self.capacity].fetch_add(n as u64, Relaxed) as usize;
        (at + n <= self.capacity).then_some(at)
    }

    /// Writes an id down.
    pub fn write(&self, at: usize, id: i64) {
        self.cells[2 * at + 1].store(u64::from(std::process::id()), Relaxed);
        self.cells[2 * at].store(id as u64, Relaxed);
    }

    /// Reserves and writes in one.
    pub fn push(&self, id: i64) {
        if let Some(at) = self.reserve(1) {
            self.write(at, id);
        }
    }

    /// How many ids were written, how many of them twice, and the first few that were, with their processes.
    pub fn judge(&self) -> Verdict {
        let used = (self.cells[2 * self.capacity].load(Relaxed) as usize).min(self.capacity);
        let mut ids: Vec<(u64, u64)> = (0..used)
            .map(|at| (self.cells[2 * at].load(Relaxed), self.cells[2 * at + 1].load(Relaxed)))
            .filter(|&(id, _)| id != 0)
            .collect();
        ids.sort_unstable();
        let twice: Vec<_> = ids.windows(2).filter(|pair| pair[0].0 == pair[1].0).collect();
        let mut processes: Vec<u64> = ids.iter().map(|&(_, process)| process).collect();
        processes.sort_unstable();
        processes.dedup();
        Verdict {
            ids: ids.len(),
            processes: processes.len(),
            duplicates: twice.len(),
            examples: twice.iter().take(5).map(|pair| (pair[0].0, pair[0].1, pair[1].1)).collect(),
        }
    }
}

/// What a ledger holds.
#[derive(Debug)]
pub struct Verdict {
    /// Ids written down.
    pub ids: usize,
    /// Processes that wrote.
    pub processes: usize,
    /// Ids that stand there twice.
    pub duplicates: usize,
    /// Some of them, with the two processes.
    pub examples: Vec<(u64, u64, u64)>,
}

impl Verdict {
    /// One line for the runner, which reads `key=value`.
    pub fn line(&self) -> String {
        let examples = match self.examples.is_empty() {
            true => String::new(),
            false => format!(" examples={:?}", self.examples).replace(", ", ","),
        };
        format!("ids={} processes={} duplicates={}{examples}", self.ids, self.processes, self.duplicates)
    }
}
