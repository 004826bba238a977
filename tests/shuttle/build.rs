//! Copies the sources that are modelled, word for word but for what stands for threads, locks and time, and makes the
//! mutants of them. The shipped sources know nothing of shuttle.

#[path = "changes.rs"]
mod changes;
#[allow(dead_code, reason = "tests/loom copies the core")]
#[path = "../loom/copies.rs"]
mod copies;

use changes::{Change, FAKES, FOLDERS, HOSTS, MUTANTS, OF_A_TREE, SEGMENTS, WORLD, WORLD_OF};
use copies::{changed, name_of, read, write};
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let host = here.join("../../bindings/rust/src");
    println!("cargo::rerun-if-changed={}", here.display());
    println!("cargo::rerun-if-changed={}", host.display());

    for file in HOSTS {
        let module = name_of(file).trim_end_matches(".rs");
        let copy = write(&out, &format!("host/{file}"), &for_shuttle(name_of(file), read(&host.join(file))));
        write(&out, name_of(file), &format!("#[path = {copy:?}]\npub(crate) mod {module};\n"));
    }

    // The segments as they are, and once more with what breaks them.
    let list = tree(&here, &host, &out, "sound", &[]) + &tree(&here, &host, &out, "mutants", MUTANTS);
    write(&out, "segments.rs", &list);
}

/// Writes the segments and what fetches them, changed so, and answers how they are declared.
fn tree(here: &Path, host: &Path, out: &Path, name: &str, changes: &[(&str, Change)]) -> String {
    let models = format!("#[path = {:?}]\npub mod models;\n", here.join("src/models.rs"));
    let mut lists = BTreeMap::<String, String>::from([(String::new(), models)]);
    let mut declare = |module: &str, path: Option<PathBuf>| {
        let (folder, module) = module.rsplit_once('/').unwrap_or(("", module));
        let list = lists.entry(folder.to_owned()).or_default();
        if let Some(path) = path {
            writeln!(list, "#[path = {path:?}]").unwrap();
        }
        writeln!(list, "pub(crate) mod {module};").unwrap();
    };
    for folder in FOLDERS {
        declare(folder, None);
    }
    for fake in FAKES {
        declare(&format!("segments/{fake}"), Some(here.join(format!("src/fakes/{}.rs", name_of(fake)))));
    }
    for module in SEGMENTS {
        let file = format!("{module}.rs");
        let text = all_changed(&file, for_shuttle(&file, read(&host.join(&file))), changes);
        // Each tree names its own.
        let text = OF_A_TREE
            .iter()
            .fold(text, |text, of| text.replace(of, &of.replace("crate::", &format!("crate::{name}::"))));
        write(out, &format!("{name}/{file}"), &text);
        // What is deeper its file declares.
        if FOLDERS.iter().any(|folder| module.rsplit_once('/').is_some_and(|(its, _)| its == *folder)) {
            declare(module, None);
        }
    }
    for (folder, list) in lists {
        write(out, &format!("{name}/{folder}/mod.rs"), &list);
    }
    format!("#[path = {:?}]\npub mod {name};\n", out.join(name).join("mod.rs"))
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
