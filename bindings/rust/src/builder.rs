//! The options of a snowflake.

use crate::settings::Settings;
use crate::{Snowflake, Worker};
use leafid_core::{Layout, OnClockBackwards, OnExhausted, Result};
use std::path::PathBuf;

/// The options of a [`Snowflake`]; made by [`Snowflake::builder`]. Values are checked by `open`.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SnowflakeBuilder {
    pub(crate) worker: Option<Worker>,
    pub(crate) name: Option<String>,
    pub(crate) state_dir: Option<PathBuf>,
    pub(crate) layout: Layout,
    pub(crate) epoch_ms: Option<i64>,
    pub(crate) on_clock_backwards: OnClockBackwards,
    pub(crate) max_backwards_ms: Option<i64>,
    pub(crate) on_exhausted: OnExhausted,
    pub(crate) random_start: Option<i64>,
    pub(crate) timeout_ms: Option<i64>,
    pub(crate) max_wait_ms: Option<i64>,
}

impl SnowflakeBuilder {
    /// The worker id (`7`) or a range of them (`0..=31`, `"0-31"`) of which any free one is claimed.
    /// Default: the environment's `LEAFID_WORKER`; without either, `open` refuses.
    pub fn worker(mut self, worker: impl Into<Worker>) -> Self {
        self.worker = Some(worker.into());
        self
    }

    /// The id space: worker ids are unique within it, and it has a directory of its own. Default "default".
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Where the records of the worker ids are kept; made if missing. Default: `LEAFID_STATE_DIR`, systemd's
    /// `STATE_DIRECTORY`, `/var/lib/leafid` where writable, else the user's own state directory.
    pub fn state_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.state_dir = Some(dir.into());
        self
    }

    /// The layout of the ids. Default Leaf's.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The layout's epoch, Unix milliseconds. Default the layout's own.
    pub fn epoch_ms(mut self, epoch_ms: i64) -> Self {
        self.epoch_ms = Some(epoch_ms);
        self
    }

    /// What to do when the clock is behind the last id. Default `Continue`.
    pub fn on_clock_backwards(mut self, rule: OnClockBackwards) -> Self {
        self.on_clock_backwards = rule;
        self
    }

    /// How far the clock may be behind, milliseconds. Default 5000 under `Continue`, 5 under `Wait`.
    pub fn max_backwards_ms(mut self, ms: i64) -> Self {
        self.max_backwards_ms = Some(ms);
        self
    }

    /// What to do when a tick's sequence is used up. Default `Wait`.
    pub fn on_exhausted(mut self, rule: OnExhausted) -> Self {
        self.on_exhausted = rule;
        self
    }

    /// A new tick starts its sequence at a pseudo-random number below this, at most an eighth of the sequence space;
    /// 0 is off. Default 100, Leaf's.
    pub fn random_start(mut self, below: i64) -> Self {
        self.random_start = Some(below);
        self
    }

    /// How long a call waits at most for its next id, milliseconds. Default 2000. A `take` that makes progress goes on.
    pub fn timeout_ms(mut self, ms: i64) -> Self {
        self.timeout_ms = Some(ms);
        self
    }

    /// For event loops: a wait for the clock of more than this many milliseconds is `would_block` instead.
    #[doc(hidden)]
    pub fn max_wait_ms(mut self, ms: i64) -> Self {
        self.max_wait_ms = Some(ms);
        self
    }

    /// Claims a worker id, makes its first span durable, and answers the generator. The same settings opened twice in
    /// one process share one generator.
    ///
    /// Errors: `invalid_argument`, `worker_in_use` (naming the holder), `clock_backwards`, `before_epoch`,
    /// `time_exhausted`, `state_io`, `state_corrupt`, `state_mismatch`.
    pub fn open(&self) -> Result<Snowflake> {
        Snowflake::open(Settings::parse(self)?)
    }
}
