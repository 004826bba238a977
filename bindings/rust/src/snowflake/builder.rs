//! The builder of a snowflake: one method for each option.

use crate::tasks::user_calls::Answer;
use crate::worker::options::SnowflakeOptions;
use crate::worker::peer_clocks::PeerTimes;
use crate::worker::settings::{SnowflakeSettings, asks_servers};
use crate::{ClockSource, Snowflake, Worker};
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
    /// The worker id, or where it comes from. Default `LEAFID_WORKER`; without either, `open` returns
    /// `invalid_argument`.
    ///
    /// - `7`: this worker id.
    /// - `0..=31` or `"0-31"`: any free id of the range, both ends included.
    /// - `"hostname:orders"`: N on a host called orders-N; `"hostname:orders*8"`: any free id of 8N to 8N+7.
    /// - `"https://ids-1:8443"`, or several URLs as a list or with commas: a lease server.
    /// - a [`crate::WorkerSource`]: a callback, or an object that leases ids.
    pub fn worker(mut self, worker: impl Into<Worker>) -> Self {
        self.options.worker = Some(worker.into());
        self
    }

    /// The id space. Worker ids are unique within it, and two id spaces can make the same id: give one name to all
    /// programs that write into one column. It has its own sub-directory of `state_dir`. Default "default".
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = Some(name.into());
        self
    }

    /// The directory of the records, created if missing.
    ///
    /// Default: `LEAFID_STATE_DIR`, systemd's `STATE_DIRECTORY`, `/var/lib/leafid` if writable, else the user's own
    /// state directory.
    pub fn state_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.options.state_dir = Some(dir.into());
        self
    }

    /// The layout of the ids. Default [`Layout::LEAF`].
    pub fn layout(mut self, layout: Layout) -> Self {
        self.options.layout = layout;
        self
    }

    /// The time of tick 0, in Unix milliseconds, not ahead of the clock. Default: the layout's.
    pub fn epoch_ms(mut self, epoch_ms: i64) -> Self {
        self.options.epoch_ms = Some(epoch_ms);
        self
    }

    /// What to do when the clock is behind the last id. Default `Continue`.
    pub fn on_clock_backwards(mut self, rule: OnClockBackwards) -> Self {
        self.options.on_clock_backwards = rule;
        self
    }

    /// How far the clock may be behind the last id, in milliseconds. Default 5000 under `Continue`, 5 under `Wait`.
    ///
    /// Allowed: 100 to 3,600,000 under `Continue`, 0 to 3,600,000 under `Wait`.
    pub fn max_backwards_ms(mut self, ms: i64) -> Self {
        self.options.max_backwards_ms = Some(ms);
        self
    }

    /// What to do when the sequence of a tick is used up. Default `Wait`.
    pub fn on_exhausted(mut self, rule: OnExhausted) -> Self {
        self.options.on_exhausted = rule;
        self
    }

    /// A new tick starts its sequence at a pseudo-random number below this one. Default 100, as in Leaf.
    ///
    /// Allowed: 0 to 1,000,000, at most an eighth of the sequence space. 0 is off.
    pub fn random_start(mut self, below: i64) -> Self {
        self.options.random_start = Some(below);
        self
    }

    /// The longest wait of a call for its next id, in milliseconds, 1 to 3,600,000. Default 2000.
    ///
    /// A `take` that makes progress may last longer.
    pub fn timeout_ms(mut self, ms: i64) -> Self {
        self.options.timeout_ms = Some(ms);
        self
    }

    /// Whether a record is stored for the next start. Default `true`.
    ///
    /// With `false` a start after the clock went back repeats ids. `false` is refused with a range of worker ids.
    /// Without a lease, ids then never run ahead of the clock. `state_dir` is not used.
    pub fn persist(mut self, persist: bool) -> Self {
        self.options.persist = Some(persist);
        self
    }

    /// Whether `state_dir` may be on a network file system. Default `false`. Its locks must work between all hosts that
    /// use it.
    pub fn shared_fs(mut self, shared_fs: bool) -> Self {
        self.options.shared_fs = shared_fs;
        self
    }

    /// Whether the members of one group share `state_dir`. Default `LEAFID_SHARED_GROUP`, else `false`.
    ///
    /// `true`: files get mode 0660 whatever the umask, directories 2770; files with secrets stay 0600. `false`: 0640
    /// and 0750 less the umask.
    pub fn shared_group(mut self, shared_group: bool) -> Self {
        self.options.shared_group = Some(shared_group);
        self
    }

    /// Your statement that no other container or host has this range of worker ids, or that all that have it share
    /// `state_dir`. Default `LEAFID_EXCLUSIVE_RANGE`, else `false`.
    ///
    /// Without it a range is refused where leafid cannot see that the other processes of the machine see which ids are
    /// held, as in a container or in a separate network namespace.
    pub fn exclusive_range(mut self, exclusive: bool) -> Self {
        self.options.exclusive_range = Some(exclusive);
        self
    }

    /// How long a start without a record of its worker id issues nothing, in milliseconds, 0 to 3,600,000. Default
    /// `LEAFID_NO_RECORD_WAIT_MS`, else 0 (off).
    ///
    /// Set it to how far the clock of another host that used the worker id before may be ahead. Meanwhile a call waits,
    /// or returns `clock_backwards` if the rest of the wait is longer than `timeout_ms`. Refused with leases, which
    /// need no wait.
    pub fn no_record_wait_ms(mut self, ms: i64) -> Self {
        self.options.no_record_wait_ms = Some(ms);
        self
    }

    /// Whether the worker id is claimed at the first id and not by `open`. Default `false`.
    ///
    /// Errors of the claim are then errors of that call. `open` still checks the options.
    pub fn lazy(mut self, lazy: bool) -> Self {
        self.options.lazy = lazy;
        self
    }

    /// The clock that ids take their time from. Default `System`.
    pub fn clock_source(mut self, source: ClockSource) -> Self {
        self.options.clock_source = source;
        self
    }

    /// The largest existing id of this layout, such as that of the generator before. Every id will be of a later tick.
    /// Default none.
    pub fn start_after(mut self, id: i64) -> Self {
        self.options.start_after = Some(id);
        self
    }

    /// A callback that returns the clocks of peers, in Unix milliseconds. Default none.
    ///
    /// leafid calls it before each claim, on its own thread. It refuses a clock that differs by 10 s or more from the
    /// median of three or more, with `clock_backwards`. An error of the callback is logged, and the start continues.
    pub fn peer_times(mut self, ask: impl Fn() -> Answer<Vec<i64>> + Send + Sync + 'static) -> Self {
        self.options.peer_times = Some(PeerTimes::new(ask));
        self
    }

    /// Sent to lease servers as `Authorization: Bearer …`. Default none. This and the next four options are refused
    /// unless `worker` is a URL.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.options.access.token = Some(token.into());
        self
    }

    /// More headers that are sent to lease servers. Default none.
    pub fn headers<K: Into<String>, V: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.options.access.set_headers(headers);
        self
    }

    /// A PEM file of certificate authorities for lease servers, in addition to those of the system. Default none.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.access.ca_file = Some(path.into());
        self
    }

    /// The longest duration of a claim, renewal or release over all lease servers, in milliseconds, 1 to 3,600,000.
    /// Default 1000.
    pub fn request_timeout_ms(mut self, ms: i64) -> Self {
        self.options.access.request_timeout_ms = Some(ms);
        self
    }

    /// The longest duration of a connection to a lease server, with name look-up and TLS, in milliseconds, 1 to
    /// 3,600,000. Default 300.
    pub fn connect_timeout_ms(mut self, ms: i64) -> Self {
        self.options.access.connect_timeout_ms = Some(ms);
        self
    }

    /// For event loops: a longer wait for the clock than this number of milliseconds returns `would_block`.
    #[doc(hidden)]
    pub fn max_wait_ms(mut self, ms: i64) -> Self {
        self.options.max_wait_ms = Some(ms);
        self
    }

    /// For bindings: whether lease servers give the worker id, so that an opening and a close wait for them.
    #[doc(hidden)]
    pub fn asks_servers(&self) -> bool {
        asks_servers(&self.options)
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
