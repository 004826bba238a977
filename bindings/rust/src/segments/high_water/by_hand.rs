//! The listing and the removal of marks by hand.

use crate::os::env::Env;
use crate::storage::shared_file::{self, SharedFile};
use crate::storage::state_file;
use leafid_core::format::mark::Mark;
use leafid_core::supply::mark_read::MarkKey;
use leafid_core::{Error, Result};
use std::path::Path;

/// The content of a tag's file.
pub(crate) struct Listed {
    pub(crate) source: String,
    pub(crate) tag: String,
    pub(crate) mark: i64,
    pub(crate) fetched_ms: i64,
    pub(crate) rest_kept: bool,
}

/// Each mark of an id space with the name of its file, read without its lock. Errors: `state_io`.
pub(crate) fn list(env: &Env, directory: &Path) -> Result<Vec<(String, Result<Listed>)>> {
    let names = match env.disk.list(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        names => names.map_err(|error| state_file::failed("read", directory, &error))?,
    };
    let mut names: Vec<String> = names.into_iter().filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.starts_with("segment-") && name.ends_with(".mark"));
    names.sort_unstable();
    let listed = names.into_iter().filter_map(|name| {
        let found = shared_file::peek::<Mark>(env, &directory.join(&name)).transpose()?;
        let listed = found.map(|found| Listed {
            rest_kept: found.content.kept.is_some(),
            mark: found.content.mark.0,
            fetched_ms: found.content.fetched_ms,
            source: found.content.source,
            tag: found.content.tag,
        });
        Some((name, listed))
    });
    Ok(listed.collect())
}

/// The name of the source for a protocol or for `file:DIR`.
pub(crate) fn source_of(protocol: &str) -> String {
    let files = protocol.strip_prefix("file:").and_then(|path| Path::new(path).canonicalize().ok());
    files.map_or_else(|| protocol.to_owned(), |files| format!("file:{}", files.display()))
}

/// Forgets a tag's mark and its stored unused ids; returns the mark. Errors: `invalid_argument` if there is none,
/// `segment_unavailable` while other processes hold its lock, `state_io`, `state_corrupt`, `state_mismatch`.
pub(crate) fn forget(env: &Env, directory: &Path, source: &str, tag: &str) -> Result<i64> {
    let key = MarkKey { source: source.into(), tag: tag.into() };
    let path = directory.join(key.file_name());
    let Some(mut store) = SharedFile::<Mark>::open_existing(env, path.clone())? else {
        let of_tag = list(env, directory)?.into_iter().filter_map(|(_, listed)| listed.ok());
        let of_tag = of_tag.filter(|listed| listed.tag == tag).map(|listed| listed.source);
        let others = of_tag.collect::<Vec<_>>().join(", ");
        let others = if others.is_empty() { "none".to_owned() } else { others };
        let allowed = format!("a source of which {tag:?} has a mark in {}: {others}", directory.display());
        return Err(Error::invalid("protocol", format!("{source:?}"), &allowed));
    };
    store.found().content.check_whose(source, tag, path.display())?;
    let before = store.found().content.mark.0;
    // In both slots: a forgotten mark must not come back when one of them is damaged.
    for _ in 0..2 {
        store.write(&Mark::unused(source, tag))?;
    }
    Ok(before)
}
