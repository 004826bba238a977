//! The names of options: no text of the core has one in one spelling, which is written through `Named`; and an option is
//! declared in seven places and converted in none, for bindings go by the kinds of the table. The files are read as text.

use super::option_places::{assert_none, read};
use leafid_core::options::OPTIONS;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// The texts in double quotes, without what only tests compile and without comments.
fn texts(source: &str) -> Vec<String> {
    let shipped = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    let shipped = shipped.split("\nmod tests {").next().unwrap();
    let code = shipped.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n").replace("'\"'", "' '").replace("b'\"'", "' '");
    let (mut found, mut rest) = (Vec::new(), &*code);
    while let Some((_, after)) = rest.split_once('"') {
        let mut escaped = false;
        let end = after.find(|char| {
            let ends = char == '"' && !escaped;
            escaped = char == '\\' && !escaped;
            ends
        });
        let (text, next) = after.split_at(end.unwrap_or(after.len()));
        found.push(text.to_owned());
        rest = next.get(1..).unwrap_or_default();
    }
    found
}

/// The names of options that stand in a text as words. One in braces is a value, and one that an answer "has" is the
/// server's.
fn named_in<'n>(text: &str, names: &[&'n str]) -> Vec<&'n str> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let stands = |name: &&&str| {
        text.match_indices(**name).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            let of_word = before.ends_with(is_word) || after.starts_with(is_word);
            !of_word && !before.ends_with('{') && !before.ends_with("has the ")
        })
    };
    names.iter().filter(stands).copied().collect()
}

#[test]
fn no_text_names_an_option_in_one_spelling() {
    let names: Vec<&str> = OPTIONS.iter().map(|row| row.name).filter(|name| name.contains('_')).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut bare, mut seen) = (Vec::new(), Vec::new(), 0);
    sources(&root, &mut files);
    for file in files {
        for text in texts(&fs::read_to_string(&file).unwrap()) {
            // The name itself, as that of a field or of an argument.
            if names.contains(&&*text) {
                seen += 1;
                continue;
            }
            let found = named_in(&text, &names);
            bare.extend(found.iter().map(|name| format!("{}: {name}: {text}", file.display())));
        }
    }
    assert!(seen > 50, "{seen}");
    assert!(bare.is_empty(), "write these through `crate::spelling::name`:\n{}", bare.join("\n"));
}

#[test]
fn a_name_in_a_text_is_found() {
    let names = ["timeout_ms", "state_dir"];
    for (text, found) in [
        ("or raise timeout_ms", vec!["timeout_ms"]),
        ("set state_dir, or timeout_ms{before}", vec!["timeout_ms", "state_dir"]),
        ("within {timeout_ms} of request_timeout_ms", vec![]),
        ("has the timeout_ms 5", vec![]),
    ] {
        assert_eq!(named_in(text, &names), found, "{text}");
    }
    assert_eq!(texts("a(\"b\\\"c\", '\"', \"d\"); // e\n// \"f\"\n"), ["b\\\"c", "d"]);
}

/// The places of an option besides the core, which gives it its meaning: the table, and where each language's users see
/// it. C's header is made of the setters.
const PLACES: [(&str, &[&str]); 7] = [
    ("the table", &["core/src/options/table.rs"]),
    (
        "Rust",
        &[
            "bindings/rust/src/snowflake/builder.rs",
            "bindings/rust/src/segments/builder.rs",
            "bindings/rust/src/config/shared_setters.rs",
        ],
    ),
    ("C", &["bindings/c/src", "include"]),
    (
        "Python",
        &["python/leafid/_leafid.pyi", "bindings/python/src/snowflake.rs", "bindings/python/src/segments.rs"],
    ),
    ("JavaScript", &["node/index.d.ts"]),
    (
        "Java",
        &[
            "java/src/main/java/io/leafid/Snowflake.java",
            "java/src/main/java/io/leafid/Segments.java",
            "java/src/main/java/io/leafid/Options.java",
        ],
    ),
    ("the page", &["docs/OPTIONS.md"]),
];

/// Options whose names stand for other things as well: arguments of calls, fields of statistics, parts of a layout.
const WORDS: &str = "worker name state_dir persist layout epoch_ms peer_times timeout_ms lazy token servers fetch protocol step tags create";

