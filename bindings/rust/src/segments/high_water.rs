//! The high-water marks of a source's tags, in the state directory.
//!
//! They refuse a range that was given before: to this process, to another process of the directory, or before a
//! restart.

#[cfg(feature = "cli")]
mod by_hand;
mod in_memory;

#[cfg(feature = "cli")]
pub(crate) use by_hand::{Listed, forget, list, source_of};

use crate::os::disk::root;
use crate::os::env::{Env, FileAccess, FileId, Sharing};
use crate::storage::shared_file::{self, SharedFile, Stored};
use crate::storage::state_file::{self, check_root};
use leafid_core::format::file_names::{checksum, file_name};
use leafid_core::format::mark::{MOST_SPANS, Mark};
use leafid_core::format::unused::{DAY_MS, MachineStart, UnusedSegments};
use leafid_core::options::deployment;
use leafid_core::{Error, Guard, IdOrder, Result, Segment};
use smallvec::SmallVec;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest number of tags that `last-day` fetches at an opening.
const MOST_RECENT: usize = 1_000;

/// Segments that were not given before.
#[cfg_attr(test, derive(Debug))]
pub(crate) struct Accepted {
    /// At least one.
    pub(crate) segments: SmallVec<[Segment; 1]>,
    /// Why another segment was skipped.
    pub(crate) refused: Option<Error>,
}

impl Accepted {
    /// Errors: `segment_regressed` if no segment is valid.
    fn of(guard: &mut Guard, segments: &[Segment], after: i64) -> Result<Accepted> {
        let mut accepted = Accepted { segments: SmallVec::new(), refused: None };
        for &segment in segments {
            match guard.offer(segment, after) {
                Ok(()) => accepted.segments.push(segment),
                Err(error) => drop(accepted.refused.get_or_insert(error)),
            }
        }
        match accepted.refused {
            Some(error) if accepted.segments.is_empty() => Err(error),
            _ => Ok(accepted),
        }
    }
}

/// The marks of one source's tags.
pub(crate) struct HighWaterMarks {
    env: Arc<Env>,
    source: String,
    order: IdOrder,
    /// `None` with `persist = false`: then only this process knows the marks.
    files: Option<MarkFiles>,
}

struct MarkFiles {
    directory: PathBuf,
    access: FileAccess,
    /// The root directory of this process when it was opened.
    root: Option<FileId>,
    /// The prefix of the names of this source's files.
    prefix: String,
    /// The machine to which stored unused ids belong; `None` where they cannot be stored.
    machine: Option<String>,
}

impl HighWaterMarks {
    /// The marks of the source of this name, in the sub-directory of its id space, which is created if it is missing.
    /// Without a directory they are in memory. It locks and reads nothing yet.
    ///
    /// Errors: `state_io`, also for a network file system without `shared_fs`.
    pub(crate) fn new(
        env: Arc<Env>,
        directory: Option<&Path>,
        source_name: &str,
        order: IdOrder,
        sharing: impl Into<Sharing>,
    ) -> Result<HighWaterMarks> {
        let sharing = sharing.into();
        let files = directory.map(|directory| {
            let made = env.disk.directory(directory, sharing.access());
            let (_, fs) = made.map_err(|error| state_file::failed("make", directory, &error))?;
            deployment::refuse_network(&fs, directory.display(), sharing.fs, deployment::LOCAL_STATE)?;
            let machine = env.disk.machine_id().filter(|_| fs.tells_copies());
            Ok(MarkFiles {
                directory: directory.to_owned(),
                access: sharing.access(),
                root: root(),
                prefix: prefix_of(source_name),
                machine,
            })
        });
        Ok(HighWaterMarks { env, source: source_name.to_owned(), order, files: files.transpose()? })
    }

    /// As on a machine of this name with its own disk, because the machine of the tests may have no name.
    #[cfg(test)]
    pub(crate) fn on_machine(mut self, machine: &str) -> HighWaterMarks {
        self.files = self.files.map(|files| MarkFiles { machine: Some(machine.into()), ..files });
        self
    }

