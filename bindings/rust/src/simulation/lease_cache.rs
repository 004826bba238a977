//! Tests of the lease cache: when a cached lease is still held, and when not.

use super::*;
use crate::worker::lease_cache::LeaseFiles;
use leafid_core::Lease;
use leafid_core::run::cache_file::LeaseCache;
use leafid_core::run::cache_read::{CacheList, CacheRead, CacheSeeker};

const OWNER: u128 = 7 << 100;
const SERVER: &str = "http://127.0.0.1:9";
const PATH: &str = "/simulated/default/worker-7.lease";

struct Held {
    world: World,
    env: Env,
    cache: LeaseCache,
}

fn files(env: &Env) -> LeaseFiles<'_> {
    LeaseFiles { env, directory: Path::new("/simulated/default") }
}

fn cache_of(worker_id: u32, servers: &[String], owner: u128) -> std::result::Result<LeaseCache, String> {
    LeaseCache::new("default", worker_id, servers, owner)
}

fn seeker(env: &Env) -> CacheSeeker {
    CacheSeeker { name: "default".into(), servers: vec![SERVER.into()], boot: env.clock.boot_id() }
}

fn candidates(env: &Env) -> Vec<u32> {
    files(env).list(CacheList::new(seeker(env))).into_worker_ids()
}

fn store(env: &Env, cache: &mut LeaseCache, lease: &Lease, ends: Duration) {
    let write = cache.write(lease, ends, &env.clock.boot_id()).unwrap();
    cache.written(files(env).write(write)).unwrap();
}

fn lease(until_ms: i64) -> Lease {
    Lease {
        worker_id: 7,
        from_ms: START_MS - 10_000,
        until_ms: START_MS + until_ms,
        lease_ms: Some(30_000),
        token: Some("a token".into()),
        peer_times_ms: vec![1, 2],
    }
}

impl Held {
    /// A lease of 30 s that was requested just now, with a span of this length.
    fn until(until_ms: i64) -> Held {
        Held::on("ext4", FilesystemKind::Local, until_ms)
    }

    fn on(name: &str, kind: FilesystemKind, until_ms: i64) -> Held {
        let world = World::new();
        *lock(&world.0.file_system) = FileSystem { name: name.into(), kind };
        world.pass(100_000);
        world.set_clock(-100_000);
        let env = world.env();
        let mut cache = cache_of(7, &[SERVER.into()], OWNER).unwrap();
        let ends = env.clock.boot_time() + Duration::from_millis(30_000);
        store(&env, &mut cache, &lease(until_ms), ends);
        Held { world, env, cache }
    }

    fn invalidate(&self, cache: &LeaseCache) -> Result<()> {
        files(&self.env).drop_lease(cache.drop_lease()).into_result()
    }

    /// The lease that a process finds if it starts now.
    fn found_by(&self, owner: u128) -> Option<(Lease, Duration)> {
        let env = self.world.env();
        let found = files(&env).find(CacheRead::new(seeker(&env), 7, owner)).into_result().unwrap();
        if found.is_some() {
            assert_eq!(candidates(&env), [7], "as the hint says");
        }
        found
    }

    fn is_found(&self) -> bool {
        self.found_by(OWNER).is_some()
    }

    fn damage(&self, newest: bool) {
        let path = Path::new(PATH);
        let mut files = lock(&self.world.0.files);
        let file = files.get_mut(path).unwrap();
        let number =
            |slot: &[u8]| serde_json::from_slice::<serde_json::Value>(slot).unwrap()["number"].as_u64();
        let second_is_newest = number(&file[4096..]) > number(&file[..4096]);
        file[20 + if second_is_newest == newest { 4096 } else { 0 }] ^= 1;
    }
}

#[test]
fn it_ends_by_the_clock_that_counts_suspends_from_before_it_was_asked_for() {
    let held = Held::until(60_000);
    let (found, asked) = held.found_by(OWNER).unwrap();
    assert_eq!(found, Lease { peer_times_ms: Vec::new(), ..lease(60_000) });
    assert_eq!(asked, Duration::from_secs(100));
    held.world.pass(29_999);
    // Whatever the other clock reads, as long as it is before the end of the span.
    held.world.set_clock(-20_000);
    assert_eq!(held.found_by(OWNER).unwrap().1, asked, "no later for being found late");
    held.world.pass(1);
    assert!(!held.is_found());
    assert!(candidates(&held.world.env()).is_empty());
}

#[test]
fn it_ends_with_its_span() {
    let held = Held::until(10_000);
    held.world.pass(9_999);
    assert!(held.is_found());
    held.world.pass(1);
    assert!(!held.is_found());
}

#[test]
fn a_renewal_takes_the_place_of_what_was_remembered() {
    let mut held = Held::until(10_000);
    held.world.pass(5_000);
    let renewed = Lease { token: Some("another".into()), ..lease(40_000) };
    let ends = held.env.clock.boot_time() + Duration::from_millis(30_000);
    store(&held.env, &mut held.cache, &renewed, ends);
    held.world.pass(29_000);
    let (found, asked) = held.found_by(OWNER).unwrap();
    assert_eq!((found.token.as_deref(), found.until_ms), (Some("another"), START_MS + 40_000));
    assert_eq!(asked, Duration::from_secs(105));
}

