//! Copies the sources that are modelled, word for word but for what stands for threads, locks and time, and makes the
//! mutants of them. The shipped sources know nothing of shuttle.

#[path = "changes.rs"]
mod changes;
#[path = "../loom/copies.rs"]
mod copies;

use changes::{Change, FAKES, HOSTS, MUTANTS, SEGMENTS, WORLD, WORLD_OF};
use copies::{changed, name_of, read, write};
use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let (core, host) = (here.join("../../core/src"), here.join("../../bindings/rust/src"));
    println!("cargo::rerun-if-changed={}", here.display());
    println!("cargo::rerun-if-changed={}", core.display());
    println!("cargo::rerun-if-changed={}", host.display());

    let list = copies::core_list(&core, |file| {
        write(&out, &format!("core/{file}"), &for_shuttle(file, read(&core.join(file))))
    });
    write(&out, "core.rs", &list);

    for file in HOSTS {
        let module = name_of(file).trim_end_matches(".rs");
        let copy = write(&out, &format!("host/{file}"), &for_shuttle(name_of(file), read(&host.join(file))));
        write(&out, name_of(file), &format!("#[path = {copy:?}]\npub(crate) mod {module};\n"));
    }

    // The segments as they are, and once more with what breaks them.
    let list = tree(&here, &host, &out, "sound", &[]) + &tree(&here, &host, &out, "mutants", MUTANTS);
    write(&out, "segments.rs", &list);
}

/// Writes the segments, changed so, and answers how they are declared.
fn tree(here: &Path, host: &Path, out: &Path, name: &str, changes: &[(&str, Change)]) -> String {
    let mut list = String::new();
    for module in SEGMENTS {
        let file = format!("{module}.rs");
        let text = for_shuttle(&file, read(&host.join("segments").join(&file)));
        let text = all_changed(&file, text, changes);
        write(out, &format!("{name}/{file}"), &text);
        if !module.contains('/') {
            writeln!(list, "pub(crate) mod {module};").unwrap();
        }
    }
    for fake in FAKES {
        let path = here.join(format!("src/fakes/{fake}.rs"));
        writeln!(list, "#[path = {path:?}]\npub(crate) mod {fake};").unwrap();
    }
    writeln!(list, "#[path = {:?}]\npub mod models;", here.join("src/models.rs")).unwrap();
    list += "pub(crate) type Wake = Box<dyn FnOnce() + Send>;\n";
    let path = write(out, &format!("{name}/mod.rs"), &list);
    format!("#[path = {path:?}]\npub mod {name};\n")
}

/// Has a source take threads, locks and time from `world.rs`.
fn for_shuttle(file: &str, text: String) -> String {
    let text = WORLD.iter().fold(text, |text, (from, to)| text.replace(from, to));
    all_changed(file, text, WORLD_OF)
}

fn all_changed(file: &str, text: String, changes: &[(&str, Change)]) -> String {
    let changes = changes.iter().filter(|(of, _)| *of == file).map(|(_, change)| change);
    changes.fold(text, |text, change| changed(file, text, change))
}
