//! The files of the cached leases of a host.

use super::disk::{Written, broken};
use super::lease_server::Given;
use super::told::Told;
use leafid_core::call::{Clocks, FileAction, SharedFailure};
use leafid_core::format::file_steps::{FileFacts, FileStep};
use leafid_core::format::two_slots::SLOT_BYTES;
use leafid_core::run::cache_read::lease_file_name;
use leafid_core::run::{RunCall, RunCallEnd};
use std::collections::BTreeMap;

/// The files by worker id, and the number of the last one that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Caches {
    files: BTreeMap<u32, CacheFile>,
    made: u64,
    /// A copy, which somebody may put back.
    copy: Option<(u32, CacheFile)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CacheFile {
    bytes: Vec<u8>,
    facts: FileFacts,
}

impl CacheFile {
    /// Carries out steps. The first write is left as `written`, and nothing follows it unless it is whole.
    fn change(&mut self, wall_ms: i64, written: Written, mut step: impl FnMut(&[u8], FileFacts) -> FileStep) {
        while let FileStep::Write { offset, bytes, .. } = step(&self.bytes, self.facts) {
            let len = match written {
                Written::Whole => SLOT_BYTES,
                Written::Half => bytes.len() / 64,
                Written::Nothing => return,
            };
            self.bytes[offset..][..len].copy_from_slice(&bytes[..len]);
            self.facts.changed_ms = wall_ms;
            if written == Written::Half {
                // Where the old and the new bytes are alike, half of a write would be a whole one.
                self.bytes[offset + len] ^= 1;
                return;
            }
        }
    }
}

impl Caches {
    fn make(&mut self, worker_id: u32, bytes: &[u8], wall_ms: i64) -> &mut CacheFile {
        self.made += 1;
        let facts = FileFacts { id: (1, self.made), changed_ms: wall_ms, now_ms: 0 };
        self.files.entry(worker_id).or_insert_with(|| CacheFile { bytes: bytes.into(), facts })
    }

    /// Carries out a call. `now_ms` is the clock after the filter; `fails`: the end says that it failed.
    pub(crate) fn use_file(
        &mut self,
        call: RunCall,
        clocks: Clocks,
        now_ms: i64,
        written: Written,
        fails: bool,
    ) -> (RunCallEnd, Told) {
        let (wall_ms, broken) = (clocks.wall_ms, SharedFailure::Io(FileAction::Write, broken()));
        let end = match call {
            RunCall::ListLeaseCaches(mut call) => {
                self.files.iter().for_each(|(id, file)| call.add(&lease_file_name(*id), &file.bytes));
                call.end(clocks.boot, now_ms).into()
            }
            RunCall::ReadLeaseCache(call) if fails => call.failed("cache", &broken).into(),
            RunCall::ReadLeaseCache(call) => {
                let worker_id = call.worker_id();
                let Some(file) = self.files.get(&worker_id) else {
                    return (call.missing().into(), Told::Nothing);
                };
                let facts = FileFacts { now_ms, ..file.facts };
                let found = call.end(&file.bytes, facts, clocks.boot, true, "cache");
                let told = match found.clone().into_result() {
                    Ok(Some((lease, asked))) => {
                        let (from_ms, until_ms) = (lease.from_ms, lease.until_ms);
                        let token = lease.token.unwrap_or_default();
                        Told::Cached(Given { worker_id: worker_id.into(), from_ms, until_ms, token }, asked)
                    }
                    _ => Told::Nothing,
                };
                return (found.into(), told);
            }
            RunCall::WriteLeaseCache(mut call) => {
                let initial = call.initial(true).expect("it fits").expect("copies can be recognised");
                let file = self.make(call.worker_id(), &initial, wall_ms);
                file.facts.now_ms = now_ms;
                file.change(wall_ms, written, |bytes, facts| call.step(bytes, facts, 0, "cache"));
                if fails { call.failed("cache", &broken).into() } else { call.end("cache").into() }
            }
            RunCall::DropLeaseCache(mut call) => {
                let Some(file) = self.files.get_mut(&call.worker_id()) else {
                    return (call.missing("cache").into(), Told::Nothing);
                };
                file.facts.now_ms = now_ms;
                file.change(wall_ms, written, |bytes, facts| call.step(bytes, facts, "cache"));
                if fails { call.failed("cache", &broken).into() } else { call.end().into() }
            }
            call => unreachable!("{call:?} is not of the cache"),
        };
        (end, Told::Nothing)
    }

    /// Somebody copies a file, or puts the copy in the place of the file. A copy is another file.
    pub(crate) fn copy(&mut self, wall_ms: i64) {
        match self.copy.take() {
            Some((worker_id, mut file)) => {
                self.made += 1;
                (file.facts.id, file.facts.changed_ms) = ((1, self.made), wall_ms);
                self.files.insert(worker_id, file);
            }
            None => self.copy = self.files.iter().next().map(|(id, file)| (*id, file.clone())),
        }
    }
}

pub(crate) fn is_of_cache(call: &RunCall) -> bool {
    matches!(
        call,
        RunCall::ListLeaseCaches(_)
            | RunCall::ReadLeaseCache(_)
            | RunCall::WriteLeaseCache(_)
            | RunCall::DropLeaseCache(_)
    )
}
