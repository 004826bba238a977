//! Pointers from C, with the possible checks: NULL and alignment.

use leafid::{Error, Result};

/// The target of `pointer`. `name` is its name for the caller.
///
/// # Safety
/// When not NULL and aligned, it points to a live `T` that does not change during `'a`.
#[inline(always)]
pub(crate) unsafe fn shared<'a, T>(pointer: *const T, name: &str) -> Result<&'a T> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(wrong(pointer.cast(), name));
    }
    // SAFETY: neither NULL nor misaligned; live by the caller's duty.
    Ok(unsafe { &*pointer })
}

/// As [`shared`], but mutable.
///
/// # Safety
/// When not NULL and aligned, it points to a live `T` that no other code uses during `'a`.
#[inline(always)]
pub(crate) unsafe fn unique<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(wrong(pointer.cast_const().cast(), name));
    }
    // SAFETY: neither NULL nor misaligned; live and not shared by the caller's duty.
    Ok(unsafe { &mut *pointer })
}

/// The place of a result. Its old content need not be a valid `T`.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// When not NULL and aligned, `pointer` has room for a `T` until the result is written.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *mut T, name: &str) -> Result<Out<T>> {
        if pointer.is_null() || !pointer.is_aligned() {
            return Err(wrong(pointer.cast_const().cast(), name));
        }
        Ok(Out(pointer))
    }

    /// Writes the result. It consumes the place, because a result is written once, on success.
    #[inline(always)]
    pub(crate) fn write(self, value: T) {
        // SAFETY: neither NULL nor misaligned, and writable by the duty of `new`.
        unsafe { self.0.write(value) }
    }

    /// The place itself, for more than one `T`.
    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0
    }
}

#[cold]
fn wrong(pointer: *const (), name: &str) -> Error {
    let value = if pointer.is_null() { "NULL".to_owned() } else { format!("{pointer:p}, misaligned") };
    Error::invalid(name, value, "a valid pointer")
}