#[test]
fn it_is_the_last_life_s_of_this_start_of_the_machine() {
    let held = Held::until(60_000);
    assert!(held.found_by(OWNER + 1).is_none());
    held.world.0.starts.fetch_add(1, SeqCst);
    assert!(!held.is_found());
    held.world.0.starts.fetch_sub(1, SeqCst);
    assert!(held.is_found());
}

#[test]
fn a_damaged_slot_may_have_said_that_it_was_given_back() {
    for newest in [true, false] {
        let held = Held::until(60_000);
        held.invalidate(&held.cache).unwrap();
        held.damage(newest);
        assert!(!held.is_found());
        let held = Held::until(60_000);
        held.damage(newest);
        assert!(!held.is_found());
        // Invalidating repairs it.
        held.invalidate(&held.cache).unwrap();
        assert!(!held.is_found());
        let text = String::from_utf8_lossy(&lock(&held.world.0.files)[Path::new(PATH)]).into_owned();
        assert!(!newest || !text.contains("a token"), "what was damaged stands there still");
    }
}

#[test]
fn what_was_written_otherwise_or_where_copies_cannot_be_told_is_left_alone() {
    let held = Held::until(60_000);
    for (ms, found) in [(4, false), (3, true), (-11, false), (-10, true)] {
        let path = PathBuf::from(PATH);
        let written_ms = *lock(&held.world.0.changed_ms).get(&path).unwrap();
        lock(&held.world.0.changed_ms).insert(path.clone(), written_ms + ms);
        assert_eq!(held.is_found(), found, "{ms}");
        lock(&held.world.0.changed_ms).insert(path, written_ms);
    }
    for (name, kind) in [("overlay", FilesystemKind::Ephemeral), ("nfs4", FilesystemKind::Network)] {
        *lock(&held.world.0.file_system) = FileSystem { name: name.into(), kind };
        assert!(!held.is_found(), "{name}");
        assert!(lock(&Held::on(name, kind, 60_000).world.0.files).is_empty(), "{name}");
    }
    *lock(&held.world.0.file_system) = FileSystem { name: "tmpfs".into(), kind: FilesystemKind::Ephemeral };
    assert!(held.is_found());
}

#[test]
fn a_disk_that_fails_does_not_forget_and_says_so() {
    let held = Held::until(60_000);
    held.world.fail(Some(io::ErrorKind::StorageFull));
    assert_eq!(held.invalidate(&held.cache).unwrap_err().code(), Code::StateIo);
    held.world.fail(None);
    held.invalidate(&held.cache).unwrap();
    assert!(!held.is_found());
    held.world.fail(Some(io::ErrorKind::StorageFull));
    held.invalidate(&held.cache).expect("nothing is left to forget");
}

/// A run must notice that a file which it wrote is gone. A file that it did not write belongs to nobody.
#[test]
fn a_missing_or_damaged_file_is_forgotten_by_a_life_that_wrote_none() {
    let held = Held::until(60_000);
    let fresh = cache_of(7, &[SERVER.into()], OWNER).unwrap();
    held.damage(true);
    held.damage(false);
    assert_eq!(held.invalidate(&held.cache).unwrap_err().code(), Code::StateCorrupt);
    held.invalidate(&fresh).unwrap();
    lock(&held.world.0.files).clear();
    assert_eq!(held.invalidate(&held.cache).unwrap_err().code(), Code::StateIo);
    held.invalidate(&fresh).unwrap();
}

#[test]
fn it_is_of_one_worker_id() {
    let held = Held::until(60_000);
    let moved = Path::new(PATH).with_file_name("worker-8.lease");
    let written_ms = lock(&held.world.0.changed_ms)[Path::new(PATH)];
    lock(&held.world.0.changed_ms).insert(moved.clone(), written_ms);
    let bytes = lock(&held.world.0.files)[Path::new(PATH)].clone();
    lock(&held.world.0.files).insert(moved, bytes);
    let env = held.world.env();
    let found = files(&env).find(CacheRead::new(seeker(&env), 8, OWNER)).into_result().unwrap();
    assert_eq!(found, None);
}

/// If a power cut removes the name of a file, it also removes everything that was issued or released by it.
#[test]
fn the_names_of_new_files_are_durable_once_they_are_written() {
    let held = Held::until(60_000);
    let _open = held.world.process().open(builder()).unwrap();
    for path in [PATH, "/simulated/default/worker-7.state"] {
        assert!(lock(&held.world.0.durable).contains_key(Path::new(path)), "{path:?}");
    }
}

#[test]
fn the_largest_fits_its_slot_and_larger_ones_are_not_remembered() {
    let cache = |servers: &[String]| LeaseCache::new(&"n".repeat(64), u32::MAX, servers, u128::MAX);
    let largest = Lease {
        from_ms: i64::MIN,
        until_ms: i64::MIN,
        lease_ms: Some(i64::MAX),
        token: Some("\"".repeat(1_024)),
        ..lease(0)
    };
    let url = |length: usize| format!("http://{}", "a".repeat(length - 7));
    let (env, mut longest) = (World::new().env(), cache(&vec![url(18); 64]).unwrap());
    store(&env, &mut longest, &largest, Duration::from_millis(i64::MAX as u64));
    assert!(cache(&[url(1_200)]).is_ok());
    assert!(cache(&[url(600), url(601)]).is_err());
}
