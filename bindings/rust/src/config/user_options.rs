//! The options of a builder as the user set them.

use leafid_core::Result;
use leafid_core::options::{
    Environment, OptionKind, OptionOf, OptionRow, OptionValue, OptionValues, milliseconds,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the options of a kind hold besides values: code of the user's, which the core does not see.
pub(crate) trait UserCode: Default {
    const OF: OptionOf;
}

/// The unchecked values of a builder.
#[derive(Clone)]
pub(crate) struct UserOptions<C> {
    /// By the names of the core, which checks them.
    pub(crate) values: OptionValues,
    pub(crate) code: C,
    /// Paths as the system has them, by the names of their options.
    paths: BTreeMap<String, PathBuf>,
    pub(crate) max_wait_ms: Option<i64>,
}

impl<C: UserCode> UserOptions<C> {
    /// Errors: `invalid_argument` for an unknown name, and for a value of another kind.
    pub(crate) fn set(&mut self, name: &str, value: OptionValue) -> Result<()> {
        match (OptionRow::find(C::OF, name), value) {
            (Some(OptionRow { kind: OptionKind::Path, .. }), OptionValue::Text(text)) => {
                self.set_path(name, text.into())
            }
            (_, value) => self.values.set(name, value),
        }
    }

    /// As `set`.
    pub(crate) fn set_path(&mut self, name: &str, path: PathBuf) -> Result<()> {
        self.values.set(name, OptionValue::Path(path.as_os_str().as_encoded_bytes().to_vec()))?;
        self.paths.insert(name.into(), path);
        Ok(())
    }

    /// The path that was set.
    pub(crate) fn path(&self, name: &str) -> Option<&Path> {
        self.paths.get(name).map(PathBuf::as_path)
    }

    /// The longest wait that a call of the handle accepts. Errors: `invalid_argument`.
    pub(crate) fn max_wait(&self) -> Result<Option<Duration>> {
        self.max_wait_ms.map(|ms| milliseconds("max_wait_ms", ms, 0)).transpose()
    }
}

impl<C: UserCode> Default for UserOptions<C> {
    fn default() -> UserOptions<C> {
        UserOptions {
            values: OptionValues::new(C::OF),
            code: C::default(),
            paths: BTreeMap::new(),
            max_wait_ms: None,
        }
    }
}

/// Without values that may be secrets.
impl<C> fmt::Debug for UserOptions<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

/// Passes the environment of this process to a check.
pub(crate) fn with_environment<T>(host_name: &str, check: impl FnOnce(&Environment<'_>) -> T) -> T {
    let variable = |name: &str| std::env::var_os(name).map(OsString::into_encoded_bytes);
    check(&Environment { variable: &variable, host_name })
}
