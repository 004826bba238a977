//! The file of a cached lease as a host carries out its calls: who may open it, what it is bound to, and that it is
//! invalid before the lease is released.

use leafid_core::call::{FileAction, IoFailure, SharedFailure};
use leafid_core::format::file_steps::{FileFacts, FileStep};
use leafid_core::format::two_slots::{FILE_BYTES, SLOT_BYTES};
use leafid_core::run::cache_drop::{CacheDrop, CacheDropped};
use leafid_core::run::cache_file::LeaseCache;
use leafid_core::run::cache_read::{CacheList, CacheRead, CacheSeeker, lease_file_name};
use leafid_core::run::cache_write::{CacheWrite, CacheWritten};
use leafid_core::{Code, Lease, Result};
use std::path::Path;
use std::time::Duration;

const PATH: &str = "/state/worker-7.lease";
const NOW_MS: i64 = 1_800_000_000_000;
const OWNER: u128 = 7 << 100;
const BOOT: &str = "this start";
/// The boot time now.
const BOOT_TIME: Duration = Duration::from_secs(100);
/// The end of the lease by the boot time.
const ENDS: Duration = Duration::from_secs(130);

fn lease() -> Lease {
    Lease {
        worker_id: 7,
        from_ms: NOW_MS - 10_000,
        until_ms: NOW_MS + 20_000,
        lease_ms: Some(30_000),
        token: Some("a token".into()),
        ..Lease::default()
    }
}

fn cache() -> LeaseCache {
    LeaseCache::new("shop", 7, &["http://a".into()], OWNER).unwrap()
}

fn seeker() -> CacheSeeker {
    CacheSeeker { name: "shop".into(), servers: vec!["http://a".into()], boot: BOOT.into() }
}

/// A file, and what its system tells of it.
#[derive(Clone)]
struct CacheFile {
    bytes: Option<Vec<u8>>,
    facts: FileFacts,
    others_bits: u32,
    tells_copies: bool,
    /// The kernel's time of a write minus the clock, for each of the next writes; then 0.
    lags: Vec<i64>,
    /// The time that passes with each write.
    write_ms: i64,
    writes: usize,
}

impl CacheFile {
    fn new() -> CacheFile {
        let facts = FileFacts { id: (1, 2), changed_ms: 0, now_ms: NOW_MS };
        CacheFile {
            bytes: None,
            facts,
            others_bits: 0,
            tells_copies: true,
            lags: Vec::new(),
            write_ms: 0,
            writes: 0,
        }
    }

    fn write(&mut self, mut write: CacheWrite) -> CacheWritten {
        if let Some(initial) = write.initial(self.tells_copies).unwrap() {
            self.bytes.get_or_insert_with(|| initial.to_vec());
            while self.step(|bytes, facts, bits| write.step(bytes, facts, bits, PATH)) {}
        }
        write.end(PATH)
    }

    fn drop_lease(&mut self, mut dropped: CacheDrop) -> CacheDropped {
        if self.bytes.is_none() {
            return dropped.missing(PATH);
        }
        while self.step(|bytes, facts, _| dropped.step(bytes, facts, PATH)) {}
        dropped.end()
    }

    /// Carries out one step; whether it was a write.
    fn step(&mut self, next: impl FnOnce(&[u8], FileFacts, u32) -> FileStep) -> bool {
        let file = self.bytes.as_mut().unwrap();
        let FileStep::Write { offset, bytes, .. } = next(file, self.facts, self.others_bits) else {
            return false;
        };
        file[offset..offset + SLOT_BYTES].copy_from_slice(&bytes[..]);
        let lag = if self.lags.is_empty() { 0 } else { self.lags.remove(0) };
        self.facts.changed_ms = self.facts.now_ms + lag;
        self.facts.now_ms += self.write_ms;
        self.writes += 1;
        true
    }

    /// Caches the lease of this run.
    fn store(&mut self, cache: &mut LeaseCache) -> Result<Option<String>> {
        let write = cache.write(&lease(), ENDS, BOOT).unwrap();
        let end = self.write(write);
        cache.written(end)
    }

    fn read_by(&self, read: CacheRead) -> Result<Option<(Lease, Duration)>> {
        let Some(bytes) = &self.bytes else { return read.missing().into_result() };
        read.end(bytes, self.facts, BOOT_TIME, self.tells_copies, PATH).into_result()
    }

