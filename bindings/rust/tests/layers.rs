//! The layers of docs/DESIGN.md, held: which folder may import which, no circle between files, one name for one thing.
//!
//! Sources are read as text, without what only tests compile.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod layers {
    pub(crate) mod graph;
    pub(crate) mod sources;
}

use layers::graph::circles;
use layers::sources::{Crate, Imports, script_imports};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the files of each folder of the host may import besides their own folder and the core.
const LAYERS: &[(&str, &[&str])] = &[
    ("cli", &["snowflake", "segments", "worker", "config", "http", "tasks", "storage", "os"]),
    ("metrics", &["snowflake", "segments", "worker", "config", "http", "tasks", "storage", "os"]),
    ("snowflake", &["worker", "config", "tasks", "storage", "os"]),
    ("segments", &["config", "http", "tasks", "storage", "os"]),
    ("worker", &["config", "http", "tasks", "storage", "os"]),
    ("config", &["http", "tasks", "os"]),
    ("http", &["tasks", "os"]),
    ("tasks", &["os"]),
    ("storage", &["os"]),
    ("os", &[]),
];
/// Lines of a file that ships; its tests are not counted.
const LONGEST: usize = 500;
/// Names that several folders have for the same reason.
const STEMS: &[&str] = &[
    "builder",
    "errors",
    "file",
    "handle",
    "options",
    "settings",
    "source",
    "stats",
    "tests",
    "thread_local",
];

/// Files of a service that stand for one another, each on its own system. Their types have the same names.
const SYSTEMS: &[&str] = &["linux", "macos", "unix", "windows"];

/// These know each other: a child closes its parent's descriptors before it has a generation of its own.
const AT_FORK: &[&str] = &["os/inherited_fds", "os/per_process", "os/process"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A layer's own file hands on what its folder holds; what is below a file belongs to it.
fn file_of(module: &str) -> String {
    let deep = if module.starts_with("segments/source/") { 3 } else { 2 };
    module.split('/').take(deep).collect::<Vec<_>>().join("/")
}

fn layer(module: &str) -> &str {
    module.split('/').next().unwrap_or(module)
}

fn found() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, folder) in [
        ("core", "core/src"),
        ("rust", "bindings/rust/src"),
        ("c", "bindings/c/src"),
        ("python", "bindings/python/src"),
        ("node", "bindings/node/src"),
    ] {
        let sources = Crate::read(&root().join(folder));
        let imports = sources.imports();
        of_any_crate(name, &sources, &imports, &mut found);
        if name == "rust" {
            of_the_host(&sources, &imports, &mut found);
        }
    }
    let scripts = script_imports(&root().join("node/lib"));
    found.extend(circles(&scripts).concat().into_iter().map(|file| format!("circle: node/lib: {file}")));
    found
}

fn of_any_crate(name: &str, sources: &Crate, imports: &Imports, found: &mut BTreeSet<String>) {
    let mut files = BTreeMap::<String, BTreeSet<String>>::new();
    for (from, to) in imports {
        let its = files.entry(file_of(from)).or_default();
        its.extend(to.iter().map(|to| file_of(to)).filter(|to| !to.is_empty()));
    }
    // The list of modules, which hands on what they hold.
    files.remove("");
    let circles = circles(&files)
        .into_iter()
        .filter(|circle| !circle.iter().all(|file| AT_FORK.contains(&file.as_str())));
    found.extend(circles.flatten().map(|file| format!("circle: {name}: {file}")));

    let (mut types, mut stems) = (BTreeMap::<&str, Vec<&str>>::new(), BTreeMap::<&str, Vec<&str>>::new());
    for (module, source) in &sources.files {
        if source.lines > LONGEST {
            found.insert(format!("long: {name}: {module}"));
        }
        let stem = module.rsplit('/').next().unwrap_or(module);
        if layer(module) == "os" && SYSTEMS.contains(&stem) {
            continue;
        }
        for named in &source.types {
            types.entry(named).or_default().push(module);
        }
        // The file of the type that a folder is about has the folder's name.
        let is_main = module.rsplit('/').nth(1) == Some(stem);
        if !STEMS.contains(&stem) && !is_main && layer(module) != "cli" {
            stems.entry(stem).or_default().push(module);
        }
    }
    for (what, names) in [("type", types), ("stem", stems)] {
        let twice = names.into_iter().filter(|(_, places)| places.len() > 1);
        found.extend(twice.map(|(named, places)| format!("{what}: {name}: {named}: {}", places.join(" "))));
    }
}

fn of_the_host(sources: &Crate, imports: &Imports, found: &mut BTreeSet<String>) {
    for (from, to) in imports {
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == layer(from)) else { continue };
        for to in to {
            if layer(to) != layer(from) && !to.is_empty() && !allowed.contains(&layer(to)) {
                found.insert(format!("import: {from} -> {to}"));
            }
        }
    }
    for (module, source) in &sources.files {
        if source.is_unsafe && layer(module) != "os" {
            found.insert(format!("unsafe: {module}"));
        }
        let known = LAYERS.iter().any(|(name, _)| *name == layer(module));
        if !known && !["", "lib", "quiesce", "fuzzing", "bin/leafid"].contains(&module.as_str()) {
            found.insert(format!("no layer: {module}"));
        }
    }
}

#[test]
fn each_file_imports_only_what_its_layer_may() {
    assert_eq!(found(), BTreeSet::new());
}

#[test]
fn circles_are_found() {
    let named = |text: &str| text.split(' ').map(str::to_owned).collect::<BTreeSet<_>>();
    let files = [("a", "b"), ("b", "c d"), ("c", "a"), ("d", "e"), ("e", "")];
    let files = files.map(|(from, to)| (from.to_owned(), named(to))).into();
    assert_eq!(circles(&files), [["a", "b", "c"]]);
}
