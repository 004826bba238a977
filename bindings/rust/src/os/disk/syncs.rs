//! That the real disk syncs, and says so where that fails: by files of the kernel's that can be written and not be synced.

#![allow(clippy::unwrap_used)]

use super::*;

const NEW: NewFile<'_> = NewFile { bytes: &[b' '; FILE_BYTES], access: Access::Private };
/// What the kernel answers for a file that has no sync.
const HAS_NONE: Option<i32> = Some(libc::EINVAL);

#[test]
fn what_is_written_and_cannot_be_synced_is_an_error() {
    let null = || Ok(OwnedFd::from(File::options().read(true).write(true).open("/dev/null")?));
    let descriptor = Descriptor::open(null).unwrap();
    let file = SystemFile { descriptor, path: "/dev/null".into(), directory: None, root: None };
    file.put(0, b"written").unwrap();
    assert_eq!(file.sync().unwrap_err().raw_os_error(), HAS_NONE);
    assert_eq!(file.write(0, b"written").unwrap_err().raw_os_error(), HAS_NONE);
}

#[test]
fn a_new_file_that_cannot_be_synced_is_an_error() {
    // It takes as much as a file has, with nobody who reads.
    let (_reader, writer) = io::pipe().unwrap();
    let error = complete(&mut File::from(OwnedFd::from(writer)), NEW).unwrap_err();
    assert_eq!(error.raw_os_error(), HAS_NONE);
}

/// Each directory above a new file is synced, up to the fourth, or that is an error: where one of them is a directory of
/// `/proc`, which cannot be synced.
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
            // The fifth is none of leafid's.
            3 => named.unwrap(),
            _ => assert_eq!(named.unwrap_err().raw_os_error(), HAS_NONE, "{depth} directories below"),
        }
    }
}
