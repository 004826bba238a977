//! The lease cache on file systems where a copy of a file cannot be told from it. What else binds a cached lease,
//! core/tests/cache_files.rs has.

use super::*;
use crate::worker::lease_cache::LeaseFiles;
use leafid_core::Lease;
use leafid_core::run::cache_file::LeaseCache;
use leafid_core::run::cache_read::{CacheRead, CacheSeeker};

const OWNER: u128 = 7 << 100;
const SERVER: &str = "http://127.0.0.1:9";

/// The caches of a process that starts now.
fn with_files<R>(world: &World, action: impl FnOnce(LeaseFiles<'_>, String) -> R) -> R {
    let env = world.env();
    action(LeaseFiles { env: &env, directory: Path::new("/simulated/default") }, env.clock.boot_id())
}

/// Caches a lease of 30 s that was requested just now.
fn write(world: &World) {
    let mut cache = LeaseCache::new("default", 7, &[SERVER.into()], OWNER).unwrap();
    let lease = Lease {
        worker_id: 7,
        until_ms: START_MS + 60_000,
        lease_ms: Some(30_000),
        token: Some("a token".into()),
        ..Lease::default()
    };
    with_files(world, |files, boot| {
        let write = cache.write(&lease, Duration::from_secs(30), &boot).unwrap();
        cache.written(files.write(write)).unwrap();
    });
}

fn is_found(world: &World) -> bool {
    with_files(world, |files, boot| {
        let seeker = CacheSeeker { name: "default".into(), servers: vec![SERVER.into()], boot };
        files.find(CacheRead::new(seeker, 7, OWNER)).into_result().unwrap().is_some()
    })
}

#[test]
fn where_copies_cannot_be_recognised_no_lease_is_cached_or_found() {
    for (name, kind, is_used) in [
        ("ext4", FilesystemKind::Local, true),
        ("tmpfs", FilesystemKind::Ephemeral, true),
        ("overlay", FilesystemKind::Ephemeral, false),
        ("nfs4", FilesystemKind::Network, false),
    ] {
        let world = World::new();
        write(&world);
        *lock(&world.machine.file_system) = FileSystem { name: name.into(), kind };
        assert_eq!(is_found(&world), is_used, "{name}");
        world.machine.forget_all();
        write(&world);
        assert_eq!(!world.files().is_empty(), is_used, "{name}");
    }
}
