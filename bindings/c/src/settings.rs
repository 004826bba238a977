//! What the options of both kinds of ids do alike.

use crate::guard::guard;
use crate::leafid_status;
use crate::pointer::unique;
use leafid::{Error, Result};

/// Options that setters change, and the first error that one met.
#[derive(Default)]
pub(crate) struct Settings<T> {
    wanted: T,
    first_error: Option<Error>,
}

impl<T> Settings<T> {
    /// What was set, or the first error a setter met.
    pub(crate) fn check(&self) -> Result<&T> {
        match &self.first_error {
            Some(error) => Err(error.clone()),
            None => Ok(&self.wanted),
        }
    }
}

/// What all setters do. `change` fails before it changes anything. `settings`: those of an options struct.
///
/// # Safety
/// When not NULL, `options` is live and used by nobody else.
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

/// What C passes for true and false.
pub(crate) fn flag(name: &str, value: i32) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Error::invalid(name, other, "0 or 1")),
    }
}
