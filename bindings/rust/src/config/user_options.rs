//! The options of a builder as the user set them.

use leafid_core::Result;
use leafid_core::options::{Environment, OptionOf, OptionValue, OptionValues, milliseconds};
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
    /// Paths as the system has them.
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) state_dir: Option<PathBuf>,
    pub(crate) max_wait_ms: Option<i64>,
}

impl<C> UserOptions<C> {
    /// Sets a value of the kind that the option has.
    pub(crate) fn set(&mut self, name: &str, value: OptionValue) {
        let set = self.values.set(name, value);
        debug_assert!(set.is_ok(), "{set:?}");
    }

    pub(crate) fn set_headers<K: Into<String>, V: Into<String>>(
        &mut self,
        headers: impl IntoIterator<Item = (K, V)>,
    ) {
        let headers = headers.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.set("headers", OptionValue::Headers(headers.collect()));
    }

    pub(crate) fn set_ca_file(&mut self, file: PathBuf) {
        self.set("ca_file", path(&file));
        self.ca_file = Some(file);
    }

    pub(crate) fn set_state_dir(&mut self, directory: PathBuf) {
        self.set("state_dir", path(&directory));
        self.state_dir = Some(directory);
    }

    /// The longest wait that a call of the handle accepts. Errors: `invalid_argument`.
    pub(crate) fn max_wait(&self) -> Result<Option<Duration>> {
        self.max_wait_ms.map(|ms| milliseconds("max_wait_ms", ms, 0)).transpose()
    }
}

/// For the checks.
fn path(path: &Path) -> OptionValue {
    OptionValue::Path(path.as_os_str().as_encoded_bytes().to_vec())
}

impl<C: UserCode> Default for UserOptions<C> {
    fn default() -> UserOptions<C> {
        UserOptions {
            values: OptionValues::new(C::OF),
            code: C::default(),
            ca_file: None,
            state_dir: None,
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
