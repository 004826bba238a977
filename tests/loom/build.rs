//! Copies the sources that are modelled, word for word but for what loom asks for, and makes the mutants of them.
//!
//! So the shipped sources know nothing of loom. Each change names a text, and how often it occurs: where a source
//! moves on, the build says which change is to be written anew.

#[path = "changes.rs"]
mod changes;
#[path = "copies.rs"]
mod copies;

use changes::{FOR_LOOM, HOSTS, MUTANTS};
use copies::{changed, name_of, read, write};
use std::env;
use std::fmt::Write;
use std::path::PathBuf;

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let core = root.join("core/src");
    println!("cargo::rerun-if-changed={}", core.display());

    let list =
        copies::core_list(&core, |file, place| write(&out, place, &for_loom(file, read(&core.join(file)))));
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
    let atomics = text.lines().filter(|line| line.contains("sync::atomic") && !line.contains("loom"));
    let atomics = atomics.filter(|line| !line.ends_with("as statistics;")).count();
    assert!(atomics == 0, "{file} has atomics that are not loom's: name the file in tests/loom/changes.rs");
    text
}
