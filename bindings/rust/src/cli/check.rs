//! `leafid check`: whether this host can create ids, and for how long.

use super::against::check_against;
use super::holder;
#[cfg(feature = "http")]
use super::lease_servers::check_lease_servers;
use super::options::{Bits, ClaimOptions, Space};
use super::report::{Report, Status};
use super::streams::{Outcome, Streams};
use crate::config::state_dir;
use crate::config::surroundings::surroundings;
use crate::os;
use crate::os::clock;
use crate::os::env::Env;
use crate::os::filesystem_kind;
use crate::os::host_lock;
use crate::storage::state_file;
use crate::worker::settings::SnowflakeSettings;
use crate::{Error, Utc};
use clap::Args;
use leafid_core::Code;
use leafid_core::options::deployment::{self, FileSystem, Scope, WorkerPlace};
use leafid_core::options::{WorkerRange, check_built};
use leafid_core::run::record_open;
use std::fs::TryLockError;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// A layout that ends earlier gets a warning.
const FIVE_YEARS_MS: i64 = 5 * 365 * 86_400_000;

/// Check that this host can create ids: the state directory, its locks, the clock, forks, the layout
///
/// Prints one line for each check, with ok, warning or FAILED. Leaves no file behind.
#[derive(Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    claim: ClaimOptions,
    #[command(flatten)]
    space: Space,
    #[command(flatten)]
    bits: Bits,
    /// An http:// URL of the metrics of another host, or of leafid-server: fails if that has a worker id of this host;
    /// can be repeated
    #[arg(long, value_name = "URL")]
    against: Vec<String>,
    /// Print each as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn check(arguments: &CheckArguments, streams: &mut Streams<'_>) -> Outcome {
    let builder = arguments.claim.on(arguments.space.builder().layout(arguments.bits.layout()?));
    let asked = arguments.claim.is_given();
    let settings = SnowflakeSettings::parse(&if asked { builder } else { builder.worker(0) }.options)?;
    let workers = settings.options.worker.ids().filter(|_| asked);
    let env = Env::system();
    let scope = env.disk.scope();
    let mut report = Report::new(streams.stdout, arguments.json);
    let named = state_dir::named_by(arguments.space.state_dir.as_deref());
    if let Some(existing) = state_directory(&mut report, &settings, named)? {
        file_system(&mut report, &settings, &existing, workers, scope)?;
        durable_and_locked(&mut report, &existing)?;
    }
    host_lock(&mut report, &env, scope)?;
    clock(&mut report, &env)?;
    forks(&mut report)?;
    layout(&mut report, &settings, env.clock.filtered_ms())?;
    match workers {
        Some(workers) => worker_ids(&mut report, &env, &settings, workers)?,
        None if settings.source.as_ref().is_some() => records(&mut report, &env, &settings)?,
        None => {}
    }
    #[cfg(feature = "http")]
    check_lease_servers(&mut report, &env, &settings)?;
    check_against(&mut report, &env, &settings, workers, &arguments.against)?;
    Ok(!report.failed)
}

/// The nearest existing directory, which the other checks use.
fn state_directory(
    report: &mut Report<'_>,
    settings: &SnowflakeSettings,
    named: Option<&str>,
) -> io::Result<Option<PathBuf>> {
    let path = &settings.directory;
    let by = named.map_or_else(|| "by default".into(), |named| format!("named by {named}"));
    let existing = path.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(Path::new("/"));
    let about = match existing == path {
        true => format!("{} ({by})", path.display()),
        false => format!("{} ({by}), to be made in {}", path.display(), existing.display()),
    };
    match std::fs::metadata(existing) {
        Ok(found) if found.is_dir() => {
            report.line(Status::Ok, "state directory", about)?;
            Ok(Some(existing.to_owned()))
        }
        Ok(_) => {
            let about =
                format!("{about}: {} is not a directory; set state_dir elsewhere", existing.display());
            report.line(Status::Failed, "state directory", about)?;
            Ok(None)
        }
        Err(error) => {
            report.line(Status::Failed, "state directory", state_file::failed("open", existing, &error))?;
            Ok(None)
        }
    }
}

