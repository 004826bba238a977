//! The bounds of the models. Within them every order of events is tried.

/// Of one model. The numbers are for a whole run, all processes together.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The number of ticks that pass.
    pub ticks: u64,
    /// The number of ids that are issued. The last one ends the run.
    pub ids: usize,
    /// The number of times that a process starts.
    pub starts: u32,
    /// The number of faults. Each model says what its faults are.
    pub faults: u32,
}

/// `BOUNDS=small` takes the first, all else the second.
fn chosen<T>(small: T, full: T) -> T {
    match std::env::var("BOUNDS").as_deref() {
        Ok("small") => small,
        _ => full,
    }
}

/// Of [`crate::record`].
pub fn record() -> Bounds {
    chosen(
        Bounds { ticks: 3, ids: 2, starts: 2, faults: 2 },
        Bounds { ticks: 3, ids: 3, starts: 2, faults: 2 },
    )
}

/// Of a lease model. The numbers are for a whole run, all processes together.
#[derive(Clone, Copy, Debug)]
pub struct LeaseBounds {
    /// Of each process, at most three: how far its clock is from the server's, in ticks.
    pub clocks: &'static [i64],
    /// How many ticks a span may end after its lease.
    pub spare: i64,
    /// The number of ticks that pass.
    pub ticks: u64,
    /// The number of ids that are issued. The last one ends the run.
    pub ids: usize,
    /// The number of times that a process starts.
    pub starts: u32,
    /// The number of faults.
    pub faults: u32,
    /// The number of calls whose request or answer may be late; all others end before anything else happens. `None`: all
    /// calls may be late.
    pub late: Option<u32>,
}

/// Of [`crate::lease`], with so many calls that two holders meet.
pub fn two_holders() -> LeaseBounds {
    let clocks: &[i64] = chosen(&[0, -1], &[0, -1, 1]);
    LeaseBounds { clocks, spare: 1, ticks: 2, ids: 2, starts: 2, faults: 1, late: None }
}

/// Of [`crate::lease`], with so few late calls that three holders can meet.
pub fn three_holders() -> LeaseBounds {
    let late = Some(chosen(0, 1));
    LeaseBounds { clocks: &[0, -1, -2], spare: 0, ticks: 2, ids: 3, starts: 3, faults: 1, late }
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
    SupplyBounds { ticks: 0, ids: 2, starts: 3, restores: 1, faults: 0 }
}

/// Of [`crate::worker_run`]. The numbers are for a whole run, both processes together.
#[derive(Clone, Copy, Debug)]
pub struct RunBounds {
    /// The number of ticks that pass.
    pub ticks: i64,
    /// The number of ids that are issued. The last one ends the run.
    pub ids: usize,
    /// The number of times that a process starts.
    pub starts: u32,
    /// The number of faults.
    pub faults: u32,
    /// The number of calls that are late.
    pub late: u32,
}

/// Of [`crate::worker_run`] with one fixed worker id.
pub fn fixed_run() -> RunBounds {
    chosen(
        RunBounds { ticks: 1, ids: 2, starts: 2, faults: 1, late: 0 },
        RunBounds { ticks: 2, ids: 2, starts: 2, faults: 1, late: 0 },
    )
}

/// Of [`crate::worker_run`] with leases.
pub fn leased_run() -> RunBounds {
    chosen(
        RunBounds { ticks: 1, ids: 2, starts: 2, faults: 1, late: 0 },
        RunBounds { ticks: 2, ids: 2, starts: 2, faults: 1, late: 0 },
    )
}
