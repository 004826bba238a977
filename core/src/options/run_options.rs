//! The checked options of a snowflake, from what the user set and from the environment.

use super::checks::{DEFAULT_TIMEOUT_MS, id_space, milliseconds, refuse_options_of};
use super::clock_source::ClockSource;
use super::environment::{Environment, NamedDirectory};
use super::option_value::{OptionValue, OptionValues, word};
use super::server_options::{OF_SERVERS, ServerOptions};
use super::settings::{check_unpersisted, no_record_wait_ms, rules, start_tick, with_epoch};
use super::worker_ids::{WorkerOption, WorkerRange, server_urls};
use crate::options::allowed::allowed;
use crate::{Error, Layout, OnClockBackwards, OnExhausted, Result, Rules};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// Where the worker id comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WorkerFrom {
    /// One of these ids.
    Ids(WorkerRange),
    /// A callback, which gives an id without a lease.
    Callback,
    /// An object, which leases ids.
    Leases,
    /// Lease servers.
    Servers(ServerOptions),
    /// Nothing says it yet: of a lazy snowflake, whose claim looks once more.
    Later,
}

impl WorkerFrom {
    /// Whether the worker id comes with spans.
    pub fn leases_spans(&self) -> bool {
        matches!(self, WorkerFrom::Leases | WorkerFrom::Servers(_))
    }

    /// The ids, unless a source gives one.
    pub fn ids(&self) -> Option<&WorkerRange> {
        match self {
            WorkerFrom::Ids(ids) => Some(ids),
            _ => None,
        }
    }
}

/// The valid options of a snowflake. What depends on the clock, the disk and the place is checked later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunOptions {
    /// The id space.
    pub name: String,
    /// The layout of the ids, with the user's epoch.
    pub layout: Layout,
    /// What the generator does when the clock goes back, and when a tick is used up.
    pub rules: Rules,
    /// Where the worker id comes from.
    pub worker: WorkerFrom,
    /// Whether a record is stored.
    pub persist: bool,
    /// The state directory that the user or `LEAFID_STATE_DIR` named; `None` without records, too.
    pub state_dir: Option<NamedDirectory>,
    /// Whether the directory may be on a network file system.
    pub shared_fs: bool,
    /// Whether the members of one group share the directory.
    pub shared_group: bool,
    /// The user's statement that no other container or host has the range.
    pub exclusive_range: bool,
    /// How long a start without a record issues nothing, milliseconds; 0 is off.
    pub no_record_wait_ms: i64,
    /// The first tick that may be used, after the largest id that existed before.
    pub start: u64,
    /// The clock that ids take their time from.
    pub clock_source: ClockSource,
    /// Whether there is a callback for the clocks of peers.
    pub asks_peer_times: bool,
    /// The longest wait of a call.
    pub timeout: Duration,
    /// Whether the worker id is claimed at the first id.
    pub lazy: bool,
}

impl RunOptions {
    /// Those of an opening. A lazy one needs no worker yet: what the environment has then is read by
    /// [`RunOptions::parse_for_claim`].
    ///
    /// Errors: `invalid_argument`; `time_exhausted` for a layout that has ended is for the host, which has a clock.
    pub fn parse(set: &OptionValues, environment: &Environment<'_>) -> Result<RunOptions> {
        let on_clock_backwards = word(set, "on_clock_backwards", OnClockBackwards::parse)?;
        let on_exhausted = word(set, "on_exhausted", OnExhausted::parse)?;
        let clock_source = word(set, "clock_source", ClockSource::parse)?;
        let layout = match set.get("layout") {
            Some(OptionValue::Layout(fields)) => Layout::new(*fields)?,
            _ => word(set, "layout", Layout::parse)?,
        };
        let layout = with_epoch(layout, set.int("epoch_ms"))?;
        let lazy = set.flag("lazy").unwrap_or(false);
        let name = id_space(set.text("name"))?;
        let (max_backwards_ms, random_start) = (set.int("max_backwards_ms"), set.int("random_start"));
        let rules = rules(on_clock_backwards, max_backwards_ms, on_exhausted, random_start)?;
        let worker = match worker(set, environment) {
            Some((said, worker)) => worker_from(set, environment, said, &worker, &layout)?,
            None if lazy => WorkerFrom::Later,
            None => return Err(no_worker(environment)),
        };
        let persist = set.flag("persist").unwrap_or(true);
        let leased = worker.leases_spans();
        if !persist && worker != WorkerFrom::Later {
            check_unpersisted(worker.ids(), leased, &rules)?;
        }
        let option = "no_record_wait_ms";
        let no_record_wait_ms = environment
            .with_variable(option, |variable| no_record_wait_ms(set.int(option), variable, leased))?;
        let start = start_tick(&layout, set.int("start_after"))?;
        Ok(RunOptions {
            name,
            layout,
            rules,
            worker,
            persist,
            state_dir: if persist { environment.state_dir(set)? } else { None },
            shared_fs: set.flag("shared_fs").unwrap_or(false),
            shared_group: environment.flag(set, "shared_group")?,
            exclusive_range: environment.flag(set, "exclusive_range")?,
            no_record_wait_ms,
            start,
            clock_source,
            asks_peer_times: set.get("peer_times").is_some(),
            timeout: milliseconds("timeout_ms", set.int("timeout_ms").unwrap_or(DEFAULT_TIMEOUT_MS), 1)?,
            lazy,
        })
    }

