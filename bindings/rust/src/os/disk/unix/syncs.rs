//! Tests that the real disk syncs, and returns an error where that fails. They use files of the kernel that can be
//! written but not synced, and directories of another user.

#![allow(clippy::unwrap_used)]

use super::*;
use std::os::fd::AsRawFd;

const NEW: NewFile<'_> = NewFile { bytes: &[b' '; FILE_BYTES], access: FileAccess::Private };
/// The kernel's error for a file without sync.
const HAS_NONE: Option<i32> = Some(libc::EINVAL);

#[test]
fn what_is_written_and_cannot_be_synced_is_an_error() {
    let null = || Ok(OwnedFd::from(File::options().read(true).write(true).open("/dev/null")?));
    let descriptor = ForkSafeFd::open(null).unwrap();
    let file = SystemFile { descriptor, path: "/dev/null".into(), directory: None, root: None };
    file.put(0, b"written").unwrap();
    assert_eq!(file.sync().unwrap_err().raw_os_error(), HAS_NONE);
    assert_eq!(file.write(0, b"written").unwrap_err().raw_os_error(), HAS_NONE);
}

#[test]
fn a_new_file_that_cannot_be_synced_is_an_error() {
    // The pipe takes as much as a file has, without a reader.
    let (_reader, writer) = io::pipe().unwrap();
    let error = complete(&mut File::from(OwnedFd::from(writer)), NEW).unwrap_err();
    assert_eq!(error.raw_os_error(), HAS_NONE);
}

/// Each directory above a new file is synced, up to the fourth, or there is an error: here one of them is a directory
/// of `/proc`, which cannot be synced.
#[test]
fn the_directories_above_a_new_file_are_synced() {
    for depth in 0..4 {
        let base = tempfile::tempdir().unwrap();
        let inner: PathBuf = ["a", "b", "c"].iter().take(depth).collect();
        fs::create_dir_all(base.path().join(&inner)).unwrap();
        let held = File::open(base.path()).unwrap();
        // Above it there is /proc/self/fd.
        let path = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd())).join(inner).join("file");
        let file = SystemDisk.open(&path, Some(NEW)).unwrap().unwrap();
        let named = file.sync_name();
        match depth {
            // leafid does not sync the fifth.
            3 => named.unwrap(),
            _ => assert_eq!(named.unwrap_err().raw_os_error(), HAS_NONE, "{depth} directories below"),
        }
    }
}

/// As for the user of a service that may search the directories above its own, but not read them.
#[test]
fn a_directory_that_may_be_searched_and_not_read_is_found_and_left_to_its_owner_to_sync() {
    // Where another user gets to, whatever TMPDIR is.
    let base = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(base.path(), fs::Permissions::from_mode(0o311)).unwrap();
    let path = base.path().join("file");
    assert!(directory_of(&path).is_some() && sync_directories(&base.path().join("none")).is_err());
    let ended_well = crate::os::child::in_child(|| {
        // SAFETY: root becomes nobody, whom modes bind; who is another user already stays that.
        let _ = unsafe { libc::setresuid(65_534, 65_534, 65_534) };
        let is_unreadable = File::open(base.path()).is_err();
        let found =
            directory_of(&path).and_then(|directory| rustix::io::fcntl_getfd(directory.fd().ok()?).ok());
        let is_kept = found.is_some_and(|flags| flags.contains(rustix::io::FdFlags::CLOEXEC));
        let synced = sync_directories(base.path()).is_ok();
        is_unreadable && is_kept && synced
    });
    let ended_well = ended_well();
    fs::set_permissions(base.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(ended_well);
}

#[test]
fn a_file_that_cannot_be_made_is_an_error() {
    let base = tempfile::tempdir().unwrap();
    assert!(create(&base.path().join("none/file"), NEW).is_err());
}