/// What else names an option: a flag of the command line, what a host has to refuse, and what the host does by it.
const BESIDES: [(&str, &str); 15] = [
    ("bindings/rust/src/cli/check.rs", "exclusive_range clock_source"),
    ("bindings/rust/src/cli/file.rs", "shared_fs shared_group"),
    ("bindings/rust/src/cli/next.rs", "shared_fs"),
    ("bindings/rust/src/cli/options.rs", "shared_fs exclusive_range no_record_wait_ms"),
    (
        "bindings/rust/src/cli/segment_options.rs",
        "exclusive_range no_record_wait_ms block_size ca_file keep_unused",
    ),
    ("bindings/rust/src/config/http_options.rs", "ca_file"),
    ("bindings/rust/src/http", "ca_file headers"),
    ("bindings/rust/src/segments/settings.rs", "shared_fs shared_group"),
    ("bindings/rust/src/segments/source/host_source.rs", "ca_file"),
    ("bindings/rust/src/snowflake", "clock_source"),
    ("bindings/rust/src/worker", "shared_fs shared_group ca_file"),
    (
        "java/src/main/java/io/leafid/spring/Settings.java",
        "shared_group exclusive_range no_record_wait_ms headers ca_file request_timeout_ms connect_timeout_ms prewarm",
    ),
    ("java/src/main/java/io/leafid/tinyid/TinyId.java", "request_timeout_ms connect_timeout_ms prewarm"),
    ("node/js/wasm/index.d.ts", "exclusive_range"),
    ("node/js/wasm/option_rules.js", "shared_fs shared_group clock_source ca_file keep_unused"),
];

/// Where the values of languages become those of the core: by their kinds.
const CONVERSIONS: [&str; 6] = [
    "bindings/node/src/options.rs",
    "bindings/python/src/options.rs",
    "bindings/python/src/segments/options.rs",
    "node/js/front/options.js",
    "node/js/front/segment_options.js",
    "node/js/native/option_rules.js",
];

/// What is written by hand and ships, as paths from the root.
fn products(folder: &str, found: &mut Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    if path.is_file() {
        return found.push(folder.into());
    }
    for entry in std::fs::read_dir(&path).unwrap_or_else(|error| panic!("{folder}: {error}")) {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_for_tests =
            ["tests", "simulation", "fuzzing"].iter().any(|of| name.trim_end_matches(".rs") == *of);
        if !is_for_tests && name != "leafid_core.h" && name != "__pycache__" {
            products(&format!("{folder}/{name}"), found);
        }
    }
}

/// Without lines of comments, and what only tests compile.
fn code_of(file: &str) -> String {
    let text = read(file);
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let comment =
        |line: &&str| !["//", "* ", "/*", "#"].iter().any(|begin| line.trim_start().starts_with(begin));
    text.lines().filter(comment).collect::<Vec<_>>().join("\n")
}

/// Whether the option stands in this code: as a word in a language's spelling, or a name of one word as a text.
fn stands_in(code: &str, name: &str) -> bool {
    if !name.contains('_') {
        return ['"', '\''].iter().any(|quote| code.contains(&format!("{quote}{name}{quote}")));
    }
    let mut parts = name.split('_');
    let first = parts.next().unwrap().to_owned();
    let camel = parts.fold(first, |name, part| name + &part[..1].to_ascii_uppercase() + &part[1..]);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    [name.to_owned(), camel, name.replace('_', "-")].iter().any(|name| {
        code.match_indices(name.as_str()).any(|(at, _)| {
            let (before, after) = (&code.as_bytes()[..at], &code.as_bytes()[at + name.len()..]);
            !before.last().is_some_and(is_word) && !after.first().is_some_and(is_word)
        })
    })
}

#[test]
fn an_option_stands_in_seven_places() {
    let (mut files, mut found, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for folder in ["rust", "c", "python", "node", "java"].map(|language| format!("bindings/{language}/src")) {
        products(&folder, &mut files);
    }
    for folder in ["node/js", "python/leafid", "java/src/main/java"] {
        products(folder, &mut files);
    }
    files.retain(|file| PLACES.iter().all(|(_, places)| places.iter().all(|place| !file.starts_with(place))));
    assert!(files.len() > 150, "{}", files.len());
    let names =
        || OPTIONS.iter().map(|row| row.name).filter(|name| !WORDS.split(' ').any(|word| word == *name));
    for file in &files {
        let code = code_of(file);
        for name in names().filter(|name| stands_in(&code, name)) {
            let known = BESIDES
                .iter()
                .filter(|(place, _)| file.starts_with(place) && !CONVERSIONS.contains(&&**file));
            match known.into_iter().find(|(_, besides)| besides.split(' ').any(|besides| besides == name)) {
                Some((place, _)) => drop(seen.insert((*place, name))),
                None => found.push(format!("{file} has {name}: go by the kind that the table has for it")),
            }
        }
    }
    let besides = BESIDES.iter().flat_map(|(place, names)| names.split(' ').map(|name| (*place, name)));
    found.extend(
        besides.filter(|pair| !seen.contains(pair)).map(|(place, name)| format!("{place} has no {name}")),
    );
    assert_none(found);
}