    /// As [`RunOptions::parse`], when a worker id is claimed. Errors: `invalid_argument`, also without a worker.
    pub fn parse_for_claim(set: &OptionValues, environment: &Environment<'_>) -> Result<RunOptions> {
        let options = RunOptions::parse(set, environment)?;
        match options.worker {
            WorkerFrom::Later => Err(no_worker(environment)),
            _ => Ok(options),
        }
    }

    /// Whether snowflakes with these options are one generator, if they have one store and one source too. Which option
    /// names lease servers makes no difference.
    pub fn is_same(&self, other: &RunOptions) -> bool {
        let key = |of: &RunOptions| (of.layout, of.rules, of.persist, of.start, of.clock_source);
        let asks = |of: &ServerOptions| (of.request_timeout, of.connect_timeout, of.connections);
        let workers = match (&self.worker, &other.worker) {
            (WorkerFrom::Servers(one), WorkerFrom::Servers(other)) => {
                let alike =
                    one.urls == other.urls && one.token == other.token && one.headers == other.headers;
                alike && one.ca_file == other.ca_file && asks(one) == asks(other)
            }
            (one, other) => one == other,
        };
        workers && self.name == other.name && key(self) == key(other)
    }

    /// Whether lease servers give the worker id, before anything is checked.
    pub fn asks_servers(set: &OptionValues, environment: &Environment<'_>) -> bool {
        worker(set, environment).is_some_and(|(_, worker)| urls(&worker).is_some())
    }
}

fn no_worker(environment: &Environment<'_>) -> Error {
    let allowed = allowed("worker");
    // A platform whose hosts have no names has no such variable, or no files for what it says.
    let advice = match environment.host_name {
        "" => "",
        _ => {
            ". To try it, on this machine alone: LEAFID_WORKER=local. In production, a range that no other host has: \
             LEAFID_WORKER=0-31"
        }
    };
    Error::invalid("worker", "not set, nor is LEAFID_WORKER", &format!("{allowed}{advice}"))
}

/// The worker ids as the user wrote them, and the name of the option or the variable.
fn worker(set: &OptionValues, environment: &Environment<'_>) -> Option<(&'static str, OptionValue)> {
    if let Some(value) = set.get("worker") {
        return Some(("worker", value.clone()));
    }
    let (said, text) = environment.text("worker")?;
    Some((said, OptionValue::Text(text)))
}

/// The URLs of lease servers as they were written, if the value names some.
fn urls(worker: &OptionValue) -> Option<Vec<String>> {
    match worker {
        OptionValue::Texts(urls) => Some(urls.clone()),
        OptionValue::Text(text) => server_urls(text),
        _ => None,
    }
}

fn worker_from(
    set: &OptionValues,
    environment: &Environment<'_>,
    said: &'static str,
    worker: &OptionValue,
    layout: &Layout,
) -> Result<WorkerFrom> {
    if let Some(urls) = urls(worker) {
        return ServerOptions::parse(set, environment, said, &urls, true).map(WorkerFrom::Servers);
    }
    refuse_options_of("the URL of a lease server as worker", &set.which_are_set(OF_SERVERS))?;
    let ids = match worker {
        OptionValue::Callback => return Ok(WorkerFrom::Callback),
        OptionValue::Leases => return Ok(WorkerFrom::Leases),
        OptionValue::Int(id) => WorkerOption::Id(*id),
        OptionValue::Range(first, last) => WorkerOption::Range(*first, *last),
        OptionValue::Text(text) => WorkerOption::Text(text),
        other => return Err(Error::invalid(said, other, allowed("worker"))),
    };
    WorkerRange::parse(said, ids, layout, environment.host_name).map(WorkerFrom::Ids)
}
