//! The record of one worker id on disk. Its lock is held as long as the generator exists.

use crate::os::env::{Env, FileAccess, FileId, LockedFile, NewFile};
use crate::os::process;
use leafid_core::format::state::{self, SlotPair, StoredRecord, Writer};
use leafid_core::format::two_slots::{NUMBER_OF_NEW, SLOT_BYTES};
use leafid_core::{Code, Error, Layout, Record, Result, Rules, Utc};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The properties that all worker ids of one id space share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdSpace {
    pub(crate) name: String,
    pub(crate) layout: Layout,
    pub(crate) rules: Rules,
}

/// The directory of an id space's records, and who may open them.
#[derive(Clone, Copy)]
pub(crate) struct Records<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) access: FileAccess,
    pub(crate) space: &'a IdSpace,
}

/// The state file of a worker id, whose lock this process holds.
pub(crate) struct StateFile {
    /// `None` if no record is stored: then writes always succeed.
    file: Option<Box<dyn LockedFile>>,
    path: PathBuf,
    /// The record that this generator read or wrote last.
    stored: StoredRecord,
    /// The slot to write next: never the one that holds `stored`.
    spare: usize,
    /// The highest number that was tried. A failed write may have reached the disk all the same.
    tried: u64,
}

pub(crate) fn path_of(directory: &Path, worker_id: u32) -> PathBuf {
    directory.join(format!("worker-{worker_id}.state"))
}

/// `state_io` with the failed operation, the path and what to do.
pub(crate) fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            return denied(doing, path, error, "or set state_dir to one that it can write");
        }
        io::ErrorKind::ReadOnlyFilesystem => "set state_dir to a directory that this user can write",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space there, or set state_dir elsewhere"
        }
        _ => "see that the directory is there and the disk works, or set state_dir elsewhere",
    };
    Error::new(Code::StateIo, format!("cannot {doing} {}: {error}; {advice}", path.display()))
}

/// `state_io` for a missing permission. It names the user, because a process may have changed it since the opening.
pub(crate) fn denied(doing: &str, path: &Path, error: &io::Error, or: &str) -> Error {
    let message = format!(
        "cannot {doing} {}: {error}; this process runs as {}: let that user read and write there, open after privileges \
         are given up, {or}",
        path.display(),
        process::user()
    );
    Error::new(Code::StateIo, message)
}

/// Errors: `state_io` if this process changed its root after `then`: the path now means another place.
pub(crate) fn check_root(then: Option<FileId>, path: &Path) -> Result<()> {
    if then == crate::os::disk::root() {
        return Ok(());
    }
    let message = format!(
        "{} was opened before this process changed its root (chroot), and is not where that path leads now; open after the \
         chroot, with a state_dir inside of it",
        path.display()
    );
    Err(Error::new(Code::StateIo, message))
}

/// Reads a worker id's record without its lock: a hint for the choice of an id, and for messages.
pub(crate) fn peek(env: &Env, directory: &Path, worker_id: u32) -> Result<Option<StoredRecord>> {
    let path = path_of(directory, worker_id);
    match env.disk.peek(&path).map_err(|error| failed("read", &path, &error))? {
        None => Ok(None),
        Some(bytes) => {
            let newest = state::read_file(path.display(), &bytes)?.newest;
            observe_clock(env, &newest);
            Ok(Some(newest))
        }
    }
}

/// The process that wrote a worker id's record last, for messages.
pub(crate) fn recorded_holder(env: &Env, directory: &Path, worker_id: u32) -> Option<String> {
    let Writer { pid, host, started, .. } = peek(env, directory, worker_id).ok()??.writer;
    (pid > 0).then(|| format!("pid {pid} on host {host}, started {started}"))
}

impl StateFile {
    /// Opens, locks and reads the file; `None` if another process holds the lock. Errors: `state_io`, `state_mismatch`,
    /// `state_corrupt`, also for a record that the rules cannot have written.
    pub(crate) fn open(env: &Env, records: Records<'_>, worker_id: u32) -> Result<Option<StateFile>> {
        StateFile::open_checked(env, records, worker_id, Record::check)
    }

