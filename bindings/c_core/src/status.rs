//! Errors as numbers.

use crate::pointer::write_error;
use core::ffi::c_char;
use leafid_core::{Code, Result};

/// The result of a function: 0 is success. The numbers never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_core_status {
    /// Success: the results have been written.
    LEAFID_CORE_OK = 0,
    /// An argument is outside the allowed values.
    LEAFID_CORE_INVALID_ARGUMENT = 1,
    /// The clock is further behind the last id than the rules allow. Read the clock once more before you report this.
    LEAFID_CORE_CLOCK_BACKWARDS = 2,
    /// The time is before the layout's epoch.
    LEAFID_CORE_BEFORE_EPOCH = 3,
    /// The layout's timestamp bits are used up.
    LEAFID_CORE_TIME_EXHAUSTED = 4,
    /// The span is used up: grant the next one and call again.
    LEAFID_CORE_NEED_SPAN = 7,
    /// Not yet: call again later.
    LEAFID_CORE_WAIT = 14,
    /// The generator was sealed.
    LEAFID_CORE_SEALED = 15,
    /// A defect in leafid.
    LEAFID_CORE_INTERNAL = 16,
}

impl From<Code> for leafid_core_status {
    fn from(code: Code) -> leafid_core_status {
        match code {
            Code::InvalidArgument => leafid_core_status::LEAFID_CORE_INVALID_ARGUMENT,
            Code::ClockBackwards => leafid_core_status::LEAFID_CORE_CLOCK_BACKWARDS,
            Code::BeforeEpoch => leafid_core_status::LEAFID_CORE_BEFORE_EPOCH,
            Code::TimeExhausted => leafid_core_status::LEAFID_CORE_TIME_EXHAUSTED,
            Code::StateIo => leafid_core_status::LEAFID_CORE_NEED_SPAN,
            Code::WouldBlock => leafid_core_status::LEAFID_CORE_WAIT,
            Code::Closed => leafid_core_status::LEAFID_CORE_SEALED,
            // No call of this library has one of the others.
            _ => leafid_core_status::LEAFID_CORE_INTERNAL,
        }
    }
}

/// The status of a body, whose error goes to `error` as text.
///
/// # Safety
/// `error` is NULL or has `cap` writable bytes.
pub(crate) unsafe fn report(body: Result<()>, error: *mut c_char, cap: usize) -> leafid_core_status {
    match body {
        Ok(()) => leafid_core_status::LEAFID_CORE_OK,
        Err(failed) => {
            // SAFETY: the caller's duty.
            unsafe { write_error(&failed, error, cap) };
            failed.code().into()
        }
    }
}
