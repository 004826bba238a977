//! What each rule finds in the sources of a crate.

use super::graph::circles;
use super::sources::{Crate, SENTENCE};
use crate::{AT_FORK, LAYERS, LONGEST, PAGES, SPREAD, STEMS, SYSTEMS};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A layer's own file hands on what its folder holds; what is below a file belongs to it.
fn file_of(module: &str) -> String {
    let deep = if module.starts_with("segments/source/") { 3 } else { 2 };
    module.split('/').take(deep).collect::<Vec<_>>().join("/")
}

fn layer(module: &str) -> &str {
    module.split('/').next().unwrap_or(module)
}

/// Whether the file stands for others of its name, each on its own system.
pub(crate) fn is_of_a_system(module: &str) -> bool {
    layer(module) == "os" && SYSTEMS.contains(&module.rsplit('/').next().unwrap_or(module))
}

pub(crate) fn of_any_crate(name: &str, sources: &Crate) -> Vec<String> {
    let mut found = Vec::new();
    let mut files = BTreeMap::<String, BTreeSet<String>>::new();
    for (from, to) in &sources.imports() {
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
            found.push(format!("long: {name}: {module}: {}", source.lines));
        }
        if is_of_a_system(module) {
            continue;
        }
        for named in &source.types {
            types.entry(named).or_default().push(module);
        }
        let stem = module.rsplit('/').next().unwrap_or(module);
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
    let is_listed = |of: &str, file: &str| SPREAD.iter().any(|each| (each.0, each.1) == (of, file));
    let spread = sources.spread_types().into_iter().filter(|(of, file)| !is_listed(of, file));
    found.extend(spread.map(|(of, file)| format!("spread: {name}: {of}: {file}")));
    found
}

/// What is imported against these layers, and what is in none of them.
pub(crate) fn undue_imports(sources: &Crate, layers: &[(&str, &[&str])]) -> Vec<String> {
    let mut found = Vec::new();
    for (from, to) in sources.imports() {
        let Some((_, allowed)) = layers.iter().find(|(name, _)| *name == layer(&from)) else {
            if !["", "quiesce"].contains(&from.as_str()) {
                found.push(format!("no layer: {from}"));
            }
            continue;
        };
        for to in to {
            if layer(&to) != layer(&from) && !to.is_empty() && !allowed.contains(&layer(&to)) {
                found.push(format!("import: {from} -> {to}"));
            }
        }
    }
    found
}

pub(crate) fn of_the_host(sources: &Crate) -> Vec<String> {
    let mut found = undue_imports(sources, LAYERS);
    let unsafe_files =
        sources.files.iter().filter(|(module, source)| source.is_unsafe && layer(module) != "os");
    found.extend(unsafe_files.map(|(module, _)| format!("unsafe: {module}")));
    found
}

/// What the drivers of the core's machines, in these folders, decide by themselves: codes and sentences of errors, and
/// durations.
pub(crate) fn decisions<'s>(sources: &'s Crate, drivers: &[&str]) -> BTreeSet<(&'s str, &'s str)> {
    let parts = ["Code::", "Error::new(", "Error::invalid(", "Duration::from_", SENTENCE];
    let drivers = sources.files.iter().filter(|(module, _)| drivers.contains(&layer(module)));
    let lines = drivers
        .flat_map(|(module, source)| source.lines_with(&parts).map(move |line| (module.as_str(), line)));
    lines.collect()
}

/// Decisions that are not listed, and listed ones that are not made.
pub(crate) fn undue_decisions(
    decisions: BTreeSet<(&str, &str)>,
    listed: &[(&str, &str, &str)],
) -> Vec<String> {
    let (mut found, mut used) = (Vec::new(), BTreeSet::<&(&str, &str, &str)>::new());
    for (module, line) in decisions {
        let owned: Vec<_> =
            listed.iter().filter(|(of, part, _)| *of == module && line.contains(part)).collect();
        if owned.is_empty() {
            found.push(format!("decides: {module}: {line}"));
        }
        used.extend(owned);
    }
    let unused = listed.iter().filter(|owned| !used.contains(owned));
    found.extend(unused.map(|(module, part, _)| format!("not decided: {module}: {part}")));
    found
}

/// The files of these folders, in languages other than Rust, that are too long.
pub(crate) fn long_files(root: &Path, folders: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let file = format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy());
            let is_source = ["h", "hpp", "js", "mjs", "ts", "py", "pyi"]
                .iter()
                .any(|end| file.ends_with(&format!(".{end}")));
            if !is_source || PAGES.iter().any(|(page, _)| *page == file) {
                continue;
            }
            let lines = fs::read_to_string(root.join(&file)).unwrap().lines().count();
            if lines > LONGEST {
                found.push(format!("long: {file}: {lines}"));
            }
        }
    }
    found
}