    fn open_checked(
        env: &Env,
        records: Records<'_>,
        worker_id: u32,
        check: impl Fn(&Record) -> Result<()>,
    ) -> Result<Option<StateFile>> {
        let Records { directory, access, space } = records;
        let path = path_of(directory, worker_id);
        let bytes = state::unused_file(unused(space, worker_id))?;
        let opened = env.disk.open(&path, Some(NewFile { bytes: &bytes, access }));
        let Some(file) = opened.map_err(|error| failed("open", &path, &error))? else { return Ok(None) };
        let bytes = file.read().map_err(|error| failed("read", &path, &error))?;
        let SlotPair { mut newest, spare, damaged } = state::read_file(path.display(), &bytes)?;
        if newest.name != space.name || newest.record.worker_id != worker_id {
            let message = format!(
                "{} is the record of worker id {} of {:?}, not of {worker_id} of {:?}: it was moved or copied here; \
                 nothing was changed, put it back",
                path.display(),
                newest.record.worker_id,
                newest.name,
                space.name
            );
            return Err(Error::new(Code::StateCorrupt, message));
        }
        check_layout(&newest.record, space, &path)?;
        check(&newest.record).map_err(|error| error.context(path.display()))?;
        if newest.number <= NUMBER_OF_NEW {
            file.sync_name().map_err(|error| failed("make durable the name of", &path, &error))?;
        }
        observe_clock(env, &newest);
        if damaged {
            newest.record = newest.record.after_lost_slot(&space.rules, env.clock.filtered_ms());
            log::warn!(
                "leafid: one slot of {} is damaged; the other one is used, and ids continue at {}",
                path.display(),
                Utc(space.layout.tick_start_ms(newest.record.run.until))
            );
        }
        let tried = newest.number;
        Ok(Some(StateFile { file: Some(file), path, stored: newest, spare, tried }))
    }

    /// For a generator whose record is not stored: has no file.
    pub(crate) fn unpersisted(space: &IdSpace, worker_id: u32) -> StateFile {
        StateFile { file: None, path: PathBuf::new(), stored: unused(space, worker_id), spare: 0, tried: 0 }
    }

    /// As [`StateFile::open`], but accepts a record of any layout and with any values. Errors also: `invalid_argument`
    /// if there is no file.
    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line resets"))]
    pub(crate) fn open_any(env: &Env, records: Records<'_>, worker_id: u32) -> Result<Option<StateFile>> {
        let Records { directory, space, .. } = records;
        let Some(found) = peek(env, directory, worker_id)? else {
            let path = path_of(directory, worker_id);
            let allowed =
                format!("a worker id of {:?} that was used: there is no {}", space.name, path.display());
            return Err(Error::invalid("worker", worker_id, &allowed));
        };
        let space = &IdSpace { layout: found.record.layout, ..space.clone() };
        StateFile::open_checked(env, Records { space, ..records }, worker_id, |_| Ok(()))
    }

    /// The record that this generator read or wrote last.
    pub(crate) fn record(&self) -> &Record {
        &self.stored.record
    }

    /// Makes a record durable. After an error the previous record stays, and so does the lock.
    ///
    /// Errors: `state_io`; `worker_lost` when the file is no longer the one at its path, or no longer holds what was
    /// written.
    pub(crate) fn write(&mut self, record: Record, writer: &Writer) -> Result<()> {
        let Some(file) = &self.file else {
            self.stored.record = record;
            return Ok(());
        };
        self.check_ours(file.as_ref())?;
        self.tried += 1;
        let stored = StoredRecord {
            number: self.tried,
            name: self.stored.name.clone(),
            record,
            writer: writer.clone(),
        };
        let bytes = stored.to_bytes()?;
        file.write(self.spare * SLOT_BYTES, &bytes).map_err(|error| failed("write", &self.path, &error))?;
        self.spare = 1 - self.spare;
        self.stored = stored;
        Ok(())
    }

