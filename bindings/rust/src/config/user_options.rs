//! The options of a builder as the user set them.

use crate::config::http_options::opened;
use leafid_core::options::{
    Environment, OptionKind, OptionOf, OptionRow, OptionValue, OptionValues, milliseconds, shown_path,
};
use leafid_core::{Error, Result};
use std::cell::Cell;
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
        match (OptionRow::find(C::OF, name)?.kind, value) {
            (OptionKind::Path, OptionValue::Text(text)) => self.set_path(name, text.into()),
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

    /// The path that was set, or else that of the option's variable, if that is not empty.
    pub(crate) fn path_or_variable(&self, name: &str) -> Option<PathBuf> {
        let set =
            || std::env::var_os(OptionRow::find(C::OF, name).ok()?.variable?).filter(|path| !path.is_empty());
        self.path(name).map(Path::to_owned).or_else(|| set().map(PathBuf::from))
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

/// Passes the environment of this process to a check. Errors: those of the check; `invalid_argument` if it needs the file
/// `LEAFID_TOKEN_FILE`, which cannot be read.
pub(crate) fn with_environment<T>(
    host_name: &str,
    check: impl FnOnce(&Environment<'_>) -> Result<T>,
) -> Result<T> {
    let unreadable = Cell::new(None);
    let variable = |name: &str| {
        let found = std::env::var_os(name).map(OsString::into_encoded_bytes);
        if name != "LEAFID_TOKEN" || found.as_ref().is_some_and(|token| !token.is_empty()) {
            return found;
        }
        let path = std::env::var_os(TOKEN_FILE).filter(|path| !path.is_empty())?;
        let read = move || token_of(TOKEN_FILE, Path::new(&path));
        opened(TOKEN_FILE, read).map(String::into_bytes).map_err(|error| unreadable.set(Some(error))).ok()
    };
    let checked = check(&Environment { variable: &variable, host_name });
    unreadable.take().map_or(checked, Err)
}

const TOKEN_FILE: &str = "LEAFID_TOKEN_FILE";

/// The token in a file, without the white space around it. `said`: what names the file. Errors: `invalid_argument`.
pub(crate) fn token_of(said: &str, path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let allowed = format!("a file that can be read ({error})");
        Error::invalid(said, format!("{:?}", shown_path(&path.to_string_lossy())), &allowed)
    })?;
    Ok(text.trim().to_owned())
}
