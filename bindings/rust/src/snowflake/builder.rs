//! The options of a snowflake.

use crate::tasks::user_calls::Answer;
use crate::worker::options::SnowflakeOptions;
use crate::worker::peer_clocks::PeerTimes;
use crate::worker::settings::SnowflakeSettings;
use crate::{ClockSource, Snowflake, Worker};
use leafid_core::{Layout, OnClockBackwards, OnExhausted, Result};
use std::path::PathBuf;

/// The options of a [`Snowflake`]; made by [`Snowflake::builder`]. Values are checked by `open`.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SnowflakeBuilder {
    pub(crate) options: SnowflakeOptions,
}

impl Snowflake {
    /// The options, to be opened.
    pub fn builder() -> SnowflakeBuilder {
        SnowflakeBuilder::default()
    }
}

impl SnowflakeBuilder {
    /// The worker id (`7`) or a range of them (`0..=31`, `"0-31"`) of which any free one is claimed; `"hostname:orders"`
    /// for N on a host called orders-N, `"hostname:orders*8"` for any of 8N to 8N+7; the URL of a lease server,
    /// `"https://ids-1:8443"`, or several, as `["https://ids-1:8443", "https://ids-2:8443"]` or with commas between them;
    /// or a [`crate::WorkerSource`]: a callback, or leases. Default: the environment's `LEAFID_WORKER`; without either,
    /// `open` refuses.
    pub fn worker(mut self, worker: impl Into<Worker>) -> Self {
        self.options.worker = Some(worker.into());
        self
    }