    fn check_ours(&self, file: &dyn LockedFile) -> Result<()> {
        let unreadable = |error: io::Error| failed("read", &self.path, &error);
        if !file.is_in_place().map_err(unreadable)? {
            return Err(self.lost("was deleted, moved or replaced"));
        }
        let slots = state::read_file(self.path.display(), &file.read().map_err(unreadable)?);
        match slots {
            // The last record, or one of a write that was reported as failed.
            Ok(SlotPair { newest, .. })
                if newest.record.owner == self.stored.record.owner
                    && (self.stored.number..=self.tried).contains(&newest.number) =>
            {
                Ok(())
            }
            _ => Err(self.lost("was overwritten")),
        }
    }

    fn lost(&self, what: &str) -> Error {
        let message = format!(
            "{} {what} while worker id {} was in use; no further ids are issued by this generator: find out what \
             changed the file, then close and open again",
            self.path.display(),
            self.stored.record.worker_id
        );
        Error::new(Code::WorkerLost, message)
    }
}

/// Passes to the clock filter what another process of this start of the machine recorded.
fn observe_clock(env: &Env, stored: &StoredRecord) {
    if !stored.writer.boot.is_empty() && stored.writer.boot == env.clock.boot_id() {
        let Writer { counted_ms, leap_ms, .. } = &stored.writer;
        env.clock.observe(stored.record.granted_at_ms, *counted_ms, *leap_ms);
    }
}

fn unused(space: &IdSpace, worker_id: u32) -> StoredRecord {
    StoredRecord {
        number: 0,
        name: space.name.clone(),
        record: Record::unused(worker_id, space.layout),
        writer: Writer::default(),
    }
}

/// Errors: `state_mismatch` if the record has another layout or epoch.
pub(crate) fn check_layout(record: &Record, space: &IdSpace, path: &Path) -> Result<()> {
    if record.layout == space.layout {
        return Ok(());
    }
    let told = |layout: &Layout| {
        format!("{layout} with epoch_ms {} and tick_ms {}", layout.epoch_ms(), layout.tick_ms())
    };
    let message = format!(
        "{} has the layout {}, not {}; use the layout it has, or another name",
        path.display(),
        told(&record.layout),
        told(&space.layout)
    );
    Err(Error::new(Code::StateMismatch, message))
}

