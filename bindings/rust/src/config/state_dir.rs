//! The choice of the state directory.

use crate::os::disk::is_writable;
use leafid_core::options::{Named, allowed};
use leafid_core::{Code, Error, Result};
use std::path::{Path, PathBuf};

/// The state directory: the option, LEAFID_STATE_DIR, systemd's STATE_DIRECTORY, /var/lib/leafid if writable, else the
/// user's own state directory. Also whether the option or a variable named it.
pub(crate) fn state_dir(option: Option<&Path>) -> Result<(PathBuf, bool)> {
    let (said, path) = match option {
        Some(path) => ("state_dir", path.to_owned()),
        None => match named_by_environment() {
            Some(named) => named,
            None => return Ok((default_dir()?, false)),
        },
    };
    if path.as_os_str().is_empty() || path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(Error::invalid(said, format!("{path:?}"), allowed("state_dir")));
    }
    std::path::absolute(&path)
        .map(|path| (path, true))
        .map_err(|error| Error::invalid(said, format!("{path:?} ({error})"), allowed("state_dir")))
}

/// The option or the variable that names the state directory; `None` for a default.
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "for the command line"))]
pub(crate) fn named_by(option: Option<&Path>) -> Option<&'static str> {
    match option {
        Some(_) => Some("state_dir"),
        None => named_by_environment().map(|(variable, _)| variable),
    }
}

fn named_by_environment() -> Option<(&'static str, PathBuf)> {
    if let Some(path) = std::env::var_os("LEAFID_STATE_DIR") {
        return Some(("LEAFID_STATE_DIR", path.into()));
    }
    // systemd separates several with colons; the first is the unit's main one. systemd.exec(5)
    let paths = std::env::var_os("STATE_DIRECTORY")?;
    std::env::split_paths(&paths).next().map(|path| ("STATE_DIRECTORY", path))
}

/// The directory for all users of the host.
#[cfg(unix)]
fn shared_dir() -> PathBuf {
    "/var/lib/leafid".into()
}

/// Any user may create it there, and then no other user can open its files. So an administrator has to create it.
#[cfg(windows)]
fn shared_dir() -> PathBuf {
    PathBuf::from(std::env::var_os("ProgramData").unwrap_or_else(|| r"C:\ProgramData".into())).join("leafid")
}

fn default_dir() -> Result<PathBuf> {
    let shared = shared_dir();
    let creatable = || cfg!(unix) && !shared.exists() && shared.parent().is_some_and(is_writable);
    if is_writable(&shared) || creatable() {
        return Ok(shared);
    }
    dirs::state_dir().or_else(dirs::data_local_dir).map(|dir| dir.join("leafid")).ok_or_else(|| {
        let (shared, option) = (shared.display(), Named("state_dir"));
        let message = format!("{shared} is not writable and the user has no home directory; set {option}");
        Error::new(Code::StateIo, message)
    })
}
