//! The checked options of a snowflake.

use crate::config::allowed::allowed;
use crate::config::checks::{id_space, milliseconds};
use crate::config::http_options::{SHARED_GROUP, flag, refuse_options_of};
use crate::config::state_dir;
use crate::os::env::{FileId, Sharing};
use crate::storage::state_file::{IdSpace, Records};
use crate::worker::lease_servers;
use crate::worker::options::SnowflakeOptions;
use crate::worker::peer_clocks::PeerTimes;
use crate::worker::source::WorkerSource;
use crate::worker::worker_ids::WorkerIds;
use crate::{ClockSource, Worker};
use leafid_core::{Code, Error, OnClockBackwards, OnExhausted, Result, Rules};
use std::path::PathBuf;
use std::time::Duration;

/// The shortest time limit for a disk.
const SHORTEST_DISK_WAIT: Duration = Duration::from_millis(100);

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
    /// The records of its worker ids, and the id space with which they must agree.
    pub(crate) fn records(&self) -> Records<'_> {
        Records { directory: &self.directory, access: self.sharing.access(), space: &self.key.space }
    }

    /// How long an opening waits for the disk: at least 100 ms, whatever `timeout_ms` is.
    pub(crate) fn disk_bound(&self) -> Duration {
        self.timeout.max(SHORTEST_DISK_WAIT)
    }

    /// The longest duration of a renewal of a lease.
    pub(crate) fn call_bound(&self) -> Duration {
        self.timeout.max(Duration::from_secs(1))
    }

    /// Errors: `would_block` if the handle's thread may not wait this long.
    pub(crate) fn check_wait(&self, left: Duration) -> Result<()> {
        match self.max_wait {
            Some(most) if left > most => {
                let ms = left.as_millis() + 1;
                let message = format!(
                    "the next id is available in {ms} ms, longer than this thread may wait; call again then"
                );
                Err(Error::new(Code::WouldBlock, message))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn parse(options: &SnowflakeOptions) -> Result<SnowflakeSettings> {
        let layout = match options.epoch_ms {
            Some(epoch_ms) => options.layout.with_epoch_ms(epoch_ms)?,
            None => options.layout,
        };
        let (said, worker) = match &options.worker {
            Some(worker) => ("worker", worker.clone()),
            None => match std::env::var_os("LEAFID_WORKER") {
                Some(text) => ("LEAFID_WORKER", Worker::Text(text.to_string_lossy().into_owned())),
                None => {
                    return Err(Error::invalid("worker", "not set, nor is LEAFID_WORKER", allowed("worker")));
                }
            },
        };
        let name = id_space(options.name.as_deref())?;
        if options.on_exhausted == OnExhausted::Borrow && options.on_clock_backwards == OnClockBackwards::Wait
        {
            let allowed = "\"wait\" when on_clock_backwards is \"wait\", which never runs ahead of the clock";
            return Err(Error::invalid("on_exhausted", "\"borrow\"", allowed));
        }
        let (least, most) = options.on_clock_backwards.max_ms_range();
        let rules = Rules {
            on_clock_backwards: options.on_clock_backwards,
            max_backwards_ms: match options.max_backwards_ms {
                None => options.on_clock_backwards.default_max_ms(),
                Some(ms) if (least..=most).contains(&ms) => ms,
                Some(ms) => return Err(Error::invalid("max_backwards_ms", ms, allowed("max_backwards_ms"))),
            },
            on_exhausted: options.on_exhausted,
            random_start: match options.random_start {
                None => Rules::default().random_start,
                // It fits, because it is checked here.
                Some(below @ 0..=1_000_000) => below as u32,
                Some(below) => return Err(Error::invalid("random_start", below, allowed("random_start"))),
            },
        };
        let workers = match worker.servers() {
            Some(urls) => WorkerIds::FromSource(lease_servers::source(said, urls, &name, options)?),
            None => {
                let what = "the URL of a lease server as worker";
                refuse_options_of(what, &options.access.set())?;
                WorkerIds::parse(said, &worker, &layout)?
            }
        };
        let persist = options.persist.unwrap_or(true);
        if !persist {
            check_unpersisted(&workers, &rules)?;
        }
        let no_record_wait_ms = no_record_wait(options.no_record_wait_ms, &workers)?;
        let start = match options.start_after {
            None => 0,
            Some(id) => {
                let parts = layout
                    .decode(id)
                    .map_err(|_| Error::invalid("start_after", id, allowed("start_after")))?;
                layout.tick_at(parts.timestamp_ms).unwrap_or(0) + 1
            }
        };
        let (directory, named) = match persist {
            true => state_dir::state_dir(options.state_dir.as_deref())?,
            false => (PathBuf::new(), true),
        };
        Ok(SnowflakeSettings {
            directory: if persist { directory.join(&name) } else { directory },
            named,
            sharing: Sharing { fs: options.shared_fs, group: flag(options.shared_group, SHARED_GROUP)? },
            exclusive_range: flag(options.exclusive_range, "LEAFID_EXCLUSIVE_RANGE")?,
            no_record_wait_ms,
            root: crate::os::disk::root(),
            lazy: options.lazy,
            peer_times: options.peer_times.clone(),
            key: Key {
                space: IdSpace { name, layout, rules },
                workers,
                clock_source: options.clock_source,
                persist,
                start,
            },
            timeout: milliseconds("timeout_ms", options.timeout_ms.unwrap_or(2_000), 1)?,
            max_wait: options.max_wait_ms.map(|ms| milliseconds("max_wait_ms", ms, 0)).transpose()?,
        })
    }
}

/// Errors: `invalid_argument`, also with leases, because no span of a lease was given before. The environment variable
/// is for all generators, so with leases it is ignored.
fn no_record_wait(option: Option<i64>, workers: &WorkerIds) -> Result<i64> {
    let (option_name, variable) = ("no_record_wait_ms", "LEAFID_NO_RECORD_WAIT_MS");
    let leased = workers.source().is_some_and(WorkerSource::leases_spans);
    let (name, ms) = match (option, std::env::var_os(variable)) {
        (Some(0), _) | (None, None) => return Ok(0),
        (Some(ms), _) if leased => {
            let allowed = "0 with leases, which give no span twice";
            return Err(Error::invalid(option_name, ms, allowed));
        }
        (Some(ms), _) => (option_name, ms),
        (None, Some(_)) if leased => return Ok(0),
        (None, Some(text)) => match text.to_str().and_then(|text| text.parse().ok()) {
            Some(ms) => (variable, ms),
            None if text.is_empty() => return Ok(0),
            None => return Err(Error::invalid(variable, format!("{text:?}"), allowed(option_name))),
        },
    };
    match ms {
        0..=3_600_000 => Ok(ms),
        _ => Err(Error::invalid(name, ms, allowed(option_name))),
    }
}

/// Errors: options that need a record.
fn check_unpersisted(workers: &WorkerIds, rules: &Rules) -> Result<()> {
    let refuse = |name, value: &str, allowed| Err(Error::invalid(name, value, allowed));
    if workers.is_range() {
        let allowed = "true with a range of worker ids: without records two hosts or containers would take the same one";
        return refuse("persist", "false", allowed);
    }
    let leased = matches!(workers, WorkerIds::FromSource(source) if source.leases_spans());
    if rules.on_exhausted == OnExhausted::Borrow && !leased {
        let allowed = "\"wait\" with persist = false, which never runs ahead of the clock";
        return refuse("on_exhausted", "\"borrow\"", allowed);
    }
    Ok(())
}
