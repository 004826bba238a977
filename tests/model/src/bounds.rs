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

/// Of [`crate::lease`].
pub fn lease() -> Bounds {
    Bounds { ticks: 2, ids: 2, starts: 2, faults: 1 }
}

/// The number of processes of [`crate::lease`]. Their clocks differ, so it matters which of them start;
/// the bounds say how many do.
pub fn lease_processes() -> usize {
    chosen(2, 3)
}

/// Of [`crate::segment`]. Two processes are there from the beginning.
pub fn segment() -> Bounds {
    chosen(
        Bounds { ticks: 2, ids: 3, starts: 3, faults: 2 },
        Bounds { ticks: 3, ids: 4, starts: 3, faults: 2 },
    )
}

/// Of [`crate::record`].
pub fn record() -> Bounds {
    chosen(
        Bounds { ticks: 1, ids: 2, starts: 2, faults: 2 },
        Bounds { ticks: 2, ids: 3, starts: 2, faults: 2 },
    )
}
