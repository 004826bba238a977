//! The builder of a snowflake: one method for each option.

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
    /// The worker id, or where it comes from. Default `LEAFID_WORKER`; without either, `open` returns
    /// `invalid_argument`.
    ///
    /// - `7`: this worker id.
    /// - `0..=31` or `"0-31"`: any free id of the range, both ends included.
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

    /// The id space. Worker ids are unique within it, and two id spaces can make the same id: give one name to all
    /// programs that write into one column. It has its own sub-directory of `state_dir`. Default "default".
    pub fn name(self, name: impl Into<String>) -> Self {
        self.set("name", OptionValue::Text(name.into()))
    }

    /// The directory of the records, created if missing.
    ///
    /// Default: `LEAFID_STATE_DIR`, systemd's `STATE_DIRECTORY`, `/var/lib/leafid` if writable, else the user's own
    /// state directory.
    pub fn state_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.options.set_state_dir(dir.into());
        self
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

    /// The longest wait of a call for its next id, in milliseconds, 1 to 3,600,000. Default 2000.
    ///
    /// A `take` that makes progress may last longer.
    pub fn timeout_ms(self, ms: i64) -> Self {
        self.set("timeout_ms", OptionValue::Int(ms))
    }

    /// Whether a record is stored for the next start. Default `true`.
    ///
    /// With `false` a start after the clock went back repeats ids. `false` is refused with a range of worker ids.
    /// Without a lease, ids then never run ahead of the clock. `state_dir` is not used.
    pub fn persist(self, persist: bool) -> Self {
        self.set("persist", OptionValue::Flag(persist))
    }

    /// Whether `state_dir` may be on a network file system. Default `false`. Its locks must work between all hosts that
    /// use it.
    pub fn shared_fs(self, shared_fs: bool) -> Self {
        self.set("shared_fs", OptionValue::Flag(shared_fs))
    }

    /// Whether the members of one group share `state_dir`. Default `LEAFID_SHARED_GROUP`, else `false`.
    ///
    /// `true`: files get mode 0660 whatever the umask, directories 2770; files with secrets stay 0600. `false`: 0640
    /// and 0750 less the umask.
    pub fn shared_group(self, shared_group: bool) -> Self {
        self.set("shared_group", OptionValue::Flag(shared_group))
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
    /// Errors of the claim are then errors of that call. `open` still checks the options.
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

    /// Sent to lease servers as `Authorization: Bearer …`. Default none. This and the next four options are refused
    /// unless `worker` is a URL.
    pub fn token(self, token: impl Into<String>) -> Self {
        self.set("token", OptionValue::Text(token.into()))
    }

    /// More headers that are sent to lease servers. Default none.
    pub fn headers<K: Into<String>, V: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.options.set_headers(headers);
        self
    }

    /// A PEM file of certificate authorities for lease servers, in addition to those of the system. Default none.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.set_ca_file(path.into());
        self
    }

    /// The longest duration of a claim, renewal or release over all lease servers, in milliseconds, 1 to 3,600,000.
    /// Default 1000.
    pub fn request_timeout_ms(self, ms: i64) -> Self {
        self.set("request_timeout_ms", OptionValue::Int(ms))
    }

    /// The longest duration of a connection to a lease server, with name look-up and TLS, in milliseconds, 1 to
    /// 3,600,000. Default 300.
    pub fn connect_timeout_ms(self, ms: i64) -> Self {
        self.set("connect_timeout_ms", OptionValue::Int(ms))
    }

    /// For event loops: a longer wait for the clock than this number of milliseconds returns `would_block`.
    #[doc(hidden)]
    pub fn max_wait_ms(mut self, ms: i64) -> Self {
        self.options.max_wait_ms = Some(ms);
        self
    }

    fn set(mut self, name: &str, value: OptionValue) -> Self {
        self.options.set(name, value);
        self
    }

    /// For bindings: whether lease servers give the worker id, so that an opening and a close wait for them.
    #[doc(hidden)]
    pub fn asks_servers(&self) -> bool {
        with_environment("", |environment| RunOptions::asks_servers(&self.options.values, environment))
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
