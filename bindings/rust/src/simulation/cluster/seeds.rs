//! The seeds that `make test` plays.

/// The fixed seeds: some of each flavour and layout.
pub(crate) const ALWAYS: [u64; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// Seeds that found a defect once, each with the defect.
pub(crate) const FAILED_ONCE: [(u64, &str); 0] = [];

/// A seed from the clock: each run of the tests plays a new world.
pub(crate) fn by_the_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |now| now.as_secs()) * 100_000
}
