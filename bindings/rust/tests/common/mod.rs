//! What the host's tests share.
#![allow(dead_code)]

#[cfg(unix)]
pub(crate) mod forks;
mod hang;
pub(crate) mod programs;
pub(crate) mod untold;

pub(crate) use hang::{HANG, PATIENT_MS};
use leafid::{Snowflake, SnowflakeBuilder};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A name that no other test of this host uses: a worker id is taken on the whole host. None is in another one.
pub(crate) fn unique_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("t{}-{:04}", std::process::id(), NEXT.fetch_add(1, Relaxed))
}

/// Waits until this is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < HANG, "{what} does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The error that is meant: not that of a call whose whole time a slow disk needed.
pub(crate) fn refusal(mut call: impl FnMut() -> leafid::Error) -> leafid::Error {
    let mut found = None;
    until("the error that is meant", || {
        found = Some(call()).filter(|error| error.code() != leafid::Code::SegmentUnavailable);
        found.is_some()
    });
    found.unwrap()
}

/// A directory in memory, if /dev/shm is there: a close gives up a slow disk after two seconds.
pub(crate) fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A state directory and a name of the test's own.
pub(crate) struct Place {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) name: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { dir: in_memory(), name: unique_name() }
    }

    /// As `new`, where a generator may run ahead of the clock and an opening has nothing to warn of.
    pub(crate) fn on_disk() -> Place {
        Place { dir: tempfile::tempdir().unwrap(), name: unique_name() }
    }

    pub(crate) fn builder(&self) -> SnowflakeBuilder {
        Snowflake::builder().name(&self.name).state_dir(self.dir.path()).timeout_ms(PATIENT_MS)
    }

    pub(crate) fn file(&self, worker_id: u32) -> PathBuf {
        self.dir.path().join(&self.name).join(format!("worker-{worker_id}.state"))
    }

    /// `until_ms` of the newest record.
    pub(crate) fn until_ms(&self, worker_id: u32) -> i64 {
        newest(&self.file(worker_id))["until_ms"].as_i64().unwrap()
    }
}

/// The newest record of a state file.
pub(crate) fn newest(path: &Path) -> serde_json::Value {
    let bytes = std::fs::read(path).unwrap();
    bytes
        .chunks(4096)
        .filter_map(|slot| serde_json::from_slice::<serde_json::Value>(slot).ok())
        .max_by_key(|record| record["number"].as_u64().unwrap())
        .unwrap()
}

pub(crate) fn sorted_and_distinct(mut ids: Vec<i64>) -> bool {
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    ids.len() == all
}
