//! Copies the sources that are modelled, word for word but for what loom asks for, and makes the mutants of them.
//!
//! So the shipped sources know nothing of loom. Each change names a text that must be there so many times: where a source
//! moves on, the build says which change is to be written anew.

#[path = "changes.rs"]
mod changes;

use changes::{Change, FOR_LOOM, HOSTS, MUTANTS};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let core = root.join("core/src");
    println!("cargo::rerun-if-changed={}", core.display());

    // The core: its list of modules, each from the copy. What a list may not begin with when included is left out.
    let mut list = String::new();
    for line in read(&core.join("lib.rs")).lines() {
        if line.starts_with("//!") || line.starts_with("#![") {
            continue;
        }
        if let Some(name) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
            let file = format!("{name}.rs");
            let text = for_loom(&file, read(&core.join(&file)));
            writeln!(list, "#[path = {:?}]", write(&out, &file, &text)).unwrap();
        }
        writeln!(list, "{line}").unwrap();
    }
    write(&out, "core.rs", &list);

    // Single sources of the host.
    let mut list = String::new();
    for file in HOSTS {
        let path = root.join("bindings/rust/src").join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = for_loom(name_of(file), read(&path));
        let copy = write(&out, name_of(file), &text);
        let module = name_of(file).trim_end_matches(".rs");
        writeln!(list, "#[path = {copy:?}]\npub mod {module};").unwrap();
    }
    write(&out, "host.rs", &list);

    let mut list = String::new();
    for (mutant, file, changes) in MUTANTS {
        let mut text = read(&out.join(file));
        for change in *changes {
            text = changed(&format!("mutant {mutant}"), text, change);
        }
        let copy = write(&out, &format!("{mutant}.rs"), &text);
        writeln!(list, "#[path = {copy:?}]\npub mod {mutant};").unwrap();
    }
    write(&out, "mutants.rs", &list);
}

fn for_loom(file: &str, text: String) -> String {
    let changes = FOR_LOOM.iter().filter(|(of, _)| *of == file).map(|(_, change)| change);
    let text = changes.fold(text, |text, change| changed(file, text, change));
    let atomics = text.lines().filter(|line| line.contains("sync::atomic") && !line.contains("loom")).count();
    assert!(atomics == 0, "{file} has atomics that are not loom's: name the file in tests/loom/changes.rs");
    text
}

fn changed(of: &str, text: String, (from, to, times): &Change) -> String {
    let found = text.matches(from).count();
    assert!(
        found == *times,
        "{of}: {from:?} is there {found} times, not {times}: mend tests/loom/changes.rs"
    );
    text.replace(from, to)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(out: &Path, file: &str, text: &str) -> PathBuf {
    let path = out.join(file);
    fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}
