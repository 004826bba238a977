//! The choice of the state directory.

use crate::os::disk::may_write;
use leafid_core::options::{Named, allowed};
use leafid_core::{Code, Error, Result};
use std::io::ErrorKind;
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
    let creatable =
        || Ok(cfg!(unix) && !shared.exists() && shared.parent().map_or(Ok(false), is_writable)?);
    // In this order: another process may make it in between.
    if creatable()? || is_writable(&shared)? {
        return Ok(shared);
    }
    dirs::state_dir().or_else(dirs::data_local_dir).map(|dir| dir.join("leafid")).ok_or_else(|| {
        let (shared, option) = (shared.display(), Named("state_dir"));
        let message = format!("{shared} is not writable and the user has no home directory; set {option}");
        Error::new(Code::StateIo, message)
    })
}

/// False only if that lasts: another directory knows nothing of the ids that were made with the records in this one.
fn is_writable(directory: &Path) -> Result<bool> {
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    match may_write(directory).map_err(|error| (error.kind(), error)) {
        Ok(()) => Ok(true),
        Err((PermissionDenied | ReadOnlyFilesystem | NotFound | NotADirectory, _)) => Ok(false),
        Err((_, error)) => {
            let (path, option) = (directory.display(), Named("state_dir"));
            let message =
                format!("whether {path} is writable cannot be told: {error}; mend it, or set {option}");
            Err(Error::new(Code::StateIo, message))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_what_lasts_says_that_a_directory_is_not_writable() {
        let base = tempfile::tempdir().unwrap();
        let (file, itself) = (base.path().join("file"), base.path().join("itself"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&itself, &itself).unwrap();
        assert!(is_writable(base.path()).unwrap());
        assert!(!is_writable(&file.join("below")).unwrap());
        assert!(!is_writable(&base.path().join("none")).unwrap());
        let error = is_writable(&itself).unwrap_err();
        assert_eq!(error.code(), Code::StateIo);
        assert!(error.to_string().contains(itself.to_str().unwrap()), "{error}");
    }
}
