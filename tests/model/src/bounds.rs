//! The bounds of the models. Within them every order of events is tried.

use crate::worker_run::RunBounds;

/// `BOUNDS=small` takes the first, all else the second.
fn chosen<T>(small: T, full: T) -> T {
    match std::env::var("BOUNDS").as_deref() {
        Ok("small") => small,
        _ => full,
    }
}

/// Of the model of a whole supply. Two processes are there from the beginning.
#[derive(Clone, Copy, Debug)]
pub struct SupplyBounds {
    /// The number of times that 500 ms pass.
    pub ticks: u32,
    /// The number of ids that are issued. The last one ends the run.
    pub ids: usize,
    /// The number of times that a process starts.
    pub starts: u32,
    /// The number of times that the counter is restored.
    pub restores: u32,
    /// The number of faults.
    pub faults: u32,
}

/// Of [`crate::supply`], with a call that fails, ends twice, or is left out.
pub fn supply_with_a_fault() -> SupplyBounds {
    SupplyBounds { ticks: 0, ids: 2, starts: 2, restores: 1, faults: 1 }
}

/// Of [`crate::supply`], with a process that is killed.
pub fn supply_with_a_kill() -> SupplyBounds {
    chosen(
        SupplyBounds { ticks: 0, ids: 2, starts: 3, restores: 1, faults: 0 },
        SupplyBounds { ticks: 1, ids: 3, starts: 3, restores: 1, faults: 0 },
    )
}

/// Of [`crate::worker_run`] with one record.
pub fn one_record() -> RunBounds {
    chosen(
        RunBounds { ticks: 1, ids: 2, starts: 2, faults: 1, late: 0, resets: 1 },
        RunBounds { ticks: 2, ids: 2, starts: 2, faults: 1, late: 0, resets: 1 },
    )
}

/// Of [`crate::worker_run`] with one record, until a process was idle for so long that its run ended.
pub fn long_run() -> RunBounds {
    chosen(
        RunBounds { ticks: 3, ids: 2, starts: 2, faults: 0, late: 0, resets: 1 },
        RunBounds { ticks: 3, ids: 2, starts: 2, faults: 1, late: 0, resets: 1 },
    )
}

/// Of [`crate::worker_run`] with leases.
pub fn leased_run() -> RunBounds {
    chosen(
        RunBounds { ticks: 1, ids: 2, starts: 2, faults: 1, late: 0, resets: 0 },
        RunBounds { ticks: 3, ids: 3, starts: 2, faults: 1, late: 0, resets: 0 },
    )
}

/// Of [`crate::worker_run`] with a lease whose calls are late, until it is over.
pub fn late_run() -> RunBounds {
    chosen(
        RunBounds { ticks: 3, ids: 2, starts: 1, faults: 1, late: 1, resets: 0 },
        RunBounds { ticks: 3, ids: 3, starts: 1, faults: 1, late: 1, resets: 0 },
    )
}

/// Of [`crate::worker_run`] with a lease server.
pub fn served_run() -> RunBounds {
    chosen(
        RunBounds { ticks: 2, ids: 2, starts: 2, faults: 1, late: 0, resets: 0 },
        RunBounds { ticks: 3, ids: 3, starts: 2, faults: 1, late: 0, resets: 0 },
    )
}
