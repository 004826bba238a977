//! The files that cache leases, for a start while no lease server can be reached.

use crate::argument::whole;
use crate::module::{Module, Result, call, utf8, write_bytes};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use leafid_core::format::cached_lease::{CachedLease, LeaseBinding, LeaseFile, LeaseSeeker};
use leafid_core::format::shared::{self, Found};
use leafid_core::{Code, Error, HeldLease, Record};

/// A part of the input: a URL in each line.
fn urls(text: &str) -> Vec<String> {
    text.lines().map(ToOwned::to_owned).collect()
}

/// The file without a lease.
fn empty(name: &str, worker_id: u32, servers: &str) -> Result<LeaseFile> {
    LeaseFile::empty(name, worker_id, &urls(servers)).map_err(|why| Error::new(Code::StateIo, why).into())
}

/// The bytes of a slot.
#[inline(never)]
fn sealed(number: u64, file: &LeaseFile) -> Result<Vec<u8>> {
    Ok(shared::seal(number, file)?.to_vec())
}

/// The bytes of a new file without a lease, as output. The input is the id space's name, and the servers' URLs in lines.
#[unsafe(no_mangle)]
extern "C" fn lease_file_new(name_length: i32, servers_length: i32, worker_id: f64) -> i32 {
    call(|module| {
        let [name, servers] = module.texts([name_length, servers_length])?;
        let file = empty(name, whole("worker_id", worker_id)? as u32, servers)?;
        let mut bytes = sealed(0, &file)?;
        bytes.extend_from_slice(&sealed(1, &file)?);
        write_bytes(&bytes);
        Ok(0)
    })
}

/// The input of the calls below.
struct Input<'a> {
    name: &'a str,
    servers: &'a str,
    /// The start of the machine.
    boot: &'a str,
    found: Found<LeaseFile>,
    /// The number of the newest slot, and the slot to write next.
    number: u64,
    spare: usize,
}

/// The lengths are those of the input's parts: the id space, the URLs, the start of the machine, path and bytes.
#[inline(never)]
fn read(module: &Module, lengths: [i32; 5]) -> Result<Input<'_>> {
    let [name, servers, boot, path, bytes] = module.input(lengths)?;
    let (found, number, spare) = shared::read(utf8(path)?, bytes)?;
    Ok(Input { name: utf8(name)?, servers: utf8(servers)?, boot: utf8(boot)?, found, number, spare })
}

/// The end of the lease in a file that was read without the lock of the record, if it seems usable; else -1.
#[unsafe(no_mangle)]
extern "C" fn lease_file_hint(
    name: i32,
    servers: i32,
    boot: i32,
    path: i32,
    bytes: i32,
    worker_id: f64,
    boot_ms: f64,
    now_ms: f64,
) -> f64 {
    call(|module| {
        let Input { name, servers, boot, found, .. } = read(module, [name, servers, boot, path, bytes])?;
        let servers = &urls(servers);
        let seeker = LeaseSeeker { name, servers, boot, boot_time_ms: boot_ms as i64, now_ms: now_ms as i64 };
        Ok(seeker.hint(&found.content, worker_id as u32).map_or(-1.0, |ends_ms| ends_ms as f64))
    })
}

/// The usable lease in a file, under the lock of the record: a new handle, and the boot time before it was requested. 0
/// if there is none. `device` and `inode` are the file's, `changed_ms` is the kernel's time of its last change.
#[unsafe(no_mangle)]
extern "C" fn lease_file_find(
    name: i32,
    servers: i32,
    boot: i32,
    path: i32,
    bytes: i32,
    record: i32,
    device: i64,
    inode: i64,
    changed_ms: f64,
    boot_ms: f64,
    now_ms: f64,
) -> i32 {
    call(|module| {
        let Record { worker_id, owner, .. } = *module.get::<Record>(record)?;
        let Input { name, servers, boot, found, .. } = read(module, [name, servers, boot, path, bytes])?;
        let servers = &urls(servers);
        let seeker = LeaseSeeker { name, servers, boot, boot_time_ms: boot_ms as i64, now_ms: now_ms as i64 };
        let file = (device as u64, inode as u64);
        let held = seeker.still_held(&found, worker_id);
        let held = held.filter(|held| held.is_bound(file, owner, changed_ms as i64));
        let Some((lease, asked)) = held.and_then(|held| held.lease(worker_id)) else { return Ok(0) };
        module.answer(&[asked.as_millis() as f64]);
        Ok(module.add(lease))
    })
}

/// The slot to write so that a file holds this lease, or with the handle 0 none: 1, and the slot's place and, as output,
/// its bytes. Or 0: there is nothing to write. `device` and `inode` are the file's.
#[unsafe(no_mangle)]
extern "C" fn lease_file_slot(
    name: i32,
    servers: i32,
    boot: i32,
    path: i32,
    bytes: i32,
    record: i32,
    held: i32,
    device: i64,
    inode: i64,
    now_ms: f64,
) -> i32 {
    call(|module| {
        let Record { worker_id, owner, .. } = *module.get::<Record>(record)?;
        let input = read(module, [name, servers, boot, path, bytes])?;
        let Input { name, servers, boot, found, number, spare } = input;
        let mut file = empty(name, worker_id, servers)?;
        if held != 0 {
            let held = module.get::<HeldLease>(held)?;
            let bound = LeaseBinding { boot, owner, file: (device as u64, inode as u64) };
            let ends = held.ends().filter(|_| CachedLease::is_cacheable(held.lease(), boot));
            let Some(ends) = ends else { return Ok(0) };
            file.held = CachedLease::new(held.lease(), ends, &bound, now_ms as i64);
        } else if !LeaseFile::needs_invalidation(&found) {
            return Ok(0);
        }
        write_bytes(&sealed(number + 1, &file)?);
        module.answer(&[spare as f64]);
        Ok(1)
    })
}
