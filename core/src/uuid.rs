//! Ids inside of UUIDs.

use crate::id::whole;
use crate::{Error, Result};
use alloc::format;
use alloc::string::String;

/// The version in the first half of a UUID, and the variant in the second.
const VERSION: u64 = 8 << 12;
const VARIANT: u64 = 0b10 << 62;

/// Where the version stands.
const VERSION_BITS: u64 = 0xf << 12;

/// The digits of a UUID's text, the number of its characters, and the places of its dashes.
pub(crate) const HEX: &[u8] = b"0123456789abcdef";
pub(crate) const WIDTH: usize = 36;
const DASHES: [usize; 4] = [8, 13, 18, 23];

pub(crate) const ALLOWED: &str = "UUIDs of ids in lower case, 00000000-0000-8000-8000-000000000000 to \
                                  7fffffff-ffff-8fff-bc00-000000000000";

/// The UUID of an id, of version 8 (RFC 9562, section 5.8). Errors: `invalid_argument` for a negative id.
///
/// As a number of 64 bits, whose highest is zero, the id is the first 64 bits of the UUID without its version and
/// variant; 58 zeros follow. So UUIDs have the order of their ids, as numbers, as bytes (`to_be_bytes`) and as text
/// ([`crate::TextForm::Uuid`]).
///
/// ```
/// let uuid = leafid_core::id_to_uuid(1_169_786_042_799_259_000)?;
/// assert_eq!(uuid, 0x103bea35_4842_87d7_a000_000000000000);
/// assert_eq!(leafid_core::uuid_to_id(uuid)?, 1_169_786_042_799_259_000);
/// # Ok::<(), leafid_core::Error>(())
/// ```
pub fn id_to_uuid(id: i64) -> Result<u128> {
    let [high, low] = of_id(id)?;
    Ok(u128::from(high) << 64 | u128::from(low))
}

/// The id of a UUID. Errors: `invalid_argument` for all but those that [`id_to_uuid`] makes.
pub fn uuid_to_id(uuid: u128) -> Result<i64> {
    let halves = [(uuid >> 64) as u64, uuid as u64];
    to_id(halves).map_err(|why| Error::invalid("uuid", format!("\"{}\", {why}", text(halves)), ALLOWED))
}

/// The halves of an id's UUID.
pub(crate) fn of_id(id: i64) -> Result<[u64; 2]> {
    let id = whole(id)?;
    Ok([id >> 16 << 16 | VERSION | id >> 4 & 0xfff, VARIANT | (id & 0xf) << 58])
}

/// The id of a UUID's halves, or what is wrong with it, as the rest of a sentence.
pub(crate) fn to_id([high, low]: [u64; 2]) -> core::result::Result<i64, &'static str> {
    if high & VERSION_BITS != VERSION || low >> 62 != VARIANT >> 62 {
        return Err("which is not of version 8 of RFC 9562");
    }
    if low << 6 != 0 {
        return Err("whose last 58 bits are not zero");
    }
    let id = high >> 16 << 16 | (high & 0xfff) << 4 | low >> 58 & 0xf;
    i64::try_from(id).map_err(|_| "which is above that of the largest id")
}

/// The text of RFC 9562, in lower case.
pub(crate) fn text(halves: [u64; 2]) -> String {
    let digits =
        halves.into_iter().flat_map(|half| (0..16).rev().map(move |place| half >> (4 * place) & 0xf));
    let mut text = String::with_capacity(WIDTH);
    for digit in digits {
        if DASHES.contains(&text.len()) {
            text.push('-');
        }
        text.push(char::from(HEX[digit as usize]));
    }
    text
}

/// The halves of a UUID's text, or the place of the first character that is wrong. The text has the right width.
pub(crate) fn parse(text: &str) -> core::result::Result<[u64; 2], usize> {
    let mut halves = [0; 2];
    for (at, char) in text.chars().enumerate() {
        if !DASHES.contains(&at) {
            let digit = HEX.iter().position(|&digit| char::from(digit) == char).ok_or(at)?;
            let half = &mut halves[usize::from(at > DASHES[2])];
            *half = *half << 4 | digit as u64;
        } else if char != '-' {
            return Err(at);
        }
    }
    Ok(halves)
}
