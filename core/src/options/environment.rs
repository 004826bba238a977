//! The environment of a process, as options read it.

use super::allowed::allowed;
use super::checks::{Variable, flag};
use super::option_value::OptionValues;
use super::table::find;
use crate::quoted::QuotedBytes;
use crate::{Error, Result};
use alloc::string::String;
use alloc::vec::Vec;

/// What options read besides what the user set. Nothing of it is kept.
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    /// Looks a variable up; the bytes that the system has for its value.
    pub variable: &'e dyn Fn(&str) -> Option<Vec<u8>>,
    /// The name of the host, for `hostname:NAME`.
    pub host_name: &'e str,
}

/// A directory that the user named, or a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedDirectory {
    /// The name of the option or the variable.
    pub said: &'static str,
    /// Its path, in the bytes of the system.
    pub path: Vec<u8>,
}

impl Environment<'_> {
    /// Passes the variable of an option to a check.
    pub(crate) fn with_variable<T>(&self, option: &str, check: impl FnOnce(Option<Variable<'_>>) -> T) -> T {
        let Some((name, bytes)) = self.found(option) else { return check(None) };
        let text = core::str::from_utf8(&bytes).ok();
        check(Some(Variable { name, text, shown: &QuotedBytes(&bytes) }))
    }

    /// The name and the value of the variable of an option, if it is set.
    pub(crate) fn found(&self, option: &str) -> Option<(&'static str, Vec<u8>)> {
        let name = find(option)?.variable?;
        Some((name, (self.variable)(name)?))
    }

    /// The option, or else its variable. Errors: `invalid_argument` for another value of the variable.
    pub fn flag(&self, set: &OptionValues, option: &str) -> Result<bool> {
        self.with_variable(option, |variable| flag(set.flag(option), variable))
    }

    /// The state directory that the user named, or else `LEAFID_STATE_DIR`; `None` for one that the system names.
    ///
    /// Errors: `invalid_argument`.
    pub(crate) fn state_dir(&self, set: &OptionValues) -> Result<Option<NamedDirectory>> {
        let option = "state_dir";
        let named = match set.path(option) {
            Some(path) => Some((option, path.into())),
            None => self.found(option),
        };
        let Some((said, path)) = named else { return Ok(None) };
        if path.is_empty() || path.contains(&0) {
            return Err(Error::invalid(said, QuotedBytes(&path), allowed(option)));
        }
        Ok(Some(NamedDirectory { said, path }))
    }

    /// The value of the variable of an option, as text. What is no text is shown as such, and refused later.
    pub(crate) fn text(&self, option: &str) -> Option<(&'static str, String)> {
        let (name, bytes) = self.found(option)?;
        Some((name, String::from_utf8_lossy(&bytes).into_owned()))
    }
}
