//! What a generator tells of itself.

/// A snowflake generator as it stands. Times are Unix milliseconds.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The id space.
    pub name: String,
    /// The worker id held.
    pub worker_id: u32,
    /// The directory of the records, with the id space's sub-directory.
    pub state_dir: String,
    /// The layout: a preset's name, or bits as in `35|5|23`.
    pub layout: String,
    /// The layout's epoch.
    pub epoch_ms: i64,
    /// When the layout's timestamp bits end.
    pub expires_at_ms: i64,
    /// Ids are durable up to here, exclusive.
    pub reserved_until_ms: i64,
    /// How far the logical clock is ahead of the clock, in milliseconds; 0 when it is not.
    pub lead_ms: i64,
    /// Handles of this process that share the generator.
    pub handles: usize,
    /// Spans made durable since the generator was opened, the first one not counted.
    pub renewals: u64,
    /// Renewals that failed.
    pub renewal_failures: u64,
    /// The last error of a renewal, none after a success.
    pub last_error: Option<String>,
}
