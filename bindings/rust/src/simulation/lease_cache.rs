//! The lease cache on a disk: which file systems keep it, and what of it is durable.

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

impl Held {
    /// A lease of 30 s that was requested just now.
    fn new() -> Held {
        Held::on("ext4", FilesystemKind::Local)
    }

    fn on(name: &str, kind: FilesystemKind) -> Held {
        let world = World::new();
        *lock(&world.0.file_system) = FileSystem { name: name.into(), kind };
        let env = world.env();
        let mut cache = LeaseCache::new("default", 7, &[SERVER.into()], OWNER).unwrap();
        let lease = Lease {
            worker_id: 7,
            until_ms: START_MS + 60_000,
            lease_ms: Some(30_000),
            token: Some("a token".into()),
            ..Lease::default()
        };
        let write = cache.write(&lease, Duration::from_secs(30), &env.clock.boot_id()).unwrap();
        cache.written(files(&env).write(write)).unwrap();
        Held { world, env, cache }
    }

    fn drop_lease(&self) -> Result<()> {
        files(&self.env).drop_lease(self.cache.drop_lease()).into_result()
    }

    /// Whether a process finds it that starts now.
    fn is_found(&self) -> bool {
        let env = self.world.env();
        let seeker =
            CacheSeeker { name: "default".into(), servers: vec![SERVER.into()], boot: env.clock.boot_id() };
        let found = files(&env).find(CacheRead::new(seeker.clone(), 7, OWNER)).into_result().unwrap();
        assert!(found.is_none() || files(&env).list(CacheList::new(seeker)).into_worker_ids() == [7]);
        found.is_some()
    }
}

#[test]
fn what_was_written_otherwise_or_where_copies_cannot_be_recognised_is_left_alone() {
    let held = Held::new();
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
        assert!(lock(&Held::on(name, kind).world.0.files).is_empty(), "{name}");
    }
    *lock(&held.world.0.file_system) = FileSystem { name: "tmpfs".into(), kind: FilesystemKind::Ephemeral };
    assert!(held.is_found());
}

#[test]
fn a_disk_that_fails_does_not_forget_and_says_so() {
    let held = Held::new();
    held.world.fail(Some(io::ErrorKind::StorageFull));
    assert_eq!(held.drop_lease().unwrap_err().code(), Code::StateIo);
    held.world.fail(None);
    held.drop_lease().unwrap();
    assert!(!held.is_found());
    held.world.fail(Some(io::ErrorKind::StorageFull));
    held.drop_lease().expect("nothing is left to forget");
}

/// If a power cut removes the name of a file, it also removes everything that was issued or released by it.
#[test]
fn the_names_of_new_files_are_durable_once_they_are_written() {
    let held = Held::new();
    let _open = held.world.process().open(builder()).unwrap();
    for path in [PATH, "/simulated/default/worker-7.state"] {
        assert!(lock(&held.world.0.durable).contains_key(Path::new(path)), "{path:?}");
    }
}
