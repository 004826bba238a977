//! The place where a generator runs, as the core judges it.

use crate::config::surroundings::surroundings;
use crate::os::env::{Env, FileId};
use crate::os::hostname::hostname;
use crate::os::{disk, process};
use crate::storage::state_file::failed;
use crate::tasks::with_timeout;
use crate::worker::settings::SnowflakeSettings;
use leafid_core::Result;
use leafid_core::options::deployment::{FileSystem, FilesystemKind};
use leafid_core::place::{FilesAt, Place, PlaceFacts, PlaceSettings};
use std::sync::Arc;

/// Makes or finds the directory of the records, and checks where it is. Returns its identity too. `parents` is the worker
/// id of the process from which this one was forked, if it had one.
pub(crate) fn place(
    env: &Arc<Env>,
    settings: &Arc<SnowflakeSettings>,
    parents: Option<u32>,
) -> Result<(FileId, Place)> {
    let (directory, files) = files(env, settings, parents.is_some())?;
    let facts = PlaceFacts {
        clock: Arc::clone(env.clock.filter()),
        built_ms: env.built_ms,
        pid: process_id(),
        started_ms: process::started_ms(std::process::id()),
        host: hostname(),
        boot: env.clock.boot_id(),
        // Unused ids are the segments'.
        surroundings: surroundings(),
        scope: env.disk.scope(),
        inherited: parents,
        files,
    };
    let (place, warnings) = Place::check(facts, &PlaceSettings::of(&settings.options), env.clock.clocks())?;
    warnings.iter().for_each(|warning| log::warn!("leafid: {warning}"));
    Ok((directory, place))
}

fn process_id() -> i32 {
    i32::try_from(std::process::id()).unwrap_or(0)
}

/// The directory is looked up on a thread of its own, because the disk may hang.
fn files(env: &Arc<Env>, settings: &Arc<SnowflakeSettings>, is_child: bool) -> Result<(FileId, FilesAt)> {
    if !settings.options.persist {
        return Ok((FileId::default(), FilesAt::Nowhere));
    }
    let (path, named) = (settings.directory.display().to_string(), settings.named);
    if is_child && settings.root != disk::root() {
        // Nothing is made in a root that is not the one of the path.
        let fs = FileSystem { name: String::new(), kind: FilesystemKind::Local };
        return Ok((FileId::default(), FilesAt::Directory { path, named, fs, left_root: true }));
    }
    let bound = settings.disk_bound();
    let (theirs, wanted) = (Arc::clone(env), Arc::clone(settings));
    let find = move || theirs.disk.directory(&wanted.directory, wanted.sharing().access());
    let found = with_timeout::run(bound, find).done();
    let found = found.ok_or_else(|| {
        with_timeout::no_answer(&path, bound, &with_timeout::see_or_wait_longer("the disk"))
    })?;
    let (directory, fs) = found.map_err(|error| failed("make or open", &settings.directory, &error))?;
    Ok((directory, FilesAt::Directory { path, named, fs, left_root: false }))
}
