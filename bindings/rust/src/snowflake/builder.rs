//! The builder of a snowflake: one method for each option.

use crate::config::shared_setters::shared_setters;
use crate::config::user_options::with_environment;
use crate::tasks::user_calls::Answer;
use crate::worker::options::SnowflakeOptions;
use crate::worker::peer_clocks::PeerTimes;
use crate::worker::settings::SnowflakeSettings;
use crate::{ClockSource, Snowflake, Worker};
use leafid_core::options::{OptionValue, RunOptions};
use leafid_core::{Layout, OnClockBackwards, OnExhausted, Result};
use std::path::PathBuf;

/// The options of a [`Snowflake`], from [`Snowflake::builder`].
///
/// `open` checks the values. `docs/OPTIONS.md` of the project describes every option in full.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SnowflakeBuilder {
    pub(crate) options: SnowflakeOptions,
}

impl Snowflake {
    /// Returns a builder with the default options.
    pub fn builder() -> SnowflakeBuilder {
        SnowflakeBuilder::default()
    }
}

impl SnowflakeBuilder {
    shared_setters!();

    /// The worker id, or where it comes from. Default `LEAFID_WORKER`; without either, `open` returns
    /// `invalid_argument`.
    ///
    /// - `7`: this worker id.
    /// - `0..=31` or `"0-31"`: any free id of the range, both ends included.
    /// - `"local"`: any free id, on this machine alone: for laptops, tests and builds.
    /// - `"hostname:orders"`: N on a host called orders-N; `"hostname:orders*8"`: any free id of 8N to 8N+7.
    /// - `"https://ids-1:8443"`, or several URLs as a list or with commas: a lease server.
    /// - a [`crate::WorkerSource`]: a callback, or an object that leases ids.
    pub fn worker(mut self, worker: impl Into<Worker>) -> Self {
        let worker = worker.into();
        let value = worker.value();
        self.options.code.source = match worker {
            Worker::Source(source) => Some(source),
            _ => None,
        };
        self.set("worker", value)
    }

    /// The layout of the ids. Default [`Layout::LEAF`].
    pub fn layout(self, layout: Layout) -> Self {
        self.set("layout", OptionValue::Layout(layout.fields()))
    }

    /// The time of tick 0, in Unix milliseconds, not ahead of the clock. Default: the layout's.
    pub fn epoch_ms(self, epoch_ms: i64) -> Self {
        self.set("epoch_ms", OptionValue::Int(epoch_ms))
    }

    /// What to do when the clock is behind the last id. Default `Continue`.
    pub fn on_clock_backwards(self, rule: OnClockBackwards) -> Self {
        self.set("on_clock_backwards", OptionValue::Text(rule.name().into()))
    }

    /// How far the clock may be behind the last id, in milliseconds. Default 5000 under `Continue`, 5 under `Wait`.
    ///
    /// Allowed: 100 to 3,600,000 under `Continue`, 0 to 3,600,000 under `Wait`.
    pub fn max_backwards_ms(self, ms: i64) -> Self {
        self.set("max_backwards_ms", OptionValue::Int(ms))
    }

    /// What to do when the sequence of a tick is used up. Default `Wait`.
    pub fn on_exhausted(self, rule: OnExhausted) -> Self {
        self.set("on_exhausted", OptionValue::Text(rule.name().into()))
    }

    /// A new tick starts its sequence at a pseudo-random number below this one. Default 100, as in Leaf.
    ///
    /// Allowed: 0 to 1,000,000, at most an eighth of the sequence space. 0 is off.
    pub fn random_start(self, below: i64) -> Self {
        self.set("random_start", OptionValue::Int(below))
    }

    /// Your statement that no other container or host has this range of worker ids, or that all that have it share
    /// `state_dir`. Default `LEAFID_EXCLUSIVE_RANGE`, else `false`.
    ///
    /// Without it a range is refused where leafid cannot see that the other processes of the machine see which ids are
    /// held, as in a container or in a separate network namespace.
    pub fn exclusive_range(self, exclusive: bool) -> Self {
        self.set("exclusive_range", OptionValue::Flag(exclusive))
    }

    /// How long a start without a record of its worker id issues nothing, in milliseconds, 0 to 3,600,000. Default
    /// `LEAFID_NO_RECORD_WAIT_MS`, else 0 (off).
    ///
    /// Set it to how far the clock of another host that used the worker id before may be ahead. Meanwhile a call waits,
    /// or returns `clock_backwards` if the rest of the wait is longer than `timeout_ms`. Refused with leases, which
    /// need no wait.
    pub fn no_record_wait_ms(self, ms: i64) -> Self {
        self.set("no_record_wait_ms", OptionValue::Int(ms))
    }

    /// Whether the worker id is claimed at the first id and not by `open`. Default `false`.
    ///
    /// The claim reads the environment of that time, and its errors are errors of that call. `open` still checks the
    /// options, but needs no worker.
    pub fn lazy(self, lazy: bool) -> Self {
        self.set("lazy", OptionValue::Flag(lazy))
    }

    /// The clock that ids take their time from. Default `System`.
    pub fn clock_source(self, source: ClockSource) -> Self {
        self.set("clock_source", OptionValue::Text(source.name().into()))
    }

    /// The largest existing id of this layout, such as that of the generator before. Every id will be of a later tick.
    /// Default none.
    pub fn start_after(self, id: i64) -> Self {
        self.set("start_after", OptionValue::Int(id))
    }

    /// A callback that returns the clocks of peers, in Unix milliseconds. Default none.
    ///
    /// leafid calls it before each claim, on its own thread. It refuses a clock that differs by 10 s or more from the
    /// median of three or more, with `clock_backwards`. An error of the callback is logged, and the start continues.
    pub fn peer_times(mut self, ask: impl Fn() -> Answer<Vec<i64>> + Send + Sync + 'static) -> Self {
        self.options.code.peer_times = Some(PeerTimes::new(ask));
        self.set("peer_times", OptionValue::Callback)
    }

    /// For bindings: whether lease servers give the worker id, so that an opening and a close wait for them.
    #[doc(hidden)]
    pub fn asks_servers(&self) -> bool {
        let set = &self.options.values;
        with_environment("", |environment| Ok(RunOptions::asks_servers(set, environment))).unwrap_or(false)
    }

    /// Claims a worker id, makes its first span durable and returns the generator.
    ///
    /// If the same settings are opened twice in one process, both handles share one generator.
    ///
    /// Errors: `invalid_argument`, `worker_in_use` (names the holder), `worker_lost` (the callback or the lease server
    /// failed), `source_invalid` (the lease server refuses the token or the URL, or its answer belongs to another
    /// request), `clock_backwards`, `before_epoch`, `time_exhausted`, `state_io`, `state_corrupt`, `state_mismatch`.
    pub fn open(&self) -> Result<Snowflake> {
        self.open_unless(&mut || false)
    }

    /// As [`SnowflakeBuilder::open`], but returns `would_block` if `interrupted` returns true during a wait for a user
    /// callback.
    #[doc(hidden)]
    pub fn open_unless(&self, interrupted: &mut dyn FnMut() -> bool) -> Result<Snowflake> {
        Snowflake::open(SnowflakeSettings::parse(&self.options)?, interrupted)
    }
}
