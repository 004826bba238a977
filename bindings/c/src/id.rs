//! Conversion of ids to parts and back.

use crate::guard::guard;
use crate::layout::or_leaf;
use crate::pointer::Out;
use crate::text;
use crate::{leafid_layout, leafid_status};
use leafid::{Error, Parts, Result, parse_id};
use std::ffi::c_char;

/// The parts of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct leafid_parts {
    /// Unix milliseconds, floored to the layout's tick.
    pub timestamp_ms: i64,
    /// The worker id.
    pub worker_id: u32,
    /// The sequence number within the tick.
    pub sequence: u32,
}

impl From<Parts> for leafid_parts {
    fn from(parts: Parts) -> leafid_parts {
        let Parts { timestamp_ms, worker_id, sequence } = parts;
        leafid_parts { timestamp_ms, worker_id, sequence }
    }
}

/// Takes an id apart. `layout` NULL: Leaf's.
///
/// Errors: LEAFID_INVALID_ARGUMENT for a negative id, one with more bits than the layout, or an invalid layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_decode(
    id: i64,
    layout: *const leafid_layout,
    out: *mut leafid_parts,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (layout, out) = unsafe { (or_leaf(layout)?, Out::new(out, "out")?) };
        out.write(layout.decode(id)?.into());
        Ok(())
    })
}

/// The same as leafid_decode, for an id in decimal text: ASCII digits only, no sign, no space, 0 to
/// 9223372036854775807.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_decode_text(
    text: *const c_char,
    layout: *const leafid_layout,
    out: *mut leafid_parts,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (text, layout, out) =
            unsafe { (text::read(text, "id")?, or_leaf(layout)?, Out::new(out, "out")?) };
        out.write(layout.decode(parse_id(text)?)?.into());
        Ok(())
    })
}

/// Makes the id of these parts; `timestamp_ms` is Unix milliseconds and is floored to the tick. `layout` NULL:
/// Leaf's. For queries by time and for tests: such an id is not unique.
///
/// Errors: LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, and LEAFID_INVALID_ARGUMENT for a worker id or a sequence
/// outside its bits or an invalid layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_compose(
    timestamp_ms: i64,
    worker_id: i64,
    sequence: i64,
    layout: *const leafid_layout,
    out: *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (layout, out) = unsafe { (or_leaf(layout)?, Out::new(out, "out")?) };
        let worker_id = part("worker_id", worker_id, layout.max_worker_id())?;
        let sequence = part("sequence", sequence, layout.max_sequence())?;
        out.write(layout.compose(timestamp_ms, worker_id, sequence)?);
        Ok(())
    })
}

/// The smallest id of the tick that contains this time, Unix milliseconds. `layout` NULL: Leaf's. With
/// leafid_last_id_at it finds the ids of a period: WHERE id BETWEEN first_id_at(from) AND last_id_at(until).
///
/// Errors: LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, and LEAFID_INVALID_ARGUMENT for an invalid layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_first_id_at(
    timestamp_ms: i64,
    layout: *const leafid_layout,
    out: *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (layout, out) = unsafe { (or_leaf(layout)?, Out::new(out, "out")?) };
        out.write(layout.first_id_at(timestamp_ms)?);
        Ok(())
    })
}

/// The largest id of the tick that contains this time. Otherwise as leafid_first_id_at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_last_id_at(
    timestamp_ms: i64,
    layout: *const leafid_layout,
    out: *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (layout, out) = unsafe { (or_leaf(layout)?, Out::new(out, "out")?) };
        out.write(layout.last_id_at(timestamp_ms)?);
        Ok(())
    })
}

/// Checks a number that may not fit the host's type. The host checks the rest.
fn part(name: &str, value: i64, most: u32) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::invalid(name, value, &format!("0 to {most}")))
}
