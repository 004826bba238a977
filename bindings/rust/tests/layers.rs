//! The layers of CONTRIBUTING.md, held: which folder may import which, no circle between files, one name for one thing,
//! no file too long, no type in parts. Sources are read as text, without what only tests compile.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod layers {
    pub(crate) mod breaks;
    pub(crate) mod graph;
    pub(crate) mod owned;
    pub(crate) mod rules;
    pub(crate) mod sources;
}

use layers::graph::circles;
use layers::owned::{OWNED, SCRIPT_DRIVERS, SCRIPT_OWNED, SERVER_OWNED};
use layers::rules::{decisions, long_files, of_any_crate, of_the_host, undue_decisions, undue_imports};
use layers::sources::{Crate, script_decisions, script_imports};
use std::collections::BTreeSet;
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
    ("testing", &[]),
];
/// As [`LAYERS`], of the id server.
const SERVER_LAYERS: &[(&str, &[&str])] = &[
    (
        "commands",
        &[
            "access",
            "clock",
            "dots",
            "holder",
            "http",
            "lease_rules",
            "leases",
            "options",
            "scope",
            "snowflake",
            "store",
            "traces",
        ],
    ),
    (
        "http",
        &[
            "access",
            "clock",
            "dots",
            "holder",
            "ids",
            "lease_rules",
            "leases",
            "options",
            "pem",
            "scope",
            "snowflake",
            "store",
            "table_set",
            "tags",
            "table_set",
            "traces",
        ],
    ),
    ("access", &["clock", "options", "pem", "scope", "toml_file"]),
    ("tags", &["caught", "clock", "dots", "ids", "options", "store", "table_set", "traces"]),
    ("snowflake", &["caught", "clock", "holder", "ids", "lease_rules", "leases", "options"]),
    ("leases", &["clock", "lease_rules", "store"]),
    ("dots", &["options", "store"]),
    ("store", &["clock", "exchange", "holder", "lease_rules", "pem", "traces"]),
    ("options", &["lease_rules", "pem", "scope", "toml_file"]),
    ("traces", &["exchange", "pem"]),
    ("caught", &[]),
    ("exchange", &[]),
    ("clock", &[]),
    ("lease_rules", &[]),
    ("holder", &[]),
    ("pem", &[]),
    ("toml_file", &["pem"]),
    ("scope", &[]),
    ("ids", &[]),
    ("table_set", &[]),
];
/// Lines of a file that ships, with comments and blank ones. Tests at its end are not counted.
const LONGEST: usize = 500;
/// Names that the core exports at its root. All others are those of a folder.
const ROOT_NAMES: usize = 45;
/// Declarations for users, each one page, and longer than that.
const PAGES: &[(&str, &str)] = &[
    ("include/leafid.h", "generated, with the whole contract of the C library"),
    ("include/leafid.hpp", "header-only: a C++ user copies one file"),
    ("node/index.d.ts", "TypeScript reads the package's types from one file"),
    ("python/leafid/_leafid.pyi", "it has the docstrings of the native module"),
];
/// Types whose methods are in several files of a crate, spread by subject, not for length: the type, the further file,
/// and its subject.
const SPREAD: &[(&str, &str, &str)] = &[
    ("Layout", "id", "ids: compose, decode and parse"),
    ("Layout", "presets", "the layouts of well-known programs"),
    ("Layout", "snowflake/lease", "what a lease source may return for a layout"),
    ("RunOrder", "run/order_calls", "the calls: which one is next, and where its end goes"),
    ("RunOrder", "run/order_end", "the close, and what is still given back after it"),
    ("RunOrder", "run/order_leases", "whose a lease is, among the runs of a process"),
    ("RunOrder", "run/order_loss", "a lost lease, and the claims of another one"),
    ("Record", "snowflake/history", "former and skipped spans, which a reset needs"),
    ("Segment", "segment/pending", "lists of segments: joined ones, without a type of their own"),
    ("Env", "os/disk", "the system's environment; os/env names no system"),
    ("Snowflake", "snowflake/batch", "many ids at once"),
    ("Snowflake", "snowflake/builder", "builder() stands with what it returns"),
    ("Snowflake", "snowflake/next_run", "next_run() stands with what it returns"),
    ("Snowflake", "snowflake/thread_local", "local() and iter() stand with what they return"),
    ("Segments", "segments/builder", "builder() stands with what it returns"),
    ("Tag", "segments/reserved_run", "take_run() stands with what it returns"),
    ("Tag", "segments/tag_calls", "calls for ids, by PendingTake, which knows the handle"),
    ("Tag", "segments/thread_local", "local() stands with what it returns"),
];
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

#[test]
fn each_file_keeps_the_rules() {
    let (mut found, mut spread) = (BTreeSet::new(), BTreeSet::new());
    for (name, folder) in [
        ("core", "core/src"),
        ("rust", "bindings/rust/src"),
        ("c", "bindings/c/src"),
        ("c_core", "bindings/c_core/src"),
        ("python", "bindings/python/src"),
        ("node", "bindings/node/src"),
        ("java", "bindings/java/src"),
        ("wasm", "bindings/wasm/src"),
        ("server", "server/src"),
    ] {
        let sources = Crate::read(&root().join(folder));
        found.extend(of_any_crate(name, &sources));
        spread.extend(sources.spread_types());
        if name == "core" {
            found.extend(
                (sources.root_names() > ROOT_NAMES).then(|| format!("names: {}", sources.root_names())),
            );
        }
        if name == "server" {
            found.extend(undue_imports(&sources, SERVER_LAYERS));
            found.extend(undue_decisions(decisions(&sources, &["snowflake", "tags"]), SERVER_OWNED));
        }
        if name == "rust" {
            found.extend(of_the_host(&sources));
            found.extend(undue_decisions(decisions(&sources, &["segments", "snowflake", "worker"]), OWNED));
        }
    }
    let listed = SPREAD.iter().map(|(of, file, _)| ((*of).to_owned(), (*file).to_owned()));
    found.extend(
        listed.filter(|each| !spread.contains(each)).map(|(of, file)| format!("not spread: {of}: {file}")),
    );
    for folder in ["node/js/native", "node/js/wasm"] {
        let scripts = script_imports(&root().join(folder), &root().join("node/js/front"));
        found.extend(circles(&scripts).concat().into_iter().map(|file| format!("circle: {folder}: {file}")));
    }
    let decided = script_decisions(&root(), SCRIPT_DRIVERS);
    let decided = decided.iter().map(|(file, line)| (file.as_str(), line.as_str()));
    found.extend(undue_decisions(decided.collect(), SCRIPT_OWNED));
    found.extend(long_files(
        &root(),
        &["include", "node", "node/js/front", "node/js/native", "node/js/wasm", "python/leafid"],
    ));
    assert_eq!(found, BTreeSet::new());
}
