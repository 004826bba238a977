//! What several services of Windows need: times, text in UTF-16, and the registry.

use std::ffi::OsStr;
use std::os::windows::ffi::OsStrExt;
use std::ptr;
use windows_sys::Win32::Foundation::{ERROR_SUCCESS, FILETIME};
use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, REG_ROUTINE_FLAGS, RRF_RT_REG_DWORD, RRF_RT_REG_SZ, RegGetValueW,
};

/// From 1601 to 1970.
const UNIX_EPOCH_S: i64 = 11_644_473_600;

/// Unix milliseconds of a time of Windows, which counts hundreds of nanoseconds.
#[inline]
pub(super) fn unix_ms(hundreds: i64) -> i64 {
    (hundreds - UNIX_EPOCH_S * 10_000_000).div_euclid(10_000)
}

/// As [`unix_ms`].
#[inline]
pub(super) fn file_time_ms(time: FILETIME) -> i64 {
    unix_ms(i64::from(time.dwHighDateTime) << 32 | i64::from(time.dwLowDateTime))
}

/// In UTF-16, with a zero at the end.
pub(super) fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// Text up to its first zero.
pub(super) fn narrow(text: &[u16]) -> String {
    String::from_utf16_lossy(text.split(|&unit| unit == 0).next().unwrap_or_default())
}

/// A text below HKEY_LOCAL_MACHINE.
pub(super) fn registry_text(key: &str, value: &str) -> Option<String> {
    let mut text = [0_u16; 128];
    let bytes = read_registry(key, value, RRF_RT_REG_SZ, text.as_mut_ptr().cast(), size_of_val(&text))?;
    Some(narrow(&text[..bytes / 2]))
}

/// A number below HKEY_LOCAL_MACHINE.
pub(super) fn registry_number(key: &str, value: &str) -> Option<u32> {
    let mut number = 0_u32;
    read_registry(key, value, RRF_RT_REG_DWORD, (&raw mut number).cast(), size_of::<u32>())?;
    Some(number)
}

/// The number of bytes that were written. `into` has room for `size` bytes.
fn read_registry(
    key: &str,
    value: &str,
    kind: REG_ROUTINE_FLAGS,
    into: *mut core::ffi::c_void,
    size: usize,
) -> Option<usize> {
    let (key, value, mut size) = (wide(key), wide(value), u32::try_from(size).ok()?);
    // SAFETY: both texts end with a zero, and at most `size` bytes are written.
    let result = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            value.as_ptr(),
            kind,
            ptr::null_mut(),
            into,
            &raw mut size,
        )
    };
    (result == ERROR_SUCCESS).then_some(size as usize)
}