fn file_system(
    report: &mut Report<'_>,
    settings: &SnowflakeSettings,
    existing: &Path,
    workers: Option<&WorkerRange>,
    scope: Scope,
) -> io::Result<()> {
    let (what, path, named) = ("file system", &settings.directory, settings.named);
    let fs: FileSystem = match filesystem_kind::of(existing) {
        Ok(fs) => fs,
        Err(error) => {
            let error = state_file::failed("find the file system of", existing, &error);
            return report.line(Status::Failed, what, error);
        }
    };
    let surroundings = surroundings();
    let path = path.display();
    let exclusive = settings.options.exclusive_range;
    let place = WorkerPlace { workers, fs: &fs, path: &path, named, surroundings, scope, exclusive };
    let refusal = deployment::refuse_network(&fs, &path, settings.sharing().fs, deployment::LOCAL_STATE)
        .and_then(|()| place.refuse());
    if let Err(error) = refusal {
        return report.line(Status::Failed, what, error);
    }
    match place.warning() {
        Some(warning) => report.line(Status::Warning, what, warning),
        None => report.line(Status::Ok, what, fs.name),
    }
}

/// Tests both on a file that is gone at once.
fn durable_and_locked(report: &mut Report<'_>, existing: &Path) -> io::Result<()> {
    let begun = Instant::now();
    let written = NamedTempFile::new_in(existing).and_then(|mut file| {
        file.write_all(b"leafid check\n")?;
        file.as_file().sync_all()?;
        Ok(file)
    });
    let file = match written {
        Ok(file) => file,
        Err(error) => {
            return report.line(
                Status::Failed,
                "durable write",
                state_file::failed("write in", existing, &error),
            );
        }
    };
    let took = begun.elapsed();
    let slow = took > Duration::from_secs(1);
    let status = if slow { Status::Warning } else { Status::Ok };
    let about = if slow { ": calls wait for such writes at most timeout_ms (2000)" } else { "" };
    report.line(status, "durable write", format!("{:.1} ms{about}", took.as_secs_f64() * 1_000.0))?;
    match locks(&file) {
        Ok(true) => report.line(Status::Ok, "locks", "a second lock of one file is refused"),
        Ok(false) => report.line(
            Status::Failed,
            "locks",
            format!(
                "a second lock of one file was given in {}: two processes could hold one worker id; set state_dir to \
                 a local disk",
                existing.display()
            ),
        ),
        Err(error) => report.line(Status::Failed, "locks", state_file::failed("lock a file in", existing, &error)),
    }
}

/// Whether a lock excludes a second lock.
fn locks(file: &NamedTempFile) -> io::Result<bool> {
    file.as_file().lock()?;
    // Opened again: a copy of the descriptor would share the lock.
    match file.reopen()?.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(false),
    }
}

/// Takes the host lock of a worker id in an id space that no other process uses.
fn host_lock(report: &mut Report<'_>, env: &Env, scope: Scope) -> io::Result<()> {
    let what = "host lock";
    let name = format!("check-{:032x}", env.random.number()?);
    let tried = || -> Result<bool, Error> {
        let first = host_lock::system_lock(&name, 0)?;
        let second = host_lock::system_lock(&name, 0)?;
        drop(first);
        Ok(second.is_none())
    };
    match tried() {
        Ok(true) => match scope.reason() {
            None => report.line(
                Status::Ok,
                what,
                "other users and state directories of this host see a held worker id",
            ),
            Some(reason) => {
                let about = format!("{reason}: those of the machine outside do not see which worker ids are held here");
                report.line(Status::Warning, what, about)
            }
        },
        Ok(false) => report.line(
            Status::Warning,
            what,
            "not available here: processes with other state directories do not see a held worker id; give all of them \
             one state directory",
        ),
        Err(error) => report.line(Status::Failed, what, error),
    }
}

