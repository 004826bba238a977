//! What the build scripts of tests/loom and tests/shuttle share: both copy sources as they ship, and change a text here
//! and there.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The core's list of modules, each from the copy that `copied` makes of its file, in another place. What a list may not
/// begin with when included is left out.
pub fn core_list(core: &Path, mut copied: impl FnMut(&str, &str) -> PathBuf) -> String {
    let (text, mut list, mut before) = (read(&core.join("lib.rs")), String::new(), "");
    for line in text.lines() {
        if line.starts_with("//!") || line.starts_with("#![") {
            continue;
        }
        let module = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("mod ");
        // Parts behind a feature are left out.
        let is_left_out = before.starts_with("#[cfg(");
        before = line;
        if let Some(name) = module.and_then(|rest| rest.strip_suffix(';')).filter(|_| !is_left_out) {
            let (file, folder) = (format!("{name}.rs"), core.join(name));
            let mut place = file.clone();
            if folder.is_dir() {
                // A file that is named by a path finds its own modules beside it.
                place = format!("{name}/mod.rs");
                for entry in fs::read_dir(folder).unwrap() {
                    let inner = format!("{name}/{}", entry.unwrap().file_name().display());
                    copied(&inner, &inner);
                }
            }
            writeln!(list, "#[path = {:?}]", copied(&file, &place)).unwrap();
        }
        writeln!(list, "{line}").unwrap();
    }
    list
}

/// A text with another in place of one that must be there this many times.
pub fn changed(of: &str, text: String, (from, to, times): &(&str, &str, usize)) -> String {
    let found = text.matches(from).count();
    assert!(found == *times, "{of}: {from:?} is there {found} times, not {times}: mend changes.rs");
    text.replace(from, to)
}

pub fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn write(out: &Path, file: &str, text: &str) -> PathBuf {
    let path = out.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}