    /// The mark of a tag: every id below was given before. 0 for a new tag. Errors: `state_io`, `state_corrupt`,
    /// `state_mismatch`.
    pub(crate) fn after(&self, tag: &str) -> Result<i64> {
        let Some(files) = &self.files else {
            return Ok(in_memory::after(&self.source, tag));
        };
        let path = files.path_of(tag)?;
        let Some(found) = shared_file::peek::<Mark>(&self.env, &path)? else { return Ok(0) };
        found.content.check_whose(&self.source, tag, path.display())?;
        Ok(found.content.mark.0)
    }

    /// Checks segments that the source returned for `after`, and stores them durably. No id of them may be used before
    /// this returns. Refused segments are skipped.
    ///
    /// Errors: `segment_regressed` if no segment is valid; `segment_unavailable` when other processes hold the file's
    /// lock too long; `state_io`, `state_corrupt`, `state_mismatch`.
    pub(crate) fn accept(&self, tag: &str, segments: &[Segment], after: i64) -> Result<Accepted> {
        let Some(files) = &self.files else {
            return in_memory::accept(&self.source, tag, self.order, segments, after);
        };
        let path = files.path_of(tag)?;
        // Of ids that cannot be joined a file holds few, but this process stores more in memory.
        let mut known = Accepted { segments: segments.into(), refused: None };
        if self.order == IdOrder::Sparse {
            known = in_memory::accept(&path.to_string_lossy(), tag, self.order, segments, after)?;
        }
        let mut store =
            SharedFile::open(&self.env, path.clone(), &Mark::unused(&self.source, tag), files.access)?;
        let mut mark = self.load(&store, tag, &path)?;
        let mut guard = mark.guard(self.order, path.display())?;
        let accepted = Accepted::of(&mut guard, &known.segments, after)?;
        mark.remember(&guard, self.order, self.env.clock.filtered_ms());
        self.save(&mut store, &mut mark)?;
        Ok(Accepted { refused: accepted.refused.or(known.refused), ..accepted })
    }

    /// Stores the unused ids of a tag for the next start: at most eight segments. This process,
    /// which may not be a forked child of the one that fetched them, must not have issued these ids and must not issue
    /// them later. They are dropped where they cannot be bound to this machine and file. Errors: as
    /// [`HighWaterMarks::accept`].
    pub(crate) fn keep_unused(&self, tag: &str, rest: &[Segment]) -> Result<()> {
        let Some((files, start)) = self.binding() else { return Ok(()) };
        if rest.is_empty() {
            return Ok(());
        }
        let path = files.path_of(tag)?;
        let Some(mut store) = SharedFile::open_existing(&self.env, path.clone())? else { return Ok(()) };
        let mut mark = self.load(&store, tag, &path)?;
        let now_ms = self.env.clock.filtered_ms();
        let file = store.id()?;
        // Another process of the directory may have closed just before.
        let others = mark.kept.take().and_then(|kept| kept.valid(&start, file, now_ms));
        mark.kept = Some(UnusedSegments::new(others, rest, start, file, now_ms));
        self.save(&mut store, &mut mark)
    }

    /// Takes the stored unused ids of a tag. When this returns they are gone from the disk, durably. Errors: as
    /// [`HighWaterMarks::accept`].
    pub(crate) fn take_unused(&self, tag: &str) -> Result<Vec<Segment>> {
        let Some((files, start)) = self.binding() else { return Ok(Vec::new()) };
        let path = files.path_of(tag)?;
        let Some(mut store) = SharedFile::<Mark>::open_existing(&self.env, path.clone())? else {
            return Ok(Vec::new());
        };
        let mut mark = self.load(&store, tag, &path)?;
        let Some(kept) = mark.kept.take() else { return Ok(Vec::new()) };
        let other_start = !kept.is_since(&start);
        let rest = kept.valid(&start, store.id()?, self.env.clock.filtered_ms());
        if other_start {
            log::info!(
                "leafid: the stored ids of {tag:?} are left out: the machine was restarted since, or is another one"
            );
        }
        self.save(&mut store, &mut mark)?;
        Ok(rest.map(|kept| kept.segments()).unwrap_or_default())
    }

