//! Ids as text in one of several forms, and back.

use crate::leafid_core_status;
use crate::pointer::{read, write, write_text};
use crate::status::report;
use core::ffi::c_char;
use leafid_core::{Error, Result, TextForm};

/// Bytes that hold any text of leafid_core_format_id, its NUL included.
pub const LEAFID_CORE_ID_TEXT_SIZE: usize = 37;

/// How an id is written as text. Each form has one text for an id, and leafid_core_parse_formatted_id accepts no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_core_text_form {
    /// Decimal digits without leading zeros. Their order as text is not the order of the ids.
    LEAFID_CORE_TEXT_FORM_DECIMAL = 0,
    /// Crockford's base32 in upper case: 13 characters, whose order as bytes is the order of the ids.
    LEAFID_CORE_TEXT_FORM_BASE32 = 1,
    /// 11 characters of 0-9, A-Z and a-z, whose order as bytes is the order of the ids.
    LEAFID_CORE_TEXT_FORM_BASE62 = 2,
    /// The id in a UUID of version 8 (RFC 9562), in lower case: 36 characters, whose order as bytes is the order of the ids.
    LEAFID_CORE_TEXT_FORM_UUID = 3,
}

/// Writes the text of an id and a NUL. `form` is a leafid_core_text_form. `cap` is the size of `buf`:
/// LEAFID_CORE_ID_TEXT_SIZE is enough. A text that does not fit is not cut.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_format_id(
    id: i64,
    form: i32,
    buf: *mut c_char,
    cap: usize,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || {
            let text = parse(form)?.format_id(id)?;
            if buf.is_null() {
                return Err(Error::invalid("buf", "NULL", "a buffer of cap bytes"));
            }
            if cap <= text.len() {
                return Err(Error::invalid("cap", cap, &alloc::format!("at least {}", text.len() + 1)));
            }
            write_text(&text, buf, cap);
            Ok(())
        };
        report(body(), error, error_cap)
    }
}

/// Reads the text of an id: only that which leafid_core_format_id writes. `form` is a leafid_core_text_form.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_parse_formatted_id(
    text: *const c_char,
    form: i32,
    out: *mut i64,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || write(out, "out", parse(form)?.parse_id(read(text, "text", "the text of an id")?)?);
        report(body(), error, error_cap)
    }
}

fn parse(form: i32) -> Result<TextForm> {
    match form {
        0 => Ok(TextForm::Decimal),
        1 => Ok(TextForm::Base32),
        2 => Ok(TextForm::Base62),
        3 => Ok(TextForm::Uuid),
        other => Err(Error::invalid("form", other, "a leafid_core_text_form: 0 to 3")),
    }
}
