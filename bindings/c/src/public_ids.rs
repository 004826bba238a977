//! Public ids: ids encrypted one to one.

use crate::guard::{guard, quietly};
use crate::leafid_status;
use crate::pointer::{Out, shared, unique};
use crate::text;
use crate::text_form::{self, write_id_text};
use leafid::{Error, PublicIdKey, PublicIds, Result, load_public_id_key};
use std::ffi::c_char;
use std::slice;

/// Encrypts ids to numbers of the same 63 bits and back, one to one: FF1 of NIST SP 800-38G. All threads may use it at
/// once, except while a key is added. docs/PUBLIC-IDS.md says what it hides and what it does not.
pub struct leafid_public_ids(PublicIds);

/// Makes public ids of a key of `length` bytes, 16, 24 or 32, and its version, 0 to 31. The bytes are copied; overwrite
/// your own. Free it with leafid_public_ids_free.
///
/// Errors: LEAFID_INVALID_ARGUMENT.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_public_ids_new(
    key: *const u8,
    length: usize,
    version: i64,
    out: *mut *mut leafid_public_ids,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (key, out) = unsafe { (given_key(key, length)?, Out::new(out, "out")?) };
        out.write(made(key, version)?);
        Ok(())
    })
}

/// The same as leafid_public_ids_new, with the key from `source`: "env:NAME", an environment variable, or "file:PATH".
/// Either has 32, 48 or 64 hexadecimal digits. No error shows a key.
///
/// Errors: LEAFID_INVALID_ARGUMENT.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_public_ids_load(
    source: *const c_char,
    version: i64,
    out: *mut *mut leafid_public_ids,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (source, out) = unsafe { (text::read(source, "source")?, Out::new(out, "out")?) };
        out.write(made(load_public_id_key(source)?, version)?);
        Ok(())
    })
}

/// Adds a key of another version, which decrypts only. No other thread may use `ids` during the call.
///
/// Errors: LEAFID_INVALID_ARGUMENT, also for a version that has a key.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_public_ids_add_key(
    ids: *mut leafid_public_ids,
    key: *const u8,
    length: usize,
    version: i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid, and no thread uses `ids`.
        let (ids, key) = unsafe { (unique(ids, "ids")?, given_key(key, length)?) };
        ids.0.add_key(key, given_version(version)?)
    })
}

/// The same as leafid_public_ids_add_key, with the key from a source as in leafid_public_ids_load.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_public_ids_load_key(
    ids: *mut leafid_public_ids,
    source: *const c_char,
    version: i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid, and no thread uses `ids`.
        let (ids, source) = unsafe { (unique(ids, "ids")?, text::read(source, "source")?) };
        ids.0.add_key(load_public_id_key(source)?, given_version(version)?)
    })
}

/// Encrypts an id with the key that leafid_public_ids_new got. `out` gets a number from 0 to 9223372036854775807.
///
/// Errors: LEAFID_INVALID_ARGUMENT for an id below 1.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_public_ids_encrypt(
    ids: *const leafid_public_ids,
    id: i64,
    out: *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (ids, out) = unsafe { (shared(ids, "ids")?, Out::new(out, "out")?) };
        out.write(ids.0.encrypt(id)?);
        Ok(())
    })
}

/// Decrypts a number with the key of this version. A number of another key gives another id: it is not recognized.
///
/// Errors: LEAFID_INVALID_ARGUMENT for a negative number, for the one that would be of the id 0, and for a version
/// without a key.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_public_ids_decrypt(
    ids: *const leafid_public_ids,
    public_id: i64,
    version: i64,
    out: *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (ids, out) = unsafe { (shared(ids, "ids")?, Out::new(out, "out")?) };
        out.write(ids.0.decrypt(public_id, given_version(version)?)?);
        Ok(())
    })
}

/// Writes the text of an encrypted id and a NUL: a digit for the version of the key, and the number in base32 or base62.
/// `form` is LEAFID_TEXT_FORM_BASE32 or LEAFID_TEXT_FORM_BASE62. `cap` is the size of `buf`: LEAFID_ID_TEXT_SIZE is
/// enough. A text that does not fit is not cut.
///
/// Errors: LEAFID_INVALID_ARGUMENT for an id below 1, for another form, and for a `buf` that is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_public_ids_format(
    ids: *const leafid_public_ids,
    id: i64,
    form: i32,
    buf: *mut c_char,
    cap: usize,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let ids = unsafe { shared(ids, "ids") }?;
        let text = ids.0.format_id(id, text_form::parse(form)?)?;
        // SAFETY: the caller's duty, said in the header: `buf` has `cap` writable bytes.
        unsafe { write_id_text(&text, buf, cap) }
    })
}

/// Reads the id of a text that leafid_public_ids_format wrote, with the key of its version.
///
/// Errors: LEAFID_INVALID_ARGUMENT for another text, for another form, and for a version without a key.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_public_ids_parse(
    ids: *const leafid_public_ids,
    text: *const c_char,
    form: i32,
    out: *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (ids, text, out) =
            unsafe { (shared(ids, "ids")?, text::read(text, "text")?, Out::new(out, "out")?) };
        out.write(ids.0.parse_id(text, text_form::parse(form)?)?);
        Ok(())
    })
}

/// Overwrites the keys and frees them. Call it once, when no thread uses `ids` any more. NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_public_ids_free(ids: *mut leafid_public_ids) {
    if !ids.is_null() {
        // SAFETY: made by this file and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(ids) }));
    }
}

fn made(key: PublicIdKey, version: i64) -> Result<*mut leafid_public_ids> {
    let ids = PublicIds::new(key, given_version(version)?)?;
    Ok(Box::into_raw(Box::new(leafid_public_ids(ids))))
}

/// # Safety
/// `key` is NULL or has `length` readable bytes.
unsafe fn given_key(key: *const u8, length: usize) -> Result<PublicIdKey> {
    if key.is_null() {
        return Err(Error::invalid("key", "NULL", "16, 24 or 32 bytes"));
    }
    // SAFETY: the caller's duty.
    PublicIdKey::new(unsafe { slice::from_raw_parts(key, length) })
}

/// Checks a number that may not fit the host's type. The host checks the rest.
fn given_version(version: i64) -> Result<u32> {
    u32::try_from(version).map_err(|_| Error::invalid("version", version, "0 to 31"))
}
