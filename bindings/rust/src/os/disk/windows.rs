//! The files of Windows.

use super::read_bounded;
use crate::os::env::{Disk, FILE_BYTES, FileAccess, FileId, HostLock, LockedFile, NewFile};
use crate::os::filesystem_kind;
use crate::os::host_lock;
use crate::os::windows::{registry_text, wide};
use leafid_core::Result;
use leafid_core::options::deployment::{FileSystem, Scope};
use std::ffi::{OsString, c_void};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::ptr;
use windows_sys::Win32::Foundation::{ERROR_LOCK_VIOLATION, GENERIC_WRITE, INVALID_HANDLE_VALUE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{PSECURITY_DESCRIPTOR, SECURITY_ATTRIBUTES};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, CREATE_NEW, CreateFileW, FILE_ATTRIBUTE_NORMAL, FILE_BASIC_INFO,
    FILE_FLAG_BACKUP_SEMANTICS, FileBasicInfo, GetFileInformationByHandle, GetFileInformationByHandleEx,
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

/// The owner, the system and administrators, and nothing from the directory.
const PRIVATE: &str = "D:P(A;;FA;;;OW)(A;;FA;;;SY)(A;;FA;;;BA)";
/// The locked byte. It is far behind the end, because Windows also keeps others from reading a locked byte.
const LOCKED_BYTE_HIGH: u32 = 0x4000_0000;

pub(super) struct SystemDisk;

impl Disk for SystemDisk {
    /// Who may open files is what the directory above says, also for those of a group.
    fn directory(&self, path: &Path, _: FileAccess) -> io::Result<(FileId, FileSystem)> {
        fs::create_dir_all(path)?;
        Ok((id_at(path)?, filesystem_kind::of(path)?))
    }

    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match File::open(path) {
            Ok(mut file) => read_bounded(&mut file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn open(&self, path: &Path, new: Option<NewFile<'_>>) -> io::Result<Option<Box<dyn LockedFile>>> {
        let open = || OpenOptions::new().read(true).write(true).open(path);
        let file = match (open(), new) {
            (Err(error), Some(new)) if error.kind() == io::ErrorKind::NotFound => {
                create(path, new)?;
                open()?
            }
            (opened, _) => opened?,
        };
        if !lock(&file)? {
            return Ok(None);
        }
        let file = SystemFile { file, path: path.to_owned() };
        // A second handle of a locked file is refused, if locks work.
        match lock(&open()?)? {
            false => Ok(Some(Box::new(file))),
            true => Err(super::locks_nothing()),
        }
    }

    /// The id that Windows makes at its installation.
    fn machine_id(&self) -> Option<String> {
        registry_text(r"SOFTWARE\Microsoft\Cryptography", "MachineGuid").filter(|id| !id.is_empty())
    }

    fn lock_worker(&self, name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>> {
        host_lock::lock_worker(name, worker_id)
    }

    fn scope(&self) -> Scope {
        host_lock::scope()
    }

    fn names_of(&self, worker_id: u32, sub_directories: Option<&Path>) -> Vec<String> {
        host_lock::names_of(worker_id, sub_directories)
    }

    fn holder(&self, name: &str, worker_id: u32) -> Option<String> {
        host_lock::holder(name, worker_id)
    }
}

/// Windows has no chroot.
pub(crate) fn root() -> Option<FileId> {
    None
}

/// An error if this process may not create files in a directory.
pub(crate) fn may_write(directory: &Path) -> io::Result<()> {
    tempfile::tempfile_in(directory).map(drop)
}

/// Whether another process holds the lock of a file. A claim that meets the lock taken here tries again.
#[cfg(feature = "cli")]
pub(crate) fn is_locked(path: &Path) -> bool {
    // The handle is closed at once, and the lock with it.
    OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .and_then(|file| lock(&file))
        .is_ok_and(|locked| !locked)
}

fn overlapped() -> OVERLAPPED {
    let mut at = OVERLAPPED::default();
    at.Anonymous.Anonymous.OffsetHigh = LOCKED_BYTE_HIGH;
    at
}

/// Locks without a wait. False if another handle has the lock.
fn lock(file: &File) -> io::Result<bool> {
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open, and the structure lives until the call has ended, because the handle is synchronous.
    match unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &mut overlapped()) } {
        0 => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(ERROR_LOCK_VIOLATION as i32) => Ok(false),
            error => Err(error),
        },
        _ => Ok(true),
    }
}

/// Volume and number of a file.
fn id_of(file: &File) -> io::Result<FileId> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure is written.
    match unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut found) } {
        0 => Err(io::Error::last_os_error()),
        _ => {
            let number = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
            Ok((found.dwVolumeSerialNumber.into(), number))
        }
    }
}

/// Of a file or a directory, which is opened for its attributes alone.
fn id_at(path: &Path) -> io::Result<FileId> {
    id_of(&OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)?)
}