    /// The tags that were fetched within a day before `now_ms`, at most 1,000, the latest first. Unreadable files are
    /// skipped. Errors: `state_io`.
    pub(crate) fn recent(&self, now_ms: i64) -> Result<Vec<String>> {
        let Some(files) = &self.files else { return Ok(Vec::new()) };
        let names = self.env.disk.list(&files.directory);
        let names = names.map_err(|error| state_file::failed("read", &files.directory, &error))?;
        let mut tags: Vec<(i64, String)> = names
            .iter()
            .filter(|name| name.to_str().is_some_and(|name| name.starts_with(&files.prefix)))
            .filter_map(|name| {
                let path = files.directory.join(name);
                let mark = shared_file::peek::<Mark>(&self.env, &path).ok()??.content;
                mark.check_whose(&self.source, &mark.tag, path.display()).ok()?;
                // The file contains only the beginning of a long name.
                (files.path_of(&mark.tag).ok()? == path).then_some((mark.fetched_ms, mark.tag))
            })
            .filter(|(fetched_ms, _)| now_ms.saturating_sub(*fetched_ms).abs() <= DAY_MS)
            .collect();
        tags.sort_unstable_by(|one, other| (other.0, &one.1).cmp(&(one.0, &other.1)));
        tags.truncate(MOST_RECENT);
        Ok(tags.into_iter().map(|(_, tag)| tag).collect())
    }

    /// The files for unused ids, and the start of the machine to which they belong. A clone of a suspended machine has
    /// all but the start in common with it.
    fn binding(&self) -> Option<(&MarkFiles, MachineStart)> {
        let files = self.files.as_ref()?;
        let (machine, boot) = (files.machine.clone()?, self.env.clock.boot_id());
        (!boot.is_empty()).then_some((files, MachineStart { machine, boot }))
    }

    /// Writes a mark with its unused ids, until the kernel's time of the write agrees with the recorded one.
    fn save(&self, store: &mut SharedFile<Mark>, mark: &mut Mark) -> Result<()> {
        if mark.kept.is_none() {
            return store.write(mark);
        }
        let stamp = |mark: &mut Mark| {
            if let Some(kept) = &mut mark.kept {
                kept.written_ms = self.env.clock.filtered_ms();
            }
        };
        let is_stamp =
            |mark: &Mark, changed_ms| mark.kept.as_ref().is_none_or(|kept| kept.is_as_written(changed_ms));
        store.write_stamped(mark, stamp, is_stamp)
    }

    /// The content of a tag's file, as far as it is valid.
    fn load(&self, store: &SharedFile<Mark>, tag: &str, path: &Path) -> Result<Mark> {
        let found = store.found();
        found.content.check_whose(&self.source, tag, path.display())?;
        let mut mark = found.content.clone();
        let changed_ms = store.changed_ms()?;
        mark.kept = mark.kept.filter(|kept| kept.is_as_written(changed_ms));
        if found.damaged {
            // The unreadable slot may have said that the unused ids were taken.
            mark.kept = None;
            log::warn!(
                "leafid: one slot of {} is damaged; the other one is used, and may not know the last segment",
                path.display()
            );
        }
        Ok(mark)
    }
}

impl Stored for Mark {}

fn prefix_of(source: &str) -> String {
    format!("segment-{}-", checksum(source))
}

impl MarkFiles {
    /// Errors: `state_io` after a chroot.
    fn path_of(&self, tag: &str) -> Result<PathBuf> {
        check_root(self.root, &self.directory)?;
        Ok(self.directory.join(format!("{}{}.mark", self.prefix, file_name(tag))))
    }
}

/// The memory holds at least as many spans as a file.
const _: () = assert!(MOST_SPANS <= leafid_core::MOST_SPANS_IN_MEMORY);

#[cfg(fuzzing)]
pub(crate) fn rewrite(bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    shared_file::rewrite::<Mark>(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