    /// The id space: worker ids are unique within it, and it has a directory of its own. Default "default".
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = Some(name.into());
        self
    }

    /// Where the records of the worker ids are kept; made if missing. Default: `LEAFID_STATE_DIR`, systemd's
    /// `STATE_DIRECTORY`, `/var/lib/leafid` where writable, else the user's own state directory.
    pub fn state_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.options.state_dir = Some(dir.into());
        self
    }

    /// The layout of the ids. Default Leaf's.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.options.layout = layout;
        self
    }

    /// The layout's epoch, Unix milliseconds. Default the layout's own.
    pub fn epoch_ms(mut self, epoch_ms: i64) -> Self {
        self.options.epoch_ms = Some(epoch_ms);
        self
    }

    /// What to do when the clock is behind the last id. Default `Continue`.
    pub fn on_clock_backwards(mut self, rule: OnClockBackwards) -> Self {
        self.options.on_clock_backwards = rule;
        self
    }

    /// How far the clock may be behind, milliseconds. Default 5000 under `Continue`, 5 under `Wait`.
    pub fn max_backwards_ms(mut self, ms: i64) -> Self {
        self.options.max_backwards_ms = Some(ms);
        self
    }

    /// What to do when a tick's sequence is used up. Default `Wait`.
    pub fn on_exhausted(mut self, rule: OnExhausted) -> Self {
        self.options.on_exhausted = rule;
        self
    }

    /// A new tick starts its sequence at a pseudo-random number below this, at most an eighth of the sequence space;
    /// 0 is off. Default 100, Leaf's.
    pub fn random_start(mut self, below: i64) -> Self {
        self.options.random_start = Some(below);
        self
    }

    /// How long a call waits at most for its next id, milliseconds. Default 2000. A `take` that makes progress goes on.
    pub fn timeout_ms(mut self, ms: i64) -> Self {
        self.options.timeout_ms = Some(ms);
        self
    }

    /// Whether a record is kept that the next start goes on from. Default `true`. `false` gives up restart safety: a
    /// start after the clock went back repeats ids; it is refused with a range, and without a lease ids never run ahead of
    /// the clock. `state_dir` is not used then.
    pub fn persist(mut self, persist: bool) -> Self {
        self.options.persist = Some(persist);
        self
    }

    /// Whether `state_dir` may lie on a network file system: its locks must work between all hosts that use it. Default
    /// `false`.
    pub fn shared_fs(mut self, shared_fs: bool) -> Self {
        self.options.shared_fs = shared_fs;
        self
    }

    /// Whether `state_dir` is shared by the members of one group: files are born for them to write, 0660 whatever umask
    /// says, and directories 2770, so that what is made in them is the group's. Files with secrets stay the owner's alone.
    /// Default `LEAFID_SHARED_GROUP`, else `false`: 0640 and 0750 less umask.
    pub fn shared_group(mut self, shared_group: bool) -> Self {
        self.options.shared_group = Some(shared_group);
        self
    }

    /// Your word that no other container or host was given this range of worker ids, or that all that were share
    /// `state_dir`. Without it a range is refused where it cannot be seen that others of the machine see which ids are
    /// held: in a container, or in a network of its own. Default `LEAFID_EXCLUSIVE_RANGE`, else `false`.
    pub fn exclusive_range(mut self, exclusive: bool) -> Self {
        self.options.exclusive_range = Some(exclusive);
        self
    }

    /// How long a start that finds no record of its worker id issues nothing, milliseconds by the clock: as far as the
    /// clock of another host, which may have used the worker id before, may be ahead of this one's. Calls meanwhile are
    /// `clock_backwards` where the rest is longer than `timeout_ms`. Refused with leases, which need no wait. Default
    /// `LEAFID_NO_RECORD_WAIT_MS`, else 0: off.
    pub fn no_record_wait_ms(mut self, ms: i64) -> Self {
        self.options.no_record_wait_ms = Some(ms);
        self
    }

    /// Whether the worker id is claimed at the first id instead of by `open`. Default `false`. Errors of the claim are
    /// then those of that call; options are checked at once all the same.
    pub fn lazy(mut self, lazy: bool) -> Self {
        self.options.lazy = lazy;
        self
    }

    /// Which clock ids are made of. Default `System`.
    pub fn clock_source(mut self, source: ClockSource) -> Self {
        self.options.clock_source = source;
        self
    }

    /// An existing largest id of this layout, such as that of the generator before: every id will be of a later tick.
    pub fn start_after(mut self, id: i64) -> Self {
        self.options.start_after = Some(id);
        self
    }

    /// Answers what the clocks of peers read, in Unix milliseconds: asked before each claim, on a thread of leafid's. A clock
    /// 10 s or more from the median of three or more is refused with `clock_backwards`; an error of the callback is
    /// logged, and does not keep from starting.
    pub fn peer_times(mut self, ask: impl Fn() -> Answer<Vec<i64>> + Send + Sync + 'static) -> Self {
        self.options.peer_times = Some(PeerTimes::new(ask));
        self
    }

    /// Sent to lease servers as `Authorization: Bearer …`. This and the next four options are refused without their URLs.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.options.access.token = Some(token.into());
        self
    }

    /// Sent to lease servers with each request, besides.
    pub fn headers<K: Into<String>, V: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.options.access.set_headers(headers);
        self
    }

    /// A PEM file of certificate authorities that lease servers may be signed by, besides the system's own.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.access.ca_file = Some(path.into());
        self
    }

    /// How long a claim, renewal or release may last, however many lease servers it asks, milliseconds. Default 1000.
    pub fn request_timeout_ms(mut self, ms: i64) -> Self {
        self.options.access.request_timeout_ms = Some(ms);
        self
    }

    /// How long a lease server may take to accept a connection, milliseconds. Default 300.
    pub fn connect_timeout_ms(mut self, ms: i64) -> Self {
        self.options.access.connect_timeout_ms = Some(ms);
        self
    }

    /// For event loops: a wait for the clock of more than this many milliseconds is `would_block` instead.
    #[doc(hidden)]
    pub fn max_wait_ms(mut self, ms: i64) -> Self {
        self.options.max_wait_ms = Some(ms);
        self
    }

    /// Claims a worker id, makes its first span durable, and answers the generator. The same settings opened twice in
    /// one process share one generator.
    ///
    /// Errors: `invalid_argument`, `worker_in_use` (naming the holder), `worker_lost` (a source of worker ids, or a lease
    /// server, failed), `clock_backwards`, `before_epoch`, `time_exhausted`, `state_io`, `state_corrupt`, `state_mismatch`.
    pub fn open(&self) -> Result<Snowflake> {
        self.open_unless(&mut || false)
    }

    /// [`SnowflakeBuilder::open`], given up with `would_block` when `interrupted` answers true while the user's code is
    /// waited for.
    #[doc(hidden)]
    pub fn open_unless(&self, interrupted: &mut dyn FnMut() -> bool) -> Result<Snowflake> {
        Snowflake::open(SnowflakeSettings::parse(&self.options)?, interrupted)
    }
}
