//! The format of a file with two slots of readable JSON. Each has a number and a checksum; writes use them in turns.

use crate::json::Object;
use crate::{Code, Error, Result};
use alloc::format;
use alloc::string::{String, ToString};
use crc::{CRC_32_ISO_HDLC, Crc, NoTable};
use serde::Serialize;

/// The size of a slot in bytes: one page, so that a write is not torn over two.
pub const SLOT_BYTES: usize = 4096;
/// The size of a file in bytes.
pub const FILE_BYTES: usize = 2 * SLOT_BYTES;
/// Slot numbers count up by one. None reaches this value.
pub const NUMBER_LIMIT: u64 = 1 << 62;
/// The text between the JSON's last field and its checksum.
const CHECKSUM: &str = ",\"crc32\":\"";
/// As in zip files. A table would be larger than all else that a WebAssembly module needs.
const CRC32: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// The newest slot of a file: the one with the higher number.
pub(crate) struct Newest<'f> {
    /// The number of the slot.
    pub number: u64,
    /// Its fields.
    pub slot: Object<'f>,
    /// The slot to write next: the one that does not hold the newest.
    pub spare: usize,
    /// Whether the other slot is unreadable, so that the newest may be lost.
    pub damaged: bool,
}

/// The bytes of a slot: the JSON of a struct that is not empty, its checksum, blanks and a line feed.
/// Errors: `internal` if it does not fit.
pub fn seal(json: &impl Serialize) -> Result<[u8; SLOT_BYTES]> {
    let too_large = || Error::new(Code::Internal, "the record does not fit its slot; report this");
    let mut text = serde_json::to_string(json).map_err(|_| too_large())?;
    text.pop();
    let sum = CRC32.checksum(text.as_bytes());
    text.push_str(&format!("{CHECKSUM}{sum:08x}\"}}"));
    let mut bytes = [b' '; SLOT_BYTES];
    bytes.get_mut(..text.len()).ok_or_else(too_large)?.copy_from_slice(text.as_bytes());
    match bytes.last_mut() {
        Some(last) if *last == b' ' => *last = b'\n',
        _ => return Err(too_large()),
    }
    Ok(bytes)
}

/// The number of the newest slot of a new file without a later write. Its creator may have been killed before the name
/// was durable: the first writer makes the name durable.
pub const NUMBER_OF_NEW: u64 = 1;

/// The bytes of a new file; `slot` returns the slot with this number.
pub fn new_file(mut slot: impl FnMut(u64) -> Result<[u8; SLOT_BYTES]>) -> Result<[u8; FILE_BYTES]> {
    let mut bytes = [0; FILE_BYTES];
    for (number, place) in bytes.chunks_mut(SLOT_BYTES).enumerate() {
        place.copy_from_slice(&slot(number as u64)?);
    }
    Ok(bytes)
}

/// Finds the newest slot of a `kind` of file, such as "state". The error says what the file is if no slot is valid.
pub(crate) fn newest<'f>(bytes: &'f [u8], kind: &str) -> core::result::Result<Newest<'f>, String> {
    if bytes.len() != FILE_BYTES {
        let size = if bytes.len() > FILE_BYTES { "more".into() } else { bytes.len().to_string() };
        return Err(format!("not a leafid {kind} file: {size} bytes instead of {FILE_BYTES}"));
    }
    let read = |slot| {
        let slot = Object::parse(checked(slot)?.as_bytes()).ok()?;
        let number = slot.number("number").ok().filter(|&number| number < NUMBER_LIMIT)?;
        Some((number, slot))
    };
    let (first, second) = bytes.split_at(SLOT_BYTES);
    let (newest, spare, other) = match (read(first), read(second)) {
        (Some(first), Some(second)) if second.0 > first.0 => (second, 0, Some(first)),
        (Some(first), second) => (first, 1, second),
        (None, Some(second)) => (second, 0, None),
        (None, None) => return Err(format!("damaged in both slots, or not a leafid {kind} file")),
    };
    let (number, slot) = newest;
    Ok(Newest { number, slot, spare, damaged: other.is_none() })
}

/// The JSON of a slot, if every byte of the slot is as it was written.
pub fn checked(slot: &[u8]) -> Option<&str> {
    let text = core::str::from_utf8(slot).ok()?.strip_suffix('\n')?.trim_end_matches(' ');
    let body = text.get(..text.len().checked_sub(CHECKSUM.len() + 10)?)?;
    let tail = format!("{CHECKSUM}{:08x}\"}}", CRC32.checksum(body.as_bytes()));
    (text.get(body.len()..)? == tail).then_some(text)
}