    fn is_held(&self) -> bool {
        let found = self.read_by(CacheRead::new(seeker(), 7, OWNER)).unwrap();
        if let Some((found, asked)) = &found {
            assert_eq!((found, *asked), (&lease(), ENDS - Duration::from_secs(30)));
        }
        found.is_some()
    }

    fn damage(&mut self, slot: usize) {
        self.bytes.as_mut().unwrap()[slot * SLOT_BYTES + 30] ^= 1;
    }
}

/// A file with the lease of a run, and that run's cache.
fn stored() -> (CacheFile, LeaseCache) {
    let (mut file, mut cache) = (CacheFile::new(), cache());
    assert_eq!(file.store(&mut cache), Ok(None));
    (file, cache)
}

#[test]
fn a_cached_lease_is_used_by_the_run_after_and_not_once_it_is_dropped() {
    let (mut file, cache) = stored();
    assert!(file.is_held());
    let dropped = file.drop_lease(cache.drop_lease());
    assert_eq!(dropped.into_result(), Ok(()));
    assert!(!file.is_held());
    let writes = file.writes;
    assert_eq!(file.drop_lease(cache.drop_lease()).into_result(), Ok(()));
    assert_eq!(file.writes, writes, "nothing is left to be dropped");
}

#[test]
fn it_is_bound_to_its_servers_run_file_change_and_start() {
    let (file, _) = stored();
    let is_held = |seeker: CacheSeeker, worker_id, owner, file: &CacheFile| {
        file.read_by(CacheRead::new(seeker, worker_id, owner)).unwrap().is_some()
    };
    assert!(is_held(seeker(), 7, OWNER, &file));
    assert!(!is_held(CacheSeeker { name: "ship".into(), ..seeker() }, 7, OWNER, &file));
    assert!(!is_held(CacheSeeker { servers: vec!["http://b".into()], ..seeker() }, 7, OWNER, &file));
    assert!(!is_held(CacheSeeker { boot: "the next start".into(), ..seeker() }, 7, OWNER, &file));
    assert!(!is_held(seeker(), 8, OWNER, &file));
    assert!(!is_held(seeker(), 7, OWNER + 1, &file), "another run wrote the record since");
    let with = |change: &dyn Fn(&mut CacheFile)| {
        let mut changed = file.clone();
        change(&mut changed);
        changed.is_held()
    };
    assert!(!with(&|file| file.facts.id = (1, 3)), "a copy in its place");
    assert!(!with(&|file| file.facts.changed_ms += 5_000), "a copy over it");
    assert!(!with(&|file| file.tells_copies = false));
    assert!(!with(&|file| file.damage(0)), "it may have said that the lease was released");
    assert!(!with(&|file| file.bytes = None));
    assert!(with(&|file| file.facts.now_ms = lease().until_ms - 1));
    assert!(!with(&|file| file.facts.now_ms = lease().until_ms));
    let late =
        CacheRead::new(seeker(), 7, OWNER).end(file.bytes.as_ref().unwrap(), file.facts, ENDS, true, PATH);
    assert_eq!(late.into_result(), Ok(None), "it ended by the boot time");
    let corrupt = CacheFile { bytes: Some(vec![0; FILE_BYTES]), ..file };
    let error = corrupt.read_by(CacheRead::new(seeker(), 7, OWNER)).unwrap_err();
    assert_eq!(error.code(), Code::StateCorrupt);
}

#[test]
fn it_is_written_until_the_clocks_of_the_write_agree() {
    for (lags, writes, held) in [
        (vec![], 1, true),
        (vec![-10], 1, true),
        (vec![-11, 4], 3, true),
        (vec![50; 4], 5, true),
        (vec![50; 5], 5, false),
    ] {
        let mut file = CacheFile { lags: lags.clone(), write_ms: 20, ..CacheFile::new() };
        assert_eq!(file.store(&mut cache()), Ok(None));
        assert_eq!((file.writes, file.is_held()), (writes, held), "{lags:?}");
    }
}

#[test]
fn a_file_that_others_may_open_gets_no_token() {
    let mut file = CacheFile { others_bits: 0o44, ..CacheFile::new() };
    let mut cache = cache();
    let text = "/state/worker-7.lease may be opened by other users of the host (its mode ends in 044), so the lease of \
                worker id 7 is not cached; delete the file, or see that the file system keeps the mode 0600";
    assert_eq!(file.store(&mut cache), Ok(Some(text.into())));
    assert_eq!(file.store(&mut cache), Ok(None), "it is warned of once");
    assert!(file.writes == 0 && !file.is_held());
    // Nothing of this run is in it.
    let gone = CacheFile { bytes: None, ..file.clone() }.drop_lease(cache.drop_lease());
    assert_eq!(gone.into_result(), Ok(()));
    // A file that this run wrote had no descriptor of others' before.
    let (mut file, mut cache) = stored();
    file.others_bits = 0o44;
    assert_eq!(file.store(&mut cache), Ok(None));
    assert_eq!(file.writes, 2);
    file.facts.id = (1, 3);
    assert!(file.store(&mut cache).unwrap().is_some(), "another file is in its place");
}

