//! A file of two slots of readable JSON, each with a number and a checksum, written in turn and in place.

use crate::os::env::FILE_BYTES;
use leafid_core::{Code, Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of a slot: one page, so that a write is not torn over two.
pub(crate) const SLOT_BYTES: usize = FILE_BYTES / 2;
/// Slot numbers count up by one: none reaches this.
pub(crate) const NUMBER_LIMIT: u64 = 1 << 62;
/// What stands between the JSON's last field and its checksum.
const CHECKSUM: &str = ",\"crc32\":\"";

/// What every slot of one kind of file says first, in all formats: by the number the newest is told.
pub(crate) trait Head: DeserializeOwned {
    fn number(&self) -> u64;
}

/// What a file's slots hold.
pub(crate) struct Newest<'f, H> {
    pub(crate) head: H,
    /// The JSON, checksum included.
    pub(crate) text: &'f str,
    /// The slot that does not hold the newest: the one to write next.
    pub(crate) spare: usize,
    /// The other slot could not be read, so that the newest may be lost.
    pub(crate) damaged: bool,
}

/// A slot's bytes: the JSON of a struct that is not empty, its checksum, blanks and a line feed.
pub(crate) fn seal(json: &impl Serialize) -> Result<[u8; SLOT_BYTES]> {
    let too_large = || Error::new(Code::Internal, "the record does not fit its slot; report this");
    let mut text = serde_json::to_string(json).map_err(|_| too_large())?;
    text.pop();
    let sum = crc32fast::hash(text.as_bytes());
    text.push_str(&format!("{CHECKSUM}{sum:08x}\"}}"));
    let mut bytes = [b' '; SLOT_BYTES];
    bytes.get_mut(..text.len()).ok_or_else(too_large)?.copy_from_slice(text.as_bytes());
    match bytes.last_mut() {
        Some(last) if *last == b' ' => *last = b'\n',
        _ => return Err(too_large()),
    }
    Ok(bytes)
}

/// The number of the newest slot of a file that nobody has written to since it was made. Its maker may have been killed
/// before the name was durable: whoever writes first sees to that.
pub(crate) const NUMBER_OF_NEW: u64 = 1;

/// The bytes of a new file; `slot` makes the slot of this number.
pub(crate) fn new_file(mut slot: impl FnMut(u64) -> Result<[u8; SLOT_BYTES]>) -> Result<[u8; FILE_BYTES]> {
    let mut bytes = [0; FILE_BYTES];
    for (number, place) in bytes.chunks_mut(SLOT_BYTES).enumerate() {
        place.copy_from_slice(&slot(number as u64)?);
    }
    Ok(bytes)
}

/// Finds the newest slot of a `kind` of file, such as "state". Errors: what the file is, when no slot can be believed.
pub(crate) fn newest<'f, H: Head>(bytes: &'f [u8], kind: &str) -> std::result::Result<Newest<'f, H>, String> {
    if bytes.len() != FILE_BYTES {
        let size = if bytes.len() > FILE_BYTES { "more".into() } else { bytes.len().to_string() };
        return Err(format!("not a leafid {kind} file: {size} bytes instead of {FILE_BYTES}"));
    }
    let read = |slot| {
        let text = checked(slot)?;
        let head = serde_json::from_str::<H>(text).ok().filter(|head| head.number() < NUMBER_LIMIT)?;
        Some((head, text))
    };
    let (first, second) = bytes.split_at(SLOT_BYTES);
    let (newest, spare, other) = match (read(first), read(second)) {
        (Some(first), Some(second)) if second.0.number() > first.0.number() => (second, 0, Some(first)),
        (Some(first), second) => (first, 1, second),
        (None, Some(second)) => (second, 0, None),
        (None, None) => return Err(format!("damaged in both slots, or not a leafid {kind} file")),
    };
    let (head, text) = newest;
    Ok(Newest { head, text, spare, damaged: other.is_none() })
}

/// The slot's JSON, if every byte of the slot is as it was written.
pub(crate) fn checked(slot: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(slot).ok()?.strip_suffix('\n')?.trim_end_matches(' ');
    let body = text.get(..text.len().checked_sub(CHECKSUM.len() + 10)?)?;
    let tail = format!("{CHECKSUM}{:08x}\"}}", crc32fast::hash(body.as_bytes()));
    (text.get(body.len()..)? == tail).then_some(text)
}