/// Publishes a complete, durable file at a path where there is none. If another process published a file first, that
/// one stays.
fn create(path: &Path, new: NewFile<'_>) -> io::Result<()> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)?;
    let unfinished = path.with_file_name(format!(".new-{:016x}", u64::from_ne_bytes(random)));
    let mut file = match new.access {
        FileAccess::Private => create_private(&unfinished)?,
        FileAccess::Own | FileAccess::Group => File::create_new(&unfinished)?,
    };
    let unfinished = tempfile::TempPath::try_from_path(unfinished)?;
    file.write_all(new.bytes)?;
    file.sync_all()?;
    drop(file);
    match unfinished.persist_noclobber(path) {
        Err(refused) if refused.error.kind() != io::ErrorKind::AlreadyExists => Err(refused.error),
        _ => Ok(()),
    }
}

/// Creates a file that only its owner can open, from its first moment on.
fn create_private(path: &Path) -> io::Result<File> {
    let (path, rule) = (wide(path), wide(PRIVATE));
    let mut descriptor: PSECURITY_DESCRIPTOR = ptr::null_mut();
    // SAFETY: the rule ends with a zero; the descriptor is written, and its size is not asked for.
    let parsed = unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            rule.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            ptr::null_mut(),
        )
    };
    if parsed == 0 {
        return Err(io::Error::last_os_error());
    }
    let attributes = SECURITY_ATTRIBUTES {
        nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
        lpSecurityDescriptor: descriptor,
        bInheritHandle: 0,
    };
    // SAFETY: the path ends with a zero, and the attributes live until the call has ended.
    let handle = unsafe {
        CreateFileW(
            path.as_ptr(),
            GENERIC_WRITE,
            0,
            &raw const attributes,
            CREATE_NEW,
            FILE_ATTRIBUTE_NORMAL,
            ptr::null_mut(),
        )
    };
    let error = io::Error::last_os_error();
    // SAFETY: made by the call above, and used no more.
    unsafe { LocalFree(descriptor) };
    if handle == INVALID_HANDLE_VALUE {
        return Err(error);
    }
    // SAFETY: a handle of this process's own, closed once.
    Ok(File::from(unsafe { OwnedHandle::from_raw_handle(handle) }))
}

struct SystemFile {
    file: File,
    path: PathBuf,
}

impl LockedFile for SystemFile {
    fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; FILE_BYTES + 1];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.seek_read(&mut bytes[filled..], filled as u64)? {
                0 => break,
                read => filled += read,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn put(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            match self.file.seek_write(&bytes[written..], (offset + written) as u64)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                more => written += more,
            }
        }
        Ok(())
    }

    /// FlushFileBuffers, which also has the disk write its cache.
    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Windows syncs no directory. The journal of NTFS holds the name once the file itself was synced.
    fn sync_name(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn is_in_place(&self) -> io::Result<bool> {
        match id_at(&self.path) {
            Ok(there) => Ok(there == id_of(&self.file)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn id(&self) -> io::Result<FileId> {
        id_of(&self.file)
    }

    /// A program can set this time on Windows, but none does.
    fn changed_ms(&self) -> io::Result<i64> {
        let mut found = FILE_BASIC_INFO::default();
        let (into, size) = ((&raw mut found).cast::<c_void>(), size_of::<FILE_BASIC_INFO>() as u32);
        // SAFETY: the handle is open, and at most `size` bytes are written.
        match unsafe { GetFileInformationByHandleEx(self.file.as_raw_handle(), FileBasicInfo, into, size) } {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(crate::os::windows::unix_ms(found.ChangeTime)),
        }
    }

    fn unlock(&self) {
        // SAFETY: as for the lock.
        unsafe { UnlockFileEx(self.file.as_raw_handle(), 0, 1, 0, &mut overlapped()) };
    }
}

impl Drop for SystemFile {
    fn drop(&mut self) {
        // Windows may take its time to unlock a handle that is closed.
        self.unlock();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
        fs::remove_file(&path).unwrap();
        fs::rename(&moved, &path).unwrap();
        assert!(file.is_in_place().unwrap(), "back again");
    }

    #[test]
    fn a_locked_file_can_be_read_and_is_locked_once() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("file");
        let file = SystemDisk.open(&path, Some(NEW)).unwrap().unwrap();
        assert!(SystemDisk.open(&path, None).unwrap().is_none());
        assert_eq!(SystemDisk.peek(&path).unwrap().unwrap(), NEW.bytes);
        file.write(FILE_BYTES / 2, b"2").unwrap();
        assert_eq!(fs::read(&path).unwrap()[FILE_BYTES / 2], b'2');
        drop(file);
        assert!(SystemDisk.open(&path, None).unwrap().is_some());
    }

    #[test]
    fn whoever_makes_a_file_first_has_made_it_and_nothing_else_is_left() {
        let base = tempfile::tempdir().unwrap();
        for access in [FileAccess::Own, FileAccess::Private] {
            let path = base.path().join(format!("{access:?}"));
            create(&path, NewFile { access, ..NEW }).unwrap();
            create(&path, NewFile { bytes: &[b'2'; FILE_BYTES], access }).unwrap();
            assert_eq!(fs::read(&path).unwrap(), NEW.bytes);
        }
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 2);
        assert!(create(&base.path().join("none/file"), NEW).is_err());
    }
}
