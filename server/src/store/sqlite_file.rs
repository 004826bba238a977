//! The file of an SQLite store. SQLite keeps its log beside the file, by the name that it was opened by, so each process
//! must open it in one folder and by one name, and as long as it is there.

use leafid_core::options::shown_url;
use leafid_core::{Code, Error, Result};
use parking_lot::Mutex;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const ALLOWED: &str =
    "a file of SQLite, or one to be made, with one name, in a folder that all servers of it share";
/// How each of its files begins that is not empty.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The file, and which one it was at the first connection.
pub(super) struct SqliteFile {
    path: PathBuf,
    first: OnceLock<(u64, u64)>,
    log: Mutex<Log>,
}

/// The two files beside it that hold what was committed last, and its locks.
enum Log {
    /// Of no connection yet.
    Unknown,
    Known([(u64, u64); 2]),
    Lost,
}

impl SqliteFile {
    /// Errors: `invalid_argument`, for what is no such file, and for one that others may have opened with another log.
    pub(super) fn new(path: &str) -> Result<SqliteFile> {
        let wrong = |why: &str| Err(Error::invalid("store", format!("{} {why}", shown_url(path)), ALLOWED));
        let path = PathBuf::from(path);
        if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
            return wrong("is in a folder that does not exist");
        }
        if let Ok(metadata) = path.metadata() {
            if !metadata.is_file() || !is_database(&path) {
                return wrong("is no database of SQLite");
            }
            if metadata.nlink() > 1 {
                return wrong("has several hard links, and servers with another one see other commits");
            }
            if is_mounted(&path) {
                return wrong("is mounted as a file, and others see other commits: mount its folder");
            }
        }
        Ok(SqliteFile { path, first: OnceLock::new(), log: Mutex::new(Log::Unknown) })
    }

    /// To be called before a connection is made: one to another file would take part in that file's log. Errors: as
    /// [`SqliteFile::check`].
    pub(super) fn check_before(&self) -> Result<()> {
        if self.first.get().is_some() { self.check() } else { Ok(()) }
    }

    /// To be called when it is open. Errors: another file is at its path, or beside it.
    pub(super) fn check(&self) -> Result<()> {
        self.look(false)
    }

    /// The same, after a transaction: a connection that had one keeps the log in its place.
    pub(super) fn check_after(&self) -> Result<()> {
        self.look(true)
    }

    /// To be called before the connection ends: the last one takes the log with it.
    pub(super) fn closes(&self) {
        let _ = self.check();
        let mut log = self.log.lock();
        if !matches!(*log, Log::Lost) {
            *log = Log::Unknown;
        }
    }

    fn look(&self, is_kept: bool) -> Result<()> {
        let found = identity(&self.path);
        if found.is_none_or(|found| *self.first.get_or_init(|| found) != found) {
            return Err(gone(&shown_url(&self.path.to_string_lossy())));
        }
        let names = ["-wal", "-shm"].map(|end| self.beside(end));
        let found = [identity(&names[0]), identity(&names[1])];
        let mut log = self.log.lock();
        match (&*log, found) {
            (Log::Known(known), _) if known.map(Some) == found => return Ok(()),
            (Log::Unknown, [Some(wal), Some(shm)]) if is_kept => {
                *log = Log::Known([wal, shm]);
                return Ok(());
            }
            (Log::Unknown, _) => return Ok(()),
            // Others have opened what is there now, and have not seen the commits of the log that is gone.
            _ => *log = Log::Lost,
        }
        let [wal, shm] = names.map(|name| shown_url(&name.to_string_lossy()));
        Err(gone(&format!("{wal} or {shm}")))
    }

    fn beside(&self, end: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(end);
        name.into()
    }
}

fn gone(what: &str) -> Error {
    let message = format!(
        "{what} was deleted, moved or replaced while it was in use, and nothing is taken from it any more: put it back, or \
         stop all servers of it, raise max_id, and start them"
    );
    Error::new(Code::SegmentUnavailable, message)
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().map(|metadata| (metadata.dev(), metadata.ino())).ok()
}

/// Whether a file is empty, or begins as a database does. Not to be called while this process has it open: the end of
/// this reading would drop its locks.
fn is_database(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    read.is_err() || start.is_empty() || start == MAGIC
}

/// Whether this path is a mount point. proc_pid_mountinfo(5)
fn is_mounted(path: &Path) -> bool {
    let (Ok(path), Ok(mounts)) = (path.canonicalize(), std::fs::read_to_string("/proc/self/mountinfo"))
    else {
        return false;
    };
    let shown = path.to_string_lossy().replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011");
    mounts.lines().any(|line| line.split(' ').nth(4) == Some(&shown))
}
