//! Conversion of ids to parts and back.

use crate::layout::or_leaf;
use crate::pointer::{read, write};
use crate::status::report;
use crate::{leafid_core_layout, leafid_core_status};
use core::ffi::c_char;
use leafid_core::{Error, Parts, Result, parse_id};

/// The parts of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct leafid_core_parts {
    /// Unix milliseconds, floored to the layout's tick.
    pub timestamp_ms: i64,
    /// The worker id.
    pub worker_id: u32,
    /// The sequence number within the tick.
    pub sequence: u32,
}

/// Takes an id apart.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_decode(
    id: i64,
    layout: *const leafid_core_layout,
    out: *mut leafid_core_parts,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || {
            let Parts { timestamp_ms, worker_id, sequence } = or_leaf(layout)?.decode(id)?;
            write(out, "out", leafid_core_parts { timestamp_ms, worker_id, sequence })
        };
        report(body(), error, error_cap)
    }
}

/// Makes the id of these parts; `timestamp_ms` is Unix milliseconds and is floored to the tick. For queries by time and
/// for tests: such an id is not unique.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_compose(
    timestamp_ms: i64,
    worker_id: i64,
    sequence: i64,
    layout: *const leafid_core_layout,
    out: *mut i64,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || {
            let layout = or_leaf(layout)?;
            let worker_id = part("worker_id", worker_id, layout.max_worker_id())?;
            let sequence = part("sequence", sequence, layout.max_sequence())?;
            write(out, "out", layout.compose(timestamp_ms, worker_id, sequence)?)
        };
        report(body(), error, error_cap)
    }
}

/// The smallest id of the tick that contains this time, Unix milliseconds. With leafid_core_last_id_at it finds the ids
/// of a period.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_first_id_at(
    timestamp_ms: i64,
    layout: *const leafid_core_layout,
    out: *mut i64,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || write(out, "out", or_leaf(layout)?.first_id_at(timestamp_ms)?);
        report(body(), error, error_cap)
    }
}

/// The largest id of the tick that contains this time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_last_id_at(
    timestamp_ms: i64,
    layout: *const leafid_core_layout,
    out: *mut i64,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || write(out, "out", or_leaf(layout)?.last_id_at(timestamp_ms)?);
        report(body(), error, error_cap)
    }
}

/// Reads an id from decimal text: ASCII digits only, no sign, no space, 0 to 9223372036854775807.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_parse_id(
    text: *const c_char,
    out: *mut i64,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || write(out, "out", parse_id(read(text, "id", "decimal digits")?)?);
        report(body(), error, error_cap)
    }
}

/// Checks a number that may not fit the core's type. The core checks the rest.
pub(crate) fn part(name: &str, value: i64, most: u32) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::invalid(name, value, &alloc::format!("0 to {most}")))
}
