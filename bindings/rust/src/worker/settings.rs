//! The checked options of a snowflake.

use crate::config::state_dir;
use crate::config::user_options::with_environment;
use crate::os::env::{FileId, Sharing};
use crate::os::hostname::hostname;
use crate::worker::lease_servers;
use crate::worker::options::SnowflakeOptions;
use crate::worker::peer_clocks::PeerTimes;
use crate::worker::source::WorkerSource;
use leafid_core::Result;
use leafid_core::call::disk_bound;
use leafid_core::options::{Environment, OptionValues, RunOptions, WorkerFrom};
use leafid_core::run::RunSettings;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The valid options of an opened snowflake. Only what depends on the state of the system is checked later.
#[derive(Clone, Debug)]
pub(crate) struct SnowflakeSettings {
    pub(crate) options: RunOptions,
    /// The source of the worker id: the user's, or lease servers.
    pub(crate) source: Option<WorkerSource>,
    /// The directory of the id space: the sub-directory `name` of the state directory.
    pub(crate) directory: PathBuf,
    /// Whether the user or the service manager named the state directory.
    pub(crate) named: bool,
    /// The root directory when this process opened it, or in a forked child when its parent did.
    pub(crate) root: Option<FileId>,
    pub(crate) peer_times: Option<PeerTimes>,
    /// The longest wait for the clock that a call of this handle accepts.
    pub(crate) max_wait: Option<Duration>,
    /// Of a lazy snowflake: what its claim is parsed from, with the environment of that time.
    lazy: Option<Box<SnowflakeOptions>>,
}

impl SnowflakeSettings {
    /// Those of an opening.
    pub(crate) fn parse(set: &SnowflakeOptions) -> Result<SnowflakeSettings> {
        SnowflakeSettings::parse_by(RunOptions::parse, set)
    }

    /// Those of a claim.
    pub(crate) fn for_claim(self: &Arc<SnowflakeSettings>) -> Result<Arc<SnowflakeSettings>> {
        match &self.lazy {
            None => Ok(Arc::clone(self)),
            Some(set) => SnowflakeSettings::parse_by(RunOptions::parse_for_claim, set).map(Arc::new),
        }
    }

    fn parse_by(
        parse: impl FnOnce(&OptionValues, &Environment<'_>) -> Result<RunOptions>,
        set: &SnowflakeOptions,
    ) -> Result<SnowflakeSettings> {
        let options = with_environment(&hostname(), |environment| parse(&set.values, environment))?;
        let lazy = options.lazy.then(|| Box::new(set.clone()));
        let source = match &options.worker {
            WorkerFrom::Servers(servers) => {
                Some(lease_servers::source(servers, &options.name, set.path_or_variable("ca_file"))?)
            }
            _ => set.code.source.clone(),
        };
        let (directory, named) = match options.persist {
            true => {
                let (directory, named) = state_dir::state_dir(set.path("state_dir"))?;
                (directory.join(&options.name), named)
            }
            false => (PathBuf::new(), true),
        };
        Ok(SnowflakeSettings {
            options,
            source,
            directory,
            named,
            root: crate::os::disk::root(),
            peer_times: set.code.peer_times.clone(),
            max_wait: set.max_wait()?,
            lazy,
        })
    }

    /// Whether two openings share one generator, if their directory is the same.
    pub(crate) fn is_same(&self, other: &SnowflakeSettings) -> bool {
        self.options.is_same(&other.options) && self.source == other.source
    }

    /// How long an opening waits for the disk.
    pub(crate) fn disk_bound(&self) -> Duration {
        disk_bound(self.options.timeout)
    }

    pub(crate) fn sharing(&self) -> Sharing {
        Sharing { fs: self.options.shared_fs, group: self.options.shared_group }
    }

    /// As the core knows them.
    pub(crate) fn run_settings(&self) -> RunSettings {
        let settings = RunSettings::of(&self.options, |_| None);
        match &self.source {
            // It knows the proxies.
            Some(source) => RunSettings { workers: source.as_workers(), ..settings },
            None => settings,
        }
    }

    /// Whether spans come from a lease source. They stay valid after this machine fails.
    pub(crate) fn uses_leases(&self) -> bool {
        self.options.worker.leases_spans()
    }
}
