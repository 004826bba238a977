//! The common part of the options of snowflakes and segments.

use crate::guard::guard;
use crate::leafid_status;
use crate::pointer::unique;
use leafid::{Error, Result};

/// Options that setters change, and the first error of a setter.
#[derive(Default)]
pub(crate) struct Settings<T> {
    wanted: T,
    first_error: Option<Error>,
}

impl<T> Settings<T> {
    /// The options, or the first error of a setter.
    pub(crate) fn check(&self) -> Result<&T> {
        match &self.first_error {
            Some(error) => Err(error.clone()),
            None => Ok(&self.wanted),
        }
    }
}

/// The common part of all setters. `change` fails before it changes anything. `settings` returns those of an options
/// struct.
///
/// # Safety
/// When not NULL, `options` is live, and no other code uses it.
pub(crate) unsafe fn set<O, T>(
    options: *mut O,
    settings: impl FnOnce(&mut O) -> &mut Settings<T>,
    change: impl FnOnce(&mut T) -> Result<()>,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty.
        let settings = settings(unsafe { unique(options, "options") }?);
        change(&mut settings.wanted).inspect_err(|error| {
            settings.first_error.get_or_insert_with(|| error.clone());
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
