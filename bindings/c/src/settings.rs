//! The common part of the options of snowflakes and segments.

use crate::guard::guard;
use crate::pointer::unique;
use crate::{leafid_status, text};
use leafid::{Error, OPTIONS, OptionKind, OptionValue, Result, allowed};
use std::ffi::c_char;

/// Options that setters change.
pub(crate) trait Options {
    /// Sets an option of the host's builder by its name.
    fn set_value(&mut self, name: &str, value: OptionValue) -> Result<()>;

    /// The place of the first error of a setter.
    fn first_error(&mut self) -> &mut Option<Error>;
}

/// A value as C passes it.
pub(crate) enum Given {
    Int(i64),
    /// 1 or 0.
    Flag(i32),
    Text(*const c_char),
    /// A number of an enum that has the words of the table of options in their order.
    Word(i32),
}

/// The setter of an option that has one value.
///
/// # Safety
/// As of [`change`], and a text is NULL or ends with a NUL.
pub(crate) unsafe fn set<O: Options>(options: *mut O, name: &str, given: Given) -> leafid_status {
    // SAFETY: the caller's duty.
    unsafe {
        change(options, |options| {
            let value = match given {
                Given::Int(number) => OptionValue::Int(number),
                Given::Flag(number) => OptionValue::Flag(flag(name, number)?),
                Given::Text(text) => OptionValue::Text(text::read(text, name)?.into()),
                Given::Word(number) => OptionValue::Text(word(name, number)?.into()),
            };
            options.set_value(name, value)
        })
    }
}

/// The common part of all setters. `change` fails before it changes anything.
///
/// # Safety
/// When not NULL, `options` is live, and no other code uses it.
pub(crate) unsafe fn change<O: Options>(
    options: *mut O,
    change: impl FnOnce(&mut O) -> Result<()>,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty.
        let options = unsafe { unique(options, "options") }?;
        change(options).inspect_err(|error| {
            options.first_error().get_or_insert_with(|| error.clone());
        })
    })
}

/// Converts C's true and false.
pub(crate) fn flag(name: &str, value: i32) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Error::invalid(name, other, "0 or 1")),
    }
}

fn word(name: &str, number: i32) -> Result<&'static str> {
    let words = OPTIONS.iter().find(|row| row.name == name).map_or(&[][..], |row| match row.kind {
        OptionKind::Word(words) => words,
        _ => &[],
    });
    let word = usize::try_from(number).ok().and_then(|at| words.get(at));
    word.copied().ok_or_else(|| Error::invalid(name, number, allowed(name)))
}
