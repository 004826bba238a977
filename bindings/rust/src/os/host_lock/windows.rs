//! A named object of the kernel, which is gone with the last process that has it open.

use crate::os::env::HostLock;
use crate::os::windows::{registry_number, wide};
use leafid_core::options::deployment::Scope;
use leafid_core::{Code, Error, Result};
use std::io;
use std::os::windows::io::{FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr;
use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, GetLastError};
use windows_sys::Win32::Storage::FileSystem::SYNCHRONIZE;
use windows_sys::Win32::System::Threading::{CreateMutexW, OpenMutexW};

/// The object. No thread ever waits for the mutex: what counts is that it exists.
struct NamedMutex {
    _mutex: OwnedHandle,
}

impl HostLock for NamedMutex {}

/// Locks this worker id on this host, for all sessions and users; `None` if another process holds it. Errors:
/// `state_io`.
pub(crate) fn system_lock(name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>> {
    let path = wide(object_name(name, worker_id));
    // SAFETY: the name ends with a zero. The last error is of this call, because nothing comes between.
    let (mutex, error) = unsafe { (CreateMutexW(ptr::null(), 0, path.as_ptr()), GetLastError()) };
    if mutex.is_null() {
        // Another user has made it.
        if error == ERROR_ACCESS_DENIED {
            return Ok(None);
        }
        let error = io::Error::from_raw_os_error(error as i32);
        let message = format!("worker id {worker_id} cannot be locked on this host: {error}; try again");
        return Err(Error::new(Code::StateIo, message));
    }
    // SAFETY: a handle of this process's own, closed once.
    let mutex = unsafe { OwnedHandle::from_raw_handle(mutex) };
    Ok((error != ERROR_ALREADY_EXISTS).then(|| Box::new(NamedMutex { _mutex: mutex }) as Box<dyn HostLock>))
}

/// The processes that see such locks. A container has objects of its own.
pub(crate) fn scope() -> Scope {
    match registry_number(r"SYSTEM\CurrentControlSet\Control", "ContainerType") {
        Some(_) => Scope::Container,
        None => Scope::Host,
    }
}

/// The names under which this worker id is locked, of those that have a directory beside this one's: Windows lists no
/// objects.
pub(crate) fn names_of(worker_id: u32, sub_directories: Option<&Path>) -> Vec<String> {
    let entries = sub_directories.and_then(|directory| std::fs::read_dir(directory).ok());
    let names =
        entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| is_locked(name, worker_id)).collect()
}

fn is_locked(name: &str, worker_id: u32) -> bool {
    let path = wide(object_name(name, worker_id));
    // SAFETY: the name ends with a zero.
    let mutex = unsafe { OpenMutexW(SYNCHRONIZE, 0, path.as_ptr()) };
    if mutex.is_null() {
        // SAFETY: it only reads a number of this thread.
        return unsafe { GetLastError() } == ERROR_ACCESS_DENIED;
    }
    // SAFETY: a handle of this process's own, closed once.
    drop(unsafe { OwnedHandle::from_raw_handle(mutex) });
    true
}

fn object_name(name: &str, worker_id: u32) -> String {
    format!(r"Global\leafid-{name}-{worker_id}")
}

/// Windows does not tell who has an object open. The record names its holder.
pub(crate) fn system_holder(_name: &str, _worker_id: u32) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_until_it_is_dropped() {
        let name = format!("test-{}", std::process::id());
        let first = system_lock(&name, 7).unwrap().unwrap();
        assert!(system_lock(&name, 7).unwrap().is_none());
        assert!(system_lock(&name, 8).unwrap().is_some());
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join(&name)).unwrap();
        std::fs::create_dir(place.path().join("other")).unwrap();
        assert_eq!(names_of(7, Some(place.path())), [name.as_str()]);
        assert!(names_of(8, Some(place.path())).is_empty());
        drop(first);
        assert!(system_lock(&name, 7).unwrap().is_some());
    }
}
