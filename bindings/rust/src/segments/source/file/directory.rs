//! A directory of counters, which a marker file identifies.
//!
//! leafid cannot tell whether a directory without counters is new or has lost them. So nothing starts again by itself:
//! a directory without its marker is refused, and so is a new counter if an old one is missing.

use crate::os::disk::root;
use crate::os::env::{Env, FileAccess, FileId, Sharing};
use crate::storage::io_failure::io_failure;
use crate::storage::shared_file::{self, SharedFile, Stored};
use leafid_core::call::FileAdvice;
use leafid_core::format::counter::{Counter, Marker};
use leafid_core::format::shared::{Found, corrupt};
use leafid_core::options::deployment;
use leafid_core::supply::counter_update::{self, MARKER};
use leafid_core::{Code, Error, Result, Utc};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

const PREFIX: &str = "tag-";
const SUFFIX: &str = ".counter";

impl Stored for Marker {
    const FILES: FileAdvice = FileAdvice::Counters;
}

impl Stored for Counter {
    const FILES: FileAdvice = FileAdvice::Counters;
}

/// An open directory of counters.
pub(crate) struct CounterDirectory {
    path: PathBuf,
    access: FileAccess,
    /// The identity of the directory when this process opened it.
    root: Option<FileId>,
    id: String,
    created: String,
}

/// The absolute path, so that a later change of the working directory has no effect. Errors: `state_io`.
fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| failed("find", path, &error))
}

/// Each counter of a directory: its tag, or the name of its file, and its content.
pub(crate) type Counters = Vec<(String, Result<Found<Counter>>)>;

impl CounterDirectory {
    /// Opens an existing directory. Errors: `unknown_tag` without its marker, and as [`CounterDirectory::create`].
    pub(crate) fn open(env: &Env, path: &Path, sharing: impl Into<Sharing>) -> Result<CounterDirectory> {
        let sharing = sharing.into();
        let path = &absolute(path)?;
        let marker = shared_file::peek::<Marker>(env, &path.join(MARKER))?;
        let marker = marker.ok_or_else(|| unmarked(path))?.content;
        check_place(env, path, sharing)?;
        Ok(CounterDirectory::marked(path, marker, sharing))
    }

    /// Opens a directory and creates it if it is missing. Errors: `state_corrupt` for a directory with counters and no
    /// marker; `state_io`, also for a network file system without `shared_fs`; `state_mismatch`.
    pub(crate) fn create(env: &Env, path: &Path, sharing: impl Into<Sharing>) -> Result<CounterDirectory> {
        let sharing = sharing.into();
        let path = &absolute(path)?;
        check_place(env, path, sharing)?;
        let file = path.join(MARKER);
        if let Some(found) = shared_file::peek::<Marker>(env, &file)? {
            return Ok(CounterDirectory::marked(path, found.content, sharing));
        }
        if names(env, path)?.next().is_some() {
            let what = "missing where there are counters";
            return Err(corrupt::<Marker>(file.display(), what));
        }
        let created = Utc(env.clock.filtered_ms()).to_string();
        let marker = Marker { id: format!("{:032x}", env.number()?), created, counters: 0 };
        // If another process created the marker first, its content counts.
        let marker = SharedFile::open(env, file, &marker, sharing.access())?.found().content.clone();
        Ok(CounterDirectory::marked(path, marker, sharing))
    }

    fn marked(path: &Path, marker: Marker, sharing: Sharing) -> CounterDirectory {
        CounterDirectory {
            path: path.to_owned(),
            access: sharing.access(),
            root: root(),
            id: marker.id,
            created: marker.created,
        }
    }

    /// As the supply knows it.
    pub(crate) fn known(&self) -> counter_update::CounterDirectory {
        counter_update::CounterDirectory {
            path: self.path.display().to_string(),
            name: self.name(),
            id: self.id.clone(),
            created: self.created.clone(),
        }
    }

    /// Whether this process changed its root since: the path leads elsewhere.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.root != root()
    }

    /// Who may open new counters.
    pub(crate) fn access(&self) -> FileAccess {
        self.access
    }

    /// The name of the directory for the marks: its path, not the id in its marker. So a directory that was lost and
    /// created again stays above what the first one gave.
    pub(crate) fn name(&self) -> String {
        let place = self.path.canonicalize();
        format!("file:{}", place.as_deref().unwrap_or(&self.path).display())
    }

    /// The path of the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The time of its creation.
    pub(crate) fn created(&self) -> &str {
        &self.created
    }

    /// The counters by tag, read without their locks.
    pub(crate) fn counters(&self, env: &Env) -> Result<Counters> {
        let mut counters: Counters = names(env, &self.path)?
            .filter_map(|name| {
                let path = self.path.join(&name);
                let found = shared_file::peek::<Counter>(env, &path).and_then(|found| {
                    if let Some(found) = &found {
                        // The counter must be of its own tag and of this directory.
                        found.content.check_whose(&self.id, found.content.tag(), path.display())?;
                    }
                    Ok(found)
                });
                match found.transpose()? {
                    Ok(found) => Some((found.content.tag().to_owned(), Ok(found))),
                    Err(error) => Some((name, Err(error))),
                }
            })
            .collect();
        counters.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(counters)
    }
}

/// The names of the counter files.
fn names(env: &Env, path: &Path) -> Result<impl Iterator<Item = String>> {
    let names = env.disk.list(path).map_err(|error| failed("read", path, &error))?;
    let is_counter = |name: &str| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
    Ok(names
        .into_iter()
        .filter_map(move |name| OsStr::to_str(&name).filter(|name| is_counter(name)).map(Into::into)))
}

/// Errors: `state_io` for a network file system. Logs a warning for a file system that does not survive a restart.
fn check_place(env: &Env, path: &Path, sharing: Sharing) -> Result<()> {
    let (_, fs) = env.disk.directory(path, sharing.access()).map_err(|error| failed("make", path, &error))?;
    if let Some(warning) = deployment::check_counters(&fs, path.display(), sharing.fs)? {
        log::warn!("leafid: {warning}");
    }
    Ok(())
}

fn unmarked(path: &Path) -> Error {
    let message = format!(
        "{0} is not a directory of leafid counters: it has no {MARKER}; see that its disk is mounted, or, for a new one: \
         leafid file create {0}",
        path.display()
    );
    Error::new(Code::UnknownTag, message)
}

/// `state_io` with the failed operation and what to do.
pub(crate) fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
    io_failure(error).of_doing(doing, path.display(), FileAdvice::Counters)
}
