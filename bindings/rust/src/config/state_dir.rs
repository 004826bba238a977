//! The choice of the state directory.

use leafid_core::options::allowed;
use leafid_core::{Code, Error, Result};
use rustix::fs::Access;
use std::path::{Path, PathBuf};

const SHARED: &str = "/var/lib/leafid";

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

fn default_dir() -> Result<PathBuf> {
    let shared = Path::new(SHARED);
    let parent = shared.parent().unwrap_or(shared);
    let writable = |path: &Path| rustix::fs::access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if writable(shared) || (!shared.exists() && writable(parent)) {
        return Ok(shared.to_owned());
    }
    dirs::state_dir().or_else(dirs::data_local_dir).map(|dir| dir.join("leafid")).ok_or_else(|| {
        Error::new(
            Code::StateIo,
            format!("{SHARED} is not writable and the user has no home directory; set state_dir"),
        )
    })
}