/// The worker ids that have a file, sorted.
pub(crate) fn recorded(env: &Env, directory: &Path) -> Result<Vec<u32>> {
    let names = match env.disk.list(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        names => names.map_err(|error| failed("read", directory, &error))?,
    };
    let id_of = |name: &OsString| {
        let id = name.to_str()?.strip_prefix("worker-")?.strip_suffix(".state")?.parse().ok()?;
        // Not worker-007.state, which belongs to no worker id.
        (path_of(directory, id).file_name() == Some(name)).then_some(id)
    };
    let mut ids: Vec<u32> = names.iter().filter_map(id_of).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Checks the layout of all records, for a claim that may get any worker id. What cannot be read is left to the claim of
/// its id. Errors: `state_mismatch`.
pub(crate) fn check_layouts(env: &Env, directory: &Path, space: &IdSpace) -> Result<()> {
    recorded(env, directory).unwrap_or_default().into_iter().try_for_each(|worker_id| {
        match peek(env, directory, worker_id) {
            Ok(Some(found)) => check_layout(&found.record, space, &path_of(directory, worker_id)),
            Err(error) if error.code() == Code::StateMismatch => Err(error),
            Ok(None) | Err(_) => Ok(()),
        }
    })
}

/// Records the time of the clocks.
pub(crate) fn stamp(writer: &mut Writer, env: &Env) {
    writer.counted_ms = env.clock.boot_time().as_millis() as i64;
    writer.leap_ms = env.clock.leap_ms();
}

/// This process as the writer of a record.
pub(crate) fn this_process(env: &Env) -> Writer {
    let pid = std::process::id();
    let now_ms = env.clock.filtered_ms();
    let mut writer = Writer {
        pid: pid as i32,
        host: crate::os::hostname::hostname(),
        started: Utc(process::started_ms(pid).unwrap_or(now_ms)).to_string(),
        boot: env.clock.boot_id(),
        ..Writer::default()
    };
    stamp(&mut writer, env);
    writer
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Snowflake;
    use crate::worker::settings::SnowflakeSettings;
    use leafid_core::Span;
    use std::fs::File;
    use std::io::{Seek, SeekFrom, Write};

    /// A run with the same numbers as this one, but of another owner.
    #[test]
    fn a_record_of_another_owner_s_in_its_place_is_worker_lost() {
        let (env, directory) = (Env::system(), tempfile::tempdir().unwrap());
        let settings =
            SnowflakeSettings::parse(&Snowflake::builder().worker(7).state_dir(directory.path()).options)
                .unwrap();
        env.disk.directory(&settings.directory, settings.sharing.access()).unwrap();
        let mut ours = StateFile::open(&env, settings.records(), 7).unwrap().unwrap();
        let writer = this_process(&env);
        let record = ours.record().begin(Span { from: 10, until: 20 }, 1, 1);
        ours.write(record.clone(), &writer).unwrap();
        let file = File::options().write(true).open(path_of(&settings.directory, 7)).unwrap();
        let put = |stored: &StoredRecord, slot: usize| {
            (&file).seek(SeekFrom::Start((slot * SLOT_BYTES) as u64)).unwrap();
            (&file).write_all(&stored.to_bytes().unwrap()).unwrap();
        };
        let (mine, slot) = (ours.stored.clone(), 1 - ours.spare);
        put(&StoredRecord { record: Record { owner: 2, ..record.clone() }, ..mine.clone() }, slot);
        assert_eq!(ours.write(record.clone(), &writer).unwrap_err().code(), Code::WorkerLost);
        put(&mine, slot);
        ours.write(record, &writer).unwrap();
    }

    /// A lock of F_SETLK ends with the first of them, and this process never meets its own.
    #[test]
    fn a_lock_outlives_other_descriptors_of_its_file() {
        let (env, directory) = (Env::system(), tempfile::tempdir().unwrap());
        let settings =
            SnowflakeSettings::parse(&Snowflake::builder().worker(7).state_dir(directory.path()).options)
                .unwrap();
        env.disk.directory(&settings.directory, settings.sharing.access()).unwrap();
        let held = StateFile::open(&env, settings.records(), 7).unwrap().unwrap();
        for _ in 0..2 {
            drop(File::open(path_of(&settings.directory, 7)).unwrap());
            assert!(StateFile::open(&env, settings.records(), 7).unwrap().is_none());
        }
        drop(held);
        assert!(StateFile::open(&env, settings.records(), 7).unwrap().is_some());
    }

    /// A torn write damages the older of the two records, never the newest.
    #[test]
    fn each_write_leaves_the_record_before_it() {
        let (env, directory) = (Env::system(), tempfile::tempdir().unwrap());
        let settings =
            SnowflakeSettings::parse(&Snowflake::builder().worker(7).state_dir(directory.path()).options)
                .unwrap();
        env.disk.directory(&settings.directory, settings.sharing.access()).unwrap();
        let mut file = StateFile::open(&env, settings.records(), 7).unwrap().unwrap();
        let writer = this_process(&env);
        assert_eq!(writer.host, crate::os::hostname::hostname());
        for number in 2..6 {
            file.write(file.record().clone(), &writer).unwrap();
            let bytes = std::fs::read(path_of(&settings.directory, 7)).unwrap();
            let mut numbers = [0, 1].map(|slot| state::read_slot(&bytes, slot).unwrap().number);
            numbers.sort_unstable();
            assert_eq!(numbers, [number - 1, number]);
        }
    }

    #[test]
    fn a_record_of_any_layout_is_opened_to_be_reset() {
        let (env, directory) = (Env::system(), tempfile::tempdir().unwrap());
        let builder = Snowflake::builder().worker(7).state_dir(directory.path());
        let settings = |layout| SnowflakeSettings::parse(&builder.clone().layout(layout).options).unwrap();
        let (was, is) = (settings(leafid_core::Layout::SONYFLAKE), settings(leafid_core::Layout::LEAF));
        env.disk.directory(&was.directory, was.sharing.access()).unwrap();
        drop(StateFile::open(&env, was.records(), 7).unwrap().unwrap());
        assert_eq!(StateFile::open(&env, is.records(), 7).err().unwrap().code(), Code::StateMismatch);
        assert!(StateFile::open_any(&env, is.records(), 7).unwrap().is_some());
    }
}