#[test]
fn where_copies_cannot_be_recognised_nothing_is_written() {
    let mut file = CacheFile { tells_copies: false, ..CacheFile::new() };
    assert_eq!(file.store(&mut cache()), Ok(None));
    assert_eq!(file.bytes, None);
}

#[test]
fn only_a_lease_with_an_end_and_a_token_in_a_known_start_is_cached() {
    for (lease, boot, cached) in [
        (lease(), BOOT, true),
        (lease(), "", false),
        (Lease { token: None, ..lease() }, BOOT, false),
        (Lease { lease_ms: None, ..lease() }, BOOT, false),
    ] {
        assert_eq!(cache().write(&lease, ENDS, boot).is_some(), cached);
    }
    assert!(LeaseCache::new("shop", 7, &["a".repeat(1_200)], OWNER).is_ok());
    let long = LeaseCache::new("shop", 7, &["a".repeat(1_201)], OWNER).unwrap_err();
    assert!(long.starts_with("the URLs of the lease servers have 1201 bytes"), "{long}");
}

/// The lease must not be released while somebody may still use what is cached.
#[test]
fn a_lease_that_may_come_back_is_not_dropped() {
    let lost = "cannot write /state/worker-7.lease: it was deleted, moved or replaced meanwhile; see that";
    let refused = |end: CacheDropped, starts: &str| {
        let error = end.into_result().unwrap_err();
        assert!(error.code() == Code::StateIo && error.message().starts_with(starts), "{error}");
    };
    let (file, cache) = stored();
    refused(cache.drop_lease().missing(PATH), lost);
    let mut moved = file.clone();
    moved.facts.id = (1, 3);
    refused(moved.drop_lease(cache.drop_lease()), lost);
    assert_eq!(moved.writes, 1, "the file of another is left alone");
    let failure = SharedFailure::Io(FileAction::Write, IoFailure::other("it is broken"));
    refused(
        cache.drop_lease().failed(PATH, &failure),
        "cannot write /state/worker-7.lease: it is broken; see",
    );
    let mut corrupt = file;
    corrupt.bytes = Some(vec![0; FILE_BYTES]);
    let error = corrupt.drop_lease(cache.drop_lease()).into_result().unwrap_err();
    assert_eq!(error.code(), Code::StateCorrupt);
}

#[test]
fn what_this_run_never_wrote_is_dropped_if_anybody_could_use_it() {
    let cache = cache();
    assert_eq!(cache.drop_lease().missing(PATH).into_result(), Ok(()));
    let mut corrupt = CacheFile { bytes: Some(vec![0; FILE_BYTES]), ..CacheFile::new() };
    assert_eq!(corrupt.drop_lease(cache.drop_lease()).into_result(), Ok(()));
    assert_eq!(corrupt.writes, 0);
    // The lease of the run before.
    let (mut before, _) = stored();
    assert_eq!(before.drop_lease(cache.drop_lease()).into_result(), Ok(()));
    assert!(!before.is_held());
    // A damaged slot may hold one.
    before.damage(0);
    let writes = before.writes;
    assert_eq!(before.drop_lease(cache.drop_lease()).into_result(), Ok(()));
    assert_eq!(before.writes, writes + 1);
}

#[test]
fn a_file_whose_write_failed_is_this_run_s_all_the_same() {
    let failure = SharedFailure::Io(FileAction::Write, IoFailure::other("it is broken"));
    let (mut file, mut cache) = (CacheFile::new(), cache());
    let mut write = cache.write(&lease(), ENDS, BOOT).unwrap();
    file.bytes = write.initial(true).unwrap().map(Vec::from);
    assert!(file.step(|bytes, facts, bits| write.step(bytes, facts, bits, PATH)));
    let error = cache.written(write.failed(PATH, &failure)).unwrap_err();
    assert!(error.message().starts_with("cannot write /state/worker-7.lease: it is broken"), "{error}");
    assert!(file.is_held(), "it was written");
    assert!(cache.drop_lease().missing(PATH).into_result().is_err(), "and may come back");
    assert_eq!(file.drop_lease(cache.drop_lease()).into_result(), Ok(()));
    assert!(!file.is_held());
    // One that was not opened has no holder.
    let (write, mut cache) = (self::cache().write(&lease(), ENDS, BOOT).unwrap(), self::cache());
    cache.written(write.failed(PATH, &SharedFailure::Locked)).unwrap_err();
    assert_eq!(cache.drop_lease().missing(PATH).into_result(), Ok(()));
}

