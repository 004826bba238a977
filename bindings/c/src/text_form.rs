//! Ids as text in one of several forms, and back.

use crate::guard::guard;
use crate::leafid_status;
use crate::pointer::{Out, shared};
use crate::text;
use leafid::{Error, Result, TextForm, allowed, id_to_uuid, uuid_to_id};
use std::ffi::c_char;

/// Bytes that hold any text of leafid_format_id, its NUL included.
pub const LEAFID_ID_TEXT_SIZE: usize = 37;

/// How an id is written as text. Each form has one text for an id, and leafid_parse_id accepts no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_text_form {
    /// Decimal digits without leading zeros. Their order as text is not the order of the ids.
    LEAFID_TEXT_FORM_DECIMAL = 0,
    /// Crockford's base32 in upper case: 13 characters, whose order as bytes is the order of the ids.
    LEAFID_TEXT_FORM_BASE32 = 1,
    /// 11 characters of 0-9, A-Z and a-z, whose order as bytes is the order of the ids.
    LEAFID_TEXT_FORM_BASE62 = 2,
    /// The UUID of leafid_id_to_uuid in lower case: 36 characters, whose order as bytes is the order of the ids.
    LEAFID_TEXT_FORM_UUID = 3,
}

/// Writes the text of an id and a NUL. `form` is a leafid_text_form. `cap` is the size of `buf`: LEAFID_ID_TEXT_SIZE
/// is enough. A text that does not fit is not cut.
///
/// Errors: LEAFID_INVALID_ARGUMENT for a negative id, and for a `buf` that is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_format_id(id: i64, form: i32, buf: *mut c_char, cap: usize) -> leafid_status {
    guard(|| {
        let text = parse(form)?.format_id(id)?;
        // SAFETY: the caller's duty, said in the header: `buf` has `cap` writable bytes.
        unsafe { write_id_text(&text, buf, cap) }
    })
}

/// Reads the text of an id. `form` is a leafid_text_form. leafid_decode_text reads decimal text, with leading zeros
/// too.
///
/// Errors: LEAFID_INVALID_ARGUMENT for all but the text that leafid_format_id writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_parse_id(text: *const c_char, form: i32, out: *mut i64) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (text, out) = unsafe { (text::read(text, "text")?, Out::new(out, "out")?) };
        out.write(parse(form)?.parse_id(text)?);
        Ok(())
    })
}

/// Writes the 16 bytes of an id's UUID, of version 8 (RFC 9562): the first 64 bits without its version and variant are
/// the id, and 58 zeros follow. memcmp of two UUIDs has the order of the ids.
///
/// Errors: LEAFID_INVALID_ARGUMENT for a negative id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_id_to_uuid(id: i64, out: *mut u8) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let out = unsafe { Out::new(out.cast::<[u8; 16]>(), "out")? };
        out.write(id_to_uuid(id)?.to_be_bytes());
        Ok(())
    })
}

/// Reads the id of a UUID of 16 bytes.
///
/// Errors: LEAFID_INVALID_ARGUMENT for all but those that leafid_id_to_uuid writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_uuid_to_id(uuid: *const u8, out: *mut i64) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (uuid, out) = unsafe { (shared(uuid.cast::<[u8; 16]>(), "uuid")?, Out::new(out, "out")?) };
        out.write(uuid_to_id(u128::from_be_bytes(*uuid))?);
        Ok(())
    })
}

/// Writes a text and a NUL, if they fit.
///
/// # Safety
/// `buf` is NULL or has `cap` writable bytes.
pub(crate) unsafe fn write_id_text(text: &str, buf: *mut c_char, cap: usize) -> Result<()> {
    if buf.is_null() {
        return Err(Error::invalid("buf", "NULL", "a buffer of cap bytes"));
    }
    if cap <= text.len() {
        return Err(Error::invalid("cap", cap, &format!("at least {}", text.len() + 1)));
    }
    // SAFETY: the caller's duty.
    unsafe { text::write(text, buf, cap) };
    Ok(())
}

pub(crate) fn parse(form: i32) -> Result<TextForm> {
    match form {
        form if form == leafid_text_form::LEAFID_TEXT_FORM_DECIMAL as i32 => Ok(TextForm::Decimal),
        form if form == leafid_text_form::LEAFID_TEXT_FORM_BASE32 as i32 => Ok(TextForm::Base32),
        form if form == leafid_text_form::LEAFID_TEXT_FORM_BASE62 as i32 => Ok(TextForm::Base62),
        form if form == leafid_text_form::LEAFID_TEXT_FORM_UUID as i32 => Ok(TextForm::Uuid),
        other => Err(Error::invalid("form", other, allowed("form"))),
    }
}
