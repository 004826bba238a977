//! The checked options of a snowflake.

use crate::config::http_options::{SHARED_GROUP, flag, with_variable};
use crate::config::state_dir;
use crate::os::env::{FileId, Sharing};
use crate::storage::state_file::IdSpace;
use crate::worker::lease_servers;
use crate::worker::options::SnowflakeOptions;
use crate::worker::peer_clocks::PeerTimes;
use crate::worker::source::WorkerSource;
use crate::worker::worker_ids::WorkerIds;
use crate::{ClockSource, Worker};
use leafid_core::call::disk_bound;
use leafid_core::options::{
    DEFAULT_TIMEOUT_MS, WorkerRange, allowed, check_unpersisted, id_space, milliseconds, no_record_wait_ms,
    refuse_options_of, rules, start_tick, with_epoch,
};
use leafid_core::run::{RunSettings, Workers};
use leafid_core::{Error, Result};
use std::path::PathBuf;
use std::time::Duration;

/// The valid options of an opened snowflake. Only what depends on the state of the system is checked later.
#[derive(Clone, Debug)]
pub(crate) struct SnowflakeSettings {
    /// Two openings with an equal key share one generator if the directory is the same.
    pub(crate) key: Key,
    /// The directory of the id space: the sub-directory `name` of the state directory.
    pub(crate) directory: PathBuf,
    /// Whether the user or the service manager named the state directory.
    pub(crate) named: bool,
    pub(crate) sharing: Sharing,
    /// The user's statement `exclusive_range`.
    pub(crate) exclusive_range: bool,
    /// How long a start without a record issues nothing; 0 is off.
    pub(crate) no_record_wait_ms: i64,
    /// The root directory when this process opened it, or in a forked child when its parent did.
    pub(crate) root: Option<FileId>,
    pub(crate) lazy: bool,
    pub(crate) peer_times: Option<PeerTimes>,
    pub(crate) timeout: Duration,
    /// The longest wait for the clock that a call of this handle accepts.
    pub(crate) max_wait: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) space: IdSpace,
    pub(crate) workers: WorkerIds,
    pub(crate) clock_source: ClockSource,
    pub(crate) persist: bool,
    /// The first tick that may be used, after the largest id that existed before.
    pub(crate) start: u64,
}

impl SnowflakeSettings {
    /// How long an opening waits for the disk.
    pub(crate) fn disk_bound(&self) -> Duration {
        disk_bound(self.timeout)
    }

    /// As the core knows them.
    pub(crate) fn run_settings(&self) -> RunSettings {
        let Key { space: IdSpace { name, layout, rules }, workers, persist, start, .. } = &self.key;
        RunSettings {
            name: name.clone(),
            layout: *layout,
            rules: *rules,
            workers: match workers {
                WorkerIds::Within(WorkerRange { first, last, .. }) => {
                    Workers::Within { first: *first, last: *last }
                }
                WorkerIds::FromSource(source) => source.as_workers(),
            },
            persist: *persist,
            locks_host: true,
            start_after: *start,
            timeout: self.timeout,
            lazy: self.lazy,
            peer_times: self.peer_times.is_some(),
            disk_needs_loop: false,
            leases_end: false,
        }
    }

    /// Whether spans come from a lease source. They stay valid after this machine fails.
    pub(crate) fn uses_leases(&self) -> bool {
        self.key.workers.source().is_some_and(WorkerSource::leases_spans)
    }

    pub(crate) fn parse(set: &SnowflakeOptions) -> Result<SnowflakeSettings> {
        let layout = with_epoch(set.layout, set.epoch_ms)?;
        let Some((said, worker)) = worker(set) else {
            return Err(Error::invalid("worker", "not set, nor is LEAFID_WORKER", allowed("worker")));
        };
        let name = id_space(set.name.as_deref())?;
        let rules = rules(set.on_clock_backwards, set.max_backwards_ms, set.on_exhausted, set.random_start)?;
        let workers = match worker.servers() {
            Some(urls) => WorkerIds::FromSource(lease_servers::source(said, urls, &name, set)?),
            None => {
                let what = "the URL of a lease server as worker";
                refuse_options_of(what, &set.access.set())?;
                WorkerIds::parse(said, &worker, &layout)?
            }
        };
        let persist = set.persist.unwrap_or(true);
        let leased = workers.source().is_some_and(WorkerSource::leases_spans);
        if !persist {
            check_unpersisted(workers.range(), leased, &rules)?;
        }
        let no_record_wait_ms = with_variable("LEAFID_NO_RECORD_WAIT_MS", |variable| {
            no_record_wait_ms(set.no_record_wait_ms, variable, leased)
        })?;
        let start = start_tick(&layout, set.start_after)?;
        let (directory, named) = match persist {
            true => state_dir::state_dir(set.state_dir.as_deref())?,
            false => (PathBuf::new(), true),
        };
        Ok(SnowflakeSettings {
            directory: if persist { directory.join(&name) } else { directory },
            named,
            sharing: Sharing { fs: set.shared_fs, group: flag(set.shared_group, SHARED_GROUP)? },
            exclusive_range: flag(set.exclusive_range, "LEAFID_EXCLUSIVE_RANGE")?,
            no_record_wait_ms,
            root: crate::os::disk::root(),
            lazy: set.lazy,
            peer_times: set.peer_times.clone(),
            key: Key {
                space: IdSpace { name, layout, rules },
                workers,
                clock_source: set.clock_source,
                persist,
                start,
            },
            timeout: milliseconds("timeout_ms", set.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS), 1)?,
            max_wait: set.max_wait_ms.map(|ms| milliseconds("max_wait_ms", ms, 0)).transpose()?,
        })
    }
}

/// The worker ids as the user wrote them, and the name of the option or the environment variable.
fn worker(set: &SnowflakeOptions) -> Option<(&'static str, Worker)> {
    if let Some(worker) = &set.worker {
        return Some(("worker", worker.clone()));
    }
    let text = std::env::var_os("LEAFID_WORKER")?;
    Some(("LEAFID_WORKER", Worker::Text(text.to_string_lossy().into_owned())))
}

/// Whether lease servers give the worker id.
pub(crate) fn asks_servers(set: &SnowflakeOptions) -> bool {
    worker(set).is_some_and(|(_, worker)| worker.servers().is_some())
}
