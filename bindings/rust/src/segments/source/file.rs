//! The source `file:DIR`: counters in a directory that several processes of one host share, under locks.

mod counter;
mod directory;

use super::fetch_request::{FetchRequest, Fetched};
use crate::os::env::{Env, Sharing};
pub use counter::FileTag;
pub(crate) use directory::CounterDirectory;
#[cfg(test)]
pub(crate) use directory::MARKER;
use leafid_core::options::check_tag;
use leafid_core::{Code, Error, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A directory of counters, one for each tag.
pub(crate) struct FileSource {
    env: Arc<Env>,
    directory: CounterDirectory,
    /// The tags that the user named, and whether their step was already written to the directory.
    tags: BTreeMap<String, (FileTag, AtomicBool)>,
}

impl FileSource {
    /// Opens a directory of counters. With `create` a missing one is created, and an existing one is used unchanged. A
    /// tag of `tags` without a counter gets one at its first fetch.
    ///
    /// Errors: `unknown_tag` for a directory without its marker; `invalid_argument` for a tag; `state_io`, also for a
    /// network file system without `shared_fs`; `state_corrupt`, `state_mismatch`.
    pub(crate) fn open(
        env: Arc<Env>,
        path: &Path,
        create: bool,
        tags: &BTreeMap<String, FileTag>,
        sharing: impl Into<Sharing>,
    ) -> Result<FileSource> {
        for (tag, how) in tags {
            check_tag(tag)?;
            how.check(tag)?;
        }
        let directory = match create {
            true => CounterDirectory::create(&env, path, sharing)?,
            false => CounterDirectory::open(&env, path, sharing)?,
        };
        let tags = tags.iter().map(|(tag, how)| (tag.clone(), (*how, AtomicBool::default()))).collect();
        Ok(FileSource { env, directory, tags })
    }

    /// The name of the directory for the marks, by its path.
    pub(crate) fn source_name(&self) -> String {
        self.directory.name()
    }

    /// Takes ids from a tag's counter. They are durable before this returns. If the counter is below `after`, as after
    /// a restore, they begin at `after`.
    ///
    /// Errors: `unknown_tag`; `segment_unavailable` when other processes hold the counter's lock too long, or when the
    /// counter is used up; `state_io`, `state_corrupt`, `state_mismatch`.
    pub(crate) fn fetch(&self, request: &FetchRequest) -> Result<Fetched> {
        // The directory may have been unmounted.
        self.directory.check(&self.env)?;
        let named = self.tags.get(&request.tag);
        let counter = match (self.directory.counter(&self.env, &request.tag)?, named) {
            (Some(counter), _) => counter,
            (None, Some((how, _))) => self.directory.make(&self.env, &request.tag, how)?,
            (None, None) => return Err(self.unknown(&request.tag)),
        };
        // The step is written once. A process that writes another step later takes precedence.
        let told = named.filter(|(_, told)| !told.load(Relaxed));
        let fetched = counter.take(request, told.map(|(how, _)| how.step))?;
        if let Some((_, told)) = told {
            told.store(true, Relaxed);
        }
        Ok(fetched)
    }

    fn unknown(&self, tag: &str) -> Error {
        let known = match self.directory.tags(&self.env) {
            Err(error) => format!("its counters cannot be listed ({error})"),
            Ok(tags) if tags.is_empty() => "it has none".into(),
            Ok(tags) => format!("it has {}", list(&tags)),
        };
        let path = self.directory.path().display();
        let message = format!(
            "{path} has no counter of the tag {tag:?}; {known}. Name it in tags, or make it by: leafid file create {path} \
             --tag {tag}"
        );
        Error::new(Code::UnknownTag, message)
    }
}

#[cfg(fuzzing)]
pub(crate) fn rewrite(marker: bool, bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    use crate::storage::shared_file::rewrite;
    use leafid_core::format::counter::{Counter, Marker};
    if marker { rewrite::<Marker>(bytes) } else { rewrite::<Counter>(bytes) }
}

/// The first tags of a list, for messages.
fn list(tags: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = tags.iter().take(SHOWN).map(|tag| format!("{tag:?}")).collect();
    let more = tags.len().saturating_sub(SHOWN);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod processes;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
