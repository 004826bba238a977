//! Tests of locks on real files.

use super::*;
use leafid_core::Layout;
use leafid_core::call::FileAdvice;
use std::fs::File;

/// A lock of F_SETLK ends with the first of them, and this process never meets its own.
#[test]
fn a_lock_outlives_other_descriptors_of_its_file() {
    let (env, directory) = (Env::system(), tempfile::tempdir().unwrap());
    let files = RecordFiles { env: &env, directory: directory.path(), access: FileAccess::Own };
    let opens = |locks: &mut WorkerLocks| {
        let open = RecordOpen::new("default", 7, Layout::LEAF, FileAdvice::StateDir);
        locks.open(&files, open).into_result().unwrap().is_some()
    };
    let (mut held, mut other) = (WorkerLocks::default(), WorkerLocks::default());
    assert!(opens(&mut held));
    for _ in 0..2 {
        drop(File::open(files.path(7)).unwrap());
        assert!(!opens(&mut other));
    }
    held.close();
    assert!(opens(&mut other));
}