#[test]
fn no_end_says_more_than_was_done() {
    let internal = |error: leafid_core::Error| assert_eq!(error.code(), Code::Internal, "{error}");
    let (mut file, mut cache) = stored();
    let asked = cache.write(&lease(), ENDS, BOOT).unwrap();
    let mut opened = asked.clone();
    opened.initial(true).unwrap();
    let mut unopened = asked.clone();
    assert_eq!(unopened.step(file.bytes.as_ref().unwrap(), file.facts, 0, PATH), FileStep::Done);
    let mut unseen = opened.clone();
    file.clone().step(|bytes, facts, bits| unseen.step(bytes, facts, bits, PATH));
    let mut lost = opened.clone();
    let before = file.bytes.clone();
    file.step(|bytes, facts, bits| lost.step(bytes, facts, bits, PATH));
    file.bytes = before;
    file.step(|bytes, facts, bits| lost.step(bytes, facts, bits, PATH));
    for write in [asked, opened, unopened, unseen, lost] {
        internal(cache.written(write.end(PATH)).unwrap_err());
    }
    let asked = cache.drop_lease();
    let mut unseen = asked.clone();
    file.clone().step(|bytes, facts, _| unseen.step(bytes, facts, PATH));
    let mut lost = asked.clone();
    let before = file.bytes.clone();
    file.step(|bytes, facts, _| lost.step(bytes, facts, PATH));
    file.bytes = before;
    file.step(|bytes, facts, _| lost.step(bytes, facts, PATH));
    for dropped in [asked, unseen, lost] {
        internal(dropped.end().into_result().unwrap_err());
    }
    assert!(file.is_held());
}

#[test]
fn worker_ids_with_usable_leases_are_listed_by_their_ends() {
    let of = |worker_id: u32, ends: Duration| {
        let mut cache = LeaseCache::new("shop", worker_id, &["http://a".into()], OWNER).unwrap();
        let mut file = CacheFile::new();
        let end = file.write(cache.write(&lease(), ends, BOOT).unwrap());
        cache.written(end).unwrap();
        (lease_file_name(worker_id), file.bytes.unwrap())
    };
    let mut list = CacheList::new(seeker());
    let files = [of(3, ENDS), of(5, ENDS + Duration::from_secs(1)), of(9, BOOT_TIME)];
    for (name, bytes) in &files {
        assert!(CacheList::wants(name));
        list.add(name, bytes);
    }
    list.add("worker-4.lease", &files[0].1);
    list.add("worker-6.lease", &[0; FILE_BYTES]);
    for name in ["worker-007.lease", "worker-7.state", "worker-.lease", "x"] {
        assert!(!CacheList::wants(name));
        list.add(name, &files[0].1);
    }
    assert_eq!(list.end(BOOT_TIME, NOW_MS).into_worker_ids(), [5, 3]);
}

/// The file of 0.1.0: tests/vectors/earlier_files/README.md.
#[test]
fn a_lease_of_an_earlier_version_is_used() {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/vectors/earlier_files/state/earlier-leased"
    ));
    let record = std::fs::read(folder.join("worker-0.state")).unwrap();
    let owner = leafid_core::format::state::read_file("f", &record).unwrap().newest.record.owner;
    let seeker = CacheSeeker {
        name: "earlier-leased".into(),
        servers: vec!["http://127.0.0.1:9".into()],
        boot: "7d1ab227-67b5-4d70-b0c4-2b4bec58a2f4".into(),
    };
    let bytes = std::fs::read(folder.join(lease_file_name(0))).unwrap();
    let facts =
        FileFacts { id: (65_024, 10_118_341), changed_ms: 1_795_542_794_818, now_ms: 1_795_542_824_793 };
    let boot = Duration::from_millis(24_714_979);
    let found = CacheRead::new(seeker, 0, owner).end(&bytes, facts, boot, true, PATH).into_result().unwrap();
    assert_eq!(found.unwrap().0.token.unwrap(), "07b5878b51fc92bb635178c8db0848e1");
}
