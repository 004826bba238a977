//! The codes of all errors as numbers, and their names.

use leafid::Code;
use std::ffi::{CStr, c_char};

/// The result of a function: 0 is success, everything else an error whose text is in leafid_last_error. The numbers
/// never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_status {
    /// Success: the results have been written.
    LEAFID_OK = 0,
    /// An option or an argument is not of the allowed kind or outside the allowed values.
    LEAFID_INVALID_ARGUMENT = 1,
    /// The clock is further behind the last id than the bound allows.
    LEAFID_CLOCK_BACKWARDS = 2,
    /// The clock, or the requested time, is before the layout's epoch.
    LEAFID_BEFORE_EPOCH = 3,
    /// The layout's timestamp bits are used up.
    LEAFID_TIME_EXHAUSTED = 4,
    /// Another generator holds the worker id, or every id of the range.
    LEAFID_WORKER_IN_USE = 5,
    /// This generator no longer holds the worker id.
    LEAFID_WORKER_LOST = 6,
    /// The state directory or file cannot be read, written or locked.
    LEAFID_STATE_IO = 7,
    /// The state file is damaged or not leafid's.
    LEAFID_STATE_CORRUPT = 8,
    /// The state file was written with another layout or epoch.
    LEAFID_STATE_MISMATCH = 9,
    /// The source of segments does not know the tag.
    LEAFID_UNKNOWN_TAG = 10,
    /// No segment arrived in time.
    LEAFID_SEGMENT_UNAVAILABLE = 11,
    /// The source returned ids that it had returned before.
    LEAFID_SEGMENT_REGRESSED = 12,
    /// The source's response is not valid.
    LEAFID_SOURCE_INVALID = 13,
    /// The call would have to wait where waiting is not allowed.
    LEAFID_WOULD_BLOCK = 14,
    /// The handle was closed.
    LEAFID_CLOSED = 15,
    /// A defect in leafid.
    LEAFID_INTERNAL = 16,
}

impl From<Code> for leafid_status {
    fn from(code: Code) -> leafid_status {
        match code {
            Code::InvalidArgument => leafid_status::LEAFID_INVALID_ARGUMENT,
            Code::ClockBackwards => leafid_status::LEAFID_CLOCK_BACKWARDS,
            Code::BeforeEpoch => leafid_status::LEAFID_BEFORE_EPOCH,
            Code::TimeExhausted => leafid_status::LEAFID_TIME_EXHAUSTED,
            Code::WorkerInUse => leafid_status::LEAFID_WORKER_IN_USE,
            Code::WorkerLost => leafid_status::LEAFID_WORKER_LOST,
            Code::StateIo => leafid_status::LEAFID_STATE_IO,
            Code::StateCorrupt => leafid_status::LEAFID_STATE_CORRUPT,
            Code::StateMismatch => leafid_status::LEAFID_STATE_MISMATCH,
            Code::UnknownTag => leafid_status::LEAFID_UNKNOWN_TAG,
            Code::SegmentUnavailable => leafid_status::LEAFID_SEGMENT_UNAVAILABLE,
            Code::SegmentRegressed => leafid_status::LEAFID_SEGMENT_REGRESSED,
            Code::SourceInvalid => leafid_status::LEAFID_SOURCE_INVALID,
            Code::WouldBlock => leafid_status::LEAFID_WOULD_BLOCK,
            Code::Closed => leafid_status::LEAFID_CLOSED,
            // `Code` may grow. tests/status.rs fails until the new code is above.
            _ => leafid_status::LEAFID_INTERNAL,
        }
    }
}

/// The name of a status: "ok", "invalid_argument", "clock_backwards" and so on; "unknown" for any other number.
/// Static text; never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn leafid_status_name(status: i32) -> *const c_char {
    const NAMES: [&CStr; 17] = [
        c"ok",
        c"invalid_argument",
        c"clock_backwards",
        c"before_epoch",
        c"time_exhausted",
        c"worker_in_use",
        c"worker_lost",
        c"state_io",
        c"state_corrupt",
        c"state_mismatch",
        c"unknown_tag",
        c"segment_unavailable",
        c"segment_regressed",
        c"source_invalid",
        c"would_block",
        c"closed",
        c"internal",
    ];
    usize::try_from(status).ok().and_then(|at| NAMES.get(at)).unwrap_or(&c"unknown").as_ptr()
}

/// Whether the same call can succeed later without a manual change: for example LEAFID_WORKER_IN_USE, not
/// LEAFID_STATE_CORRUPT. False for LEAFID_OK and for unknown numbers.
#[unsafe(no_mangle)]
pub extern "C" fn leafid_status_can_retry(status: i32) -> bool {
    Code::ALL.iter().any(|code| code.number() == status && code.can_retry())
}

/// The version of the loaded library, such as "0.1.0"; LEAFID_VERSION is the version of the header. Static text;
/// never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn leafid_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