fn clock(report: &mut Report<'_>, env: &Env) -> io::Result<()> {
    let now_ms = env.clock.filtered_ms();
    match check_built(env.built_ms, now_ms) {
        Ok(()) => report.line(Status::Ok, "clock", Utc(now_ms))?,
        Err(error) => report.line(Status::Failed, "clock", error)?,
    }
    let (running, boot_time) = (clock::running_time(), clock::boot_time());
    match boot_time.checked_sub(running) {
        Some(suspended) => {
            let about = format!("suspended for {} s of {} s", suspended.as_secs(), boot_time.as_secs());
            report.line(Status::Ok, "boot clock", about)?;
        }
        None => {
            let about =
                "the clock that counts suspends is behind the one that does not: one of them is faked";
            report.line(Status::Failed, "boot clock", about)?;
        }
    }
    let about = format!("up to {} ms late, with clock_source = \"coarse\"", clock::coarse_lag_ms());
    report.line(Status::Ok, "coarse clock", about)
}

fn forks(report: &mut Report<'_>) -> io::Result<()> {
    match os::process::serves_raw_children() {
        true => report.line(Status::Ok, "forks", "all are seen"),
        false => report.line(
            Status::Warning,
            "forks",
            "children of _Fork and of raw clones are refused: this kernel has no MADV_WIPEONFORK",
        ),
    }
}

fn layout(report: &mut Report<'_>, settings: &SnowflakeSettings, now_ms: i64) -> io::Result<()> {
    let layout = settings.options.layout;
    let end = layout.expires_at_ms();
    let about = format!("{layout} ends at {}", Utc(end));
    if now_ms < layout.epoch_ms() {
        report.line(Status::Failed, "layout", layout.clock_before_epoch(now_ms))
    } else if now_ms >= end {
        report.line(Status::Failed, "layout", layout.time_exhausted(now_ms))
    } else if end - now_ms < FIVE_YEARS_MS {
        let advice = "use a layout with more timestamp bits or a later epoch, for a new column";
        report.line(Status::Warning, "layout", format!("{about}, in less than five years; {advice}"))
    } else {
        report.line(Status::Ok, "layout", about)
    }
}

fn worker_ids(
    report: &mut Report<'_>,
    env: &Env,
    settings: &SnowflakeSettings,
    workers: &WorkerRange,
) -> io::Result<()> {
    let (mut free, mut held, mut damaged, mut refused) = (0u32, Vec::new(), Vec::new(), None);
    for worker_id in workers.first..=workers.last {
        let (directory, name) = (&settings.directory, &settings.options.name);
        let path = state_file::path_of(directory, worker_id);
        let unusable = match state_file::peek(env, directory, worker_id) {
            Ok(None) => None,
            Ok(Some(found)) => {
                record_open::check_layout(&found.record, &settings.options.layout, path.display()).err()
            }
            Err(error) => Some(error),
        };
        // It stops every process, also one that would get another id.
        refused = refused.or_else(|| unusable.clone().filter(|error| error.code() == Code::StateMismatch));
        match (holder::holder_of(env, directory, name, worker_id), unusable) {
            (Some(holder), _) => held.push(format!("{worker_id} is held by {holder}")),
            (None, Some(error)) => damaged.push(error.to_string()),
            (None, None) => free += 1,
        }
    }
    if let Some(error) = refused {
        return report.line(Status::Failed, "worker ids", error);
    }
    let status = match (free, damaged.len()) {
        (0, _) => Status::Failed,
        (_, 0) => Status::Ok,
        _ => Status::Warning,
    };
    let ids = match workers.first == workers.last {
        true => workers.first.to_string(),
        false => format!("{}-{}", workers.first, workers.last),
    };
    let count = format!("{free} of {ids} free, {} held, {} unusable", held.len(), damaged.len());
    // One of each is enough.
    let shown = held.into_iter().take(1).chain(damaged.into_iter().take(1));
    report.line(status, "worker ids", shown.fold(count, |text, one| format!("{text}; {one}")))
}

/// For a source of worker ids, which may give any.
fn records(report: &mut Report<'_>, env: &Env, settings: &SnowflakeSettings) -> io::Result<()> {
    match state_file::check_layouts(env, &settings.directory, &settings.options.layout) {
        Ok(()) => Ok(()),
        Err(error) => report.line(Status::Failed, "worker ids", error),
    }
}
