//! The files of Linux and macOS.

use super::read_bounded;
use crate::os::env::{Disk, FILE_BYTES, FileAccess, FileId, HostLock, LockedFile, NewFile};
use crate::os::filesystem_kind;
use crate::os::host_lock;
use crate::os::{self, ForkSafeFd};
use leafid_core::Result;
use leafid_core::options::deployment::{FileSystem, Scope};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(super) struct SystemDisk;

impl Disk for SystemDisk {
    fn directory(&self, path: &Path, access: FileAccess) -> io::Result<(FileId, FileSystem)> {
        make_directory(path, access)?;
        let metadata = fs::metadata(path)?;
        Ok(((metadata.dev(), metadata.ino()), filesystem_kind::of(path)?))
    }

    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        // Not File::open: on a pipe it would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        match rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from) {
            Ok(file) => read_bounded(&mut File::from(file)).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn open(&self, path: &Path, new: Option<NewFile<'_>>) -> io::Result<Option<Box<dyn LockedFile>>> {
        let open = || {
            let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
            Ok::<OwnedFd, io::Error>(rustix::fs::open(path, flags, Mode::empty())?)
        };
        let descriptor = match (ForkSafeFd::open(open), new) {
            (Err(error), Some(new)) if error.kind() == io::ErrorKind::NotFound => {
                create(path, new)?;
                ForkSafeFd::open(open)?
            }
            (opened, _) => opened?,
        };
        match lock(descriptor.fd()?) {
            Ok(()) if locks(open()?)? => {
                tell_of_others(&descriptor, path);
                let (directory, root) = (directory_of(path), root());
                Ok(Some(Box::new(SystemFile { descriptor, path: path.to_owned(), directory, root })))
            }
            Ok(()) => Err(super::locks_nothing()),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn machine_id(&self) -> Option<String> {
        machine_id()
    }

    fn lock_worker(&self, name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>> {
        host_lock::lock_worker(name, worker_id)
    }

    fn scope(&self) -> Scope {
        host_lock::scope()
    }

    fn foreign_holder(&self, name: &str, worker_id: u32, record: &Path) -> Option<u32> {
        host_lock::foreign_holder(name, worker_id, record)
    }

    fn names_of(&self, worker_id: u32, sub_directories: Option<&Path>) -> Vec<String> {
        host_lock::names_of(worker_id, sub_directories)
    }

    fn holder(&self, name: &str, worker_id: u32) -> Option<String> {
        host_lock::holder(name, worker_id)
    }
}

/// machine-id(5)
#[cfg(target_os = "linux")]
fn machine_id() -> Option<String> {
    parse_machine_id(&fs::read_to_string("/etc/machine-id").ok()?)
}

/// The id of the hardware. gethostuuid(2)
#[cfg(target_os = "macos")]
fn machine_id() -> Option<String> {
    let mut id = [0_u8; 16];
    let wait = libc::timespec { tv_sec: 1, tv_nsec: 0 };
    // SAFETY: it writes 16 bytes.
    let done = unsafe { libc::gethostuuid(id.as_mut_ptr(), &raw const wait) };
    (done == 0).then(|| format!("{:032x}", u128::from_be_bytes(id)))
}

/// `None` if the file is empty, or says that the id is not set yet.
#[cfg(target_os = "linux")]
fn parse_machine_id(text: &str) -> Option<String> {
    let id = text.trim();
    (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| id.to_owned())
}

/// Locks without a wait. A signal to the caller's thread may interrupt a lock that a server keeps: then it tries again.
fn lock(file: BorrowedFd<'_>) -> rustix::io::Result<()> {
    rustix::io::retry_on_intr(|| rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive))
}

#[cfg(target_os = "linux")]
fn sync_data(file: BorrowedFd<'_>) -> rustix::io::Result<()> {
    rustix::fs::fdatasync(file)
}

/// fsync of macOS leaves the bytes in the disk's cache. fcntl(2)
#[cfg(target_os = "macos")]
fn sync_data(file: BorrowedFd<'_>) -> rustix::io::Result<()> {
    rustix::fs::fcntl_fullfsync(file)
}

/// Creates a directory and its missing parents.
fn make_directory(path: &Path, access: FileAccess) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let make = || fs::DirBuilder::new().mode(0o750).create(path);
    let made = match (make(), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            make_directory(parent, access)?;
            make()
        }
        (made, _) => made,
    };
    match made {
        // Files in it get its group, whatever the group of the process that creates them.
        Ok(()) if access == FileAccess::Group => {
            fs::set_permissions(path, fs::Permissions::from_mode(0o2770))
        }
        Ok(()) => Ok(()),
        // Another process created it first.
        Err(_) if path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Logs once that any user of the host may hold the lock of this file, which was opened up.
fn tell_of_others(file: &ForkSafeFd, path: &Path) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let mode = file.fd().ok().and_then(|fd| rustix::fs::fstat(fd).ok()).map_or(0, |stat| stat.st_mode);
    let may_be_reached =
        |directory: &Path| fs::metadata(directory).is_ok_and(|found| found.mode() & 0o001 != 0);
    if mode & 0o004 != 0 && path.parent().is_some_and(may_be_reached) && !TOLD.swap(true, Relaxed) {
        log::info!(
            "leafid: any user of this host may read {}, and so hold its lock and block others: chmod o-rwx it and \
             the files beside it",
            path.display()
        );
    }
}

/// The root directory, which chroot changes: device and inode.
pub(crate) fn root() -> Option<FileId> {
    fs::metadata("/").ok().map(|root| (root.dev(), root.ino()))
}

/// An error if this process may not create files in a directory.
pub(crate) fn may_write(directory: &Path) -> io::Result<()> {
    use rustix::fs::Access;
    Ok(rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Whether another process holds the lock of a file. The shared lock does not exclude other readers, and closing the
/// descriptor releases it. A claim that meets this lock tries again.
#[cfg(feature = "cli")]
pub(crate) fn is_locked(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty());
    file.and_then(|file| rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared))
        == Err(Errno::WOULDBLOCK)
}

/// Opens the directory of a file. It stays the same after a chroot. Its names stay readable even if the process may no
/// longer search it.
fn directory_of(path: &Path) -> Option<ForkSafeFd> {
    let directory = path.parent()?;
    let open = |access: OFlags| {
        move || Ok(rustix::fs::open(directory, access | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    };
    let opened = ForkSafeFd::open(open(OFlags::RDONLY));
    #[cfg(target_os = "linux")]
    let opened = opened.or_else(|_| ForkSafeFd::open(open(OFlags::PATH)));
    opened.ok()
}

/// Whether a second descriptor of a locked file is refused the lock.
fn locks(second: OwnedFd) -> io::Result<bool> {
    match lock(second.as_fd()) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Publishes a complete file at a path where there is none. Its bytes are durable, its name is not yet. If another
/// process published a file first, that one stays.
fn create(path: &Path, new: NewFile<'_>) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    #[cfg(target_os = "linux")]
    let created = create_unnamed(directory, path, new).or_else(|_| create_named(directory, path, new));
    #[cfg(not(target_os = "linux"))]
    let created = create_named(directory, path, new);
    match created {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Creates the file without a name until it is complete: a kill in between leaves nothing behind.
#[cfg(target_os = "linux")]
fn create_unnamed(directory: &Path, path: &Path, new: NewFile<'_>) -> io::Result<()> {
    use rustix::fs::CWD;
    use std::os::fd::AsRawFd;
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
    let mut fresh = File::from(rustix::fs::open(directory, flags, Mode::from_raw_mode(born(new.access)))?);
    complete(&mut fresh, new)?;
    let unnamed = format!("/proc/self/fd/{}", fresh.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Creates the file with a temporary name, for file systems without unnamed files.
fn create_named(directory: &Path, path: &Path, new: NewFile<'_>) -> io::Result<()> {
    let permissions = fs::Permissions::from_mode(born(new.access));
    let mut fresh =
        tempfile::Builder::new().prefix(".new-").permissions(permissions).tempfile_in(directory)?;
    complete(fresh.as_file_mut(), new)?;
    fresh.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// The mode of a new file before the umask. A file with a secret is never open to others, not even for a moment.
fn born(access: FileAccess) -> u32 {
    match access {
        FileAccess::Own => 0o640,
        FileAccess::Private | FileAccess::Group => 0o600,
    }
}

fn complete(file: &mut File, new: NewFile<'_>) -> io::Result<()> {
    file.write_all(new.bytes)?;
    // Whatever the umask removed, the owner can use a secret, and the group what it shares.
    let mode = match new.access {
        FileAccess::Own => return file.sync_all(),
        FileAccess::Group => Mode::from_raw_mode(0o660),
        FileAccess::Private => Mode::from_raw_mode(0o600),
    };
    rustix::fs::fchmod(&*file, mode)?;
    file.sync_all()
}

/// Makes the names in a directory, and in the directories above it, survive a power cut. Those may be new too.
fn sync_directories(directory: &Path) -> io::Result<()> {
    for directory in directory.ancestors().take(4) {
        match File::open(directory).and_then(|directory| directory.sync_all()) {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The types of both differ between systems.
#[allow(clippy::unnecessary_cast)]
fn file_id(stat: &rustix::fs::Stat) -> FileId {
    (stat.st_dev as u64, stat.st_ino as u64)
}

struct SystemFile {
    descriptor: ForkSafeFd,
    path: PathBuf,
    /// `None` if it cannot be opened.
    directory: Option<ForkSafeFd>,
    /// The root directory of this process when the file was opened.
    root: Option<FileId>,
}

impl SystemFile {
    /// Whether the file is still in its directory. Used where this process can no longer follow the path. `why` is the
    /// error that is returned if this is unknown too.
    fn is_in_directory(&self, why: io::Error) -> io::Result<bool> {
        let (Some(directory), Some(name)) = (&self.directory, self.path.file_name()) else { return Err(why) };
        match rustix::fs::statat(directory.fd()?, name, AtFlags::empty()) {
            Ok(there) => Ok(self.id()? == file_id(&there)),
            Err(Errno::NOENT) => Ok(false),
            Err(Errno::ACCESS | Errno::PERM) => self.is_listed(directory, name, why),
            Err(error) => Err(error.into()),
        }
    }

    /// Searches the names in the directory, which was readable when the file was opened.
    #[cfg(target_os = "linux")]
    fn is_listed(&self, directory: &ForkSafeFd, name: &OsStr, why: io::Error) -> io::Result<bool> {
        use rustix::fs::{RawDir, SeekFrom};
        use std::os::unix::ffi::OsStrExt;
        let fd = directory.fd()?;
        if rustix::fs::seek(fd, SeekFrom::Start(0)).is_err() {
            return Err(why);
        }
        let mut buffer = [std::mem::MaybeUninit::uninit(); 8_192];
        let mut entries = RawDir::new(fd, &mut buffer);
        while let Some(entry) = entries.next() {
            let Ok(entry) = entry else { return Err(why) };
            if entry.file_name().to_bytes() == name.as_bytes() {
                // Another inode number may belong to another file, or to a lower layer of the file system.
                return if entry.ino() == self.id()?.1 { Ok(true) } else { Err(why) };
            }
        }
        Ok(false)
    }

    /// macOS lists no directory that may not be searched.
    #[cfg(not(target_os = "linux"))]
    fn is_listed(&self, _: &ForkSafeFd, _: &OsStr, why: io::Error) -> io::Result<bool> {
        Err(why)
    }
}

impl LockedFile for SystemFile {
    fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; FILE_BYTES + 1];
        let mut filled = 0;
        while filled < bytes.len() {
            match rustix::io::pread(self.descriptor.fd()?, &mut bytes[filled..], filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn put(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            // No fork may come between the check and the write: a late write of a child would undo its parent's.
            let wrote = os::without_signals(|| {
                let fd = self.descriptor.fd()?;
                Ok::<_, io::Error>(rustix::io::pwrite(fd, &bytes[written..], (offset + written) as u64))
            });
            match wrote? {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(more) => written += more,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        loop {
            match sync_data(self.descriptor.fd()?) {
                Err(Errno::INTR) => {}
                done => return Ok(done?),
            }
        }
    }

    fn sync_name(&self) -> io::Result<()> {
        sync_directories(self.path.parent().unwrap_or(Path::new(".")))
    }

    fn is_in_place(&self) -> io::Result<bool> {
        match fs::metadata(&self.path) {
            Ok(there) if self.id()? == (there.dev(), there.ino()) => Ok(true),
            // After a chroot the path names another file.
            Ok(_) if self.root != root() => self.is_in_directory(io::ErrorKind::NotFound.into()),
            Err(error) if self.root != root() || error.kind() == io::ErrorKind::PermissionDenied => {
                self.is_in_directory(error)
            }
            Ok(_) => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn id(&self) -> io::Result<FileId> {
        Ok(file_id(&rustix::fs::fstat(self.descriptor.fd()?)?))
    }

    fn changed_ms(&self) -> io::Result<i64> {
        let held = rustix::fs::fstat(self.descriptor.fd()?)?;
        Ok(held.st_ctime as i64 * 1_000 + held.st_ctime_nsec as i64 / 1_000_000)
    }

    fn others_bits(&self) -> io::Result<u32> {
        Ok(rustix::fs::fstat(self.descriptor.fd()?)?.st_mode as u32 & 0o077)
    }

    fn unlock(&self) {
        if let Some(fd) = self.descriptor.still_open() {
            let _ = rustix::fs::flock(fd, FlockOperation::Unlock);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod syncs;

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rustix::fs::CWD;

    /// The mode of a new file, in a child process, because the umask belongs to the whole process.
    fn mode_at_birth(umask: libc::mode_t, make: impl FnOnce(&Path) -> io::Result<()>) -> u32 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        // SAFETY: the child runs this test's own code and ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: sets the child's own umask.
            unsafe { libc::umask(umask) };
            let mode = make(&path).and_then(|()| fs::metadata(&path)).map_or(0, |made| made.mode() & 0o777);
            // A status has eight bits. The bits of the owner are always the same.
            let status = if mode & 0o700 == 0o600 { mode & 0o077 } else { 0o100 };
            // SAFETY: ends the child.
            unsafe { libc::_exit(status as i32) };
        }
        let mut status = -1;
        // SAFETY: waits for the child made above.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status));
        libc::WEXITSTATUS(status) as u32
    }

    #[test]
    fn a_file_with_a_secret_is_private_from_its_first_moment() {
        let new = NewFile { bytes: &[b' '; FILE_BYTES], access: FileAccess::Private };
        for umask in [0, 0o022, 0o777] {
            let others = mode_at_birth(umask, |path| SystemDisk.open(path, Some(new)).map(drop));
            assert_eq!(others, 0, "with the umask {umask:03o}");
            let others = mode_at_birth(umask, |path| create_named(path.parent().unwrap(), path, new));
            assert_eq!(others, 0, "with the umask {umask:03o}, where no file is without a name");
        }
    }

    #[test]
    fn which_machine_it_is() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(parse_machine_id(&format!("{id}\n")).as_deref(), Some(id));
        for none in ["", "\n", "uninitialized\n", &id[1..], &id.replace('f', "x")] {
            assert_eq!(parse_machine_id(none), None, "{none}");
        }
        assert!(SystemDisk.machine_id().is_none_or(|id| id.len() == 32));
    }

    #[test]
    fn a_look_does_not_wait_and_tells_missing_from_out_of_reach() {
        let base = tempfile::tempdir().unwrap();
        let (pipe, file) = (base.path().join("pipe"), base.path().join("file"));
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert_eq!(SystemDisk.peek(&pipe).unwrap(), Some(Vec::new()));
        assert_eq!(SystemDisk.peek(&file).unwrap(), None);
        fs::write(&file, "a file").unwrap();
        assert!(SystemDisk.peek(&file.join("below")).is_err());
    }

    #[test]
    fn directories_are_made_once_and_a_group_s_are_its_own() {
        let base = tempfile::tempdir().unwrap();
        let bits = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        let (own, group) = (base.path().join("own"), base.path().join("group"));
        make_directory(&own, FileAccess::Own).unwrap();
        assert_eq!(bits(&own) & 0o2007, 0);
        make_directory(&group, FileAccess::Group).unwrap();
        assert_eq!(bits(&group), 0o2770);
        // Another process created it between the check and the creation: here the path itself does.
        make_directory(&base.path().join("new/../new"), FileAccess::Own).unwrap();
        fs::write(base.path().join("file"), "a file").unwrap();
        assert!(make_directory(&base.path().join("file"), FileAccess::Own).is_err());
    }

    const NEW: NewFile<'_> = NewFile { bytes: &[b'1'; FILE_BYTES], access: FileAccess::Own };

    #[test]
    fn a_locked_file_is_in_place_until_another_stands_there_or_none() {
        let base = tempfile::tempdir().unwrap();
        let (path, moved) = (base.path().join("file"), base.path().join("moved"));
        let file = SystemDisk.open(&path, Some(NEW)).unwrap().unwrap();
        assert!(file.is_in_place().unwrap());
        fs::rename(&path, &moved).unwrap();
        assert!(!file.is_in_place().unwrap(), "none");
        fs::write(&path, "another").unwrap();
        assert!(!file.is_in_place().unwrap(), "another");
        fs::rename(&moved, &path).unwrap();
        assert!(file.is_in_place().unwrap(), "back again");
        fs::remove_file(&path).unwrap();
        assert!(!file.is_in_place().unwrap(), "removed");
        let (directory, below) = (base.path().join("directory"), base.path().join("directory/file"));
        fs::create_dir(&directory).unwrap();
        let file = SystemDisk.open(&below, Some(NEW)).unwrap().unwrap();
        fs::rename(&directory, base.path().join("elsewhere")).unwrap();
        fs::write(&directory, "no directory").unwrap();
        assert!(file.is_in_place().is_err());
    }

    #[test]
    fn after_a_chroot_a_file_is_looked_for_in_the_directory_it_was_opened_in() {
        let base = tempfile::tempdir().unwrap();
        let (directory, elsewhere) = (base.path().join("directory"), base.path().join("elsewhere"));
        let path = directory.join("file");
        fs::create_dir(&directory).unwrap();
        create(&path, NEW).unwrap();
        // As it was before the process changed its root directory.
        let file = |root| SystemFile {
            descriptor: ForkSafeFd::open(|| Ok(fs::File::open(&path)?.into())).unwrap(),
            path: path.clone(),
            directory: directory_of(&path),
            root,
        };
        let (before, same) = (file(Some((0, 0))), file(root()));
        fs::rename(&directory, &elsewhere).unwrap();
        assert!(before.is_in_place().unwrap() && !same.is_in_place().unwrap(), "nothing is at the path");
        fs::create_dir(&directory).unwrap();
        fs::write(&path, "another").unwrap();
        assert!(before.is_in_place().unwrap() && !same.is_in_place().unwrap(), "another is at the path");
        // By its name alone, where a directory may be read but not searched.
        let listed = |file: &SystemFile, name: &str| {
            let directory = file.directory.as_ref().unwrap();
            file.is_listed(directory, OsStr::new(name), io::ErrorKind::PermissionDenied.into())
        };
        fs::write(elsewhere.join("other"), "").unwrap();
        assert!(listed(&before, "file").unwrap() && !listed(&before, "none").unwrap());
        assert!(listed(&before, "other").is_err(), "a number that is another's may be a layer's");
        fs::remove_file(elsewhere.join("file")).unwrap();
        assert!(!before.is_in_place().unwrap(), "removed");
    }

    #[test]
    fn a_lock_is_one_descriptor_s_and_whoever_makes_a_file_first_has_made_it() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("file");
        let file = SystemDisk.open(&path, Some(NEW)).unwrap().unwrap();
        create(&path, NewFile { bytes: &[b'2'; FILE_BYTES], ..NEW }).unwrap();
        assert_eq!(fs::read(&path).unwrap(), NEW.bytes);
        let second = || OwnedFd::from(fs::File::open(&path).unwrap());
        assert!(locks(second()).unwrap());
        file.unlock();
        assert!(!locks(second()).unwrap());
        assert_eq!(mode_at_birth(0, |path| create(path, NEW)), 0o040);
    }
}
