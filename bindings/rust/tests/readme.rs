//! What the README states in numbers and code is what the code says.
#![allow(clippy::unwrap_used)]

use leafid::{Layout, Utc};
use std::path::PathBuf;

fn read(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn the_quick_starts_are_the_examples() {
    let readme = read("README.md");
    let quick_starts = ["py", "mjs", "c", "rs"].map(|end| format!("quickstart.{end}"));
    for example in quick_starts.iter().map(String::as_str).chain(["segments.py", "segments.mjs"]) {
        let code = read(&format!("examples/{example}"));
        assert!(readme.contains(&code), "the README's code is not examples/{example}");
    }
    for named in ["examples/segments.c", "examples/segments.rs"] {
        assert!(readme.contains(named) && !read(named).is_empty(), "the README does not name {named}");
    }
}

#[test]
fn the_database_of_the_documents_is_the_example() {
    assert!(read("docs/LEASES.md").contains(&read("examples/database_workers.py")));
    let code = read("examples/database_segments.py");
    assert!(read("docs/SEGMENTS.md").contains(&code));
    let fetch = code.split("\n\n").find(|part| part.contains("def fetch")).unwrap();
    assert!(read("README.md").contains(fetch), "the README lacks {fetch}");
}

/// The names of the options that a builder has.
fn options_of(builder: &str) -> Vec<String> {
    let code = read(&format!("bindings/rust/src/{builder}"));
    let public = code.lines().scan("", |before, line| {
        let hidden = before.contains("#[doc(hidden)]");
        *before = line;
        Some((hidden, line))
    });
    let named = public.filter_map(|(hidden, line)| line.trim().strip_prefix("pub fn ").filter(|_| !hidden));
    let names = named
        .filter_map(|line| line.split(['(', '<']).next())
        .filter(|name| !["open", "builder"].contains(name));
    names.map(str::to_owned).collect()
}

#[test]
fn every_option_is_in_its_table() {
    let page = read("docs/OPTIONS.md");
    let (of_snowflakes, of_segments) = page.split_once("\n## Options of segments\n").unwrap();
    let (of_segments, _) = of_segments.split_once("\n## ").unwrap();
    for (table, builder) in [(of_snowflakes, "snowflake/builder.rs"), (of_segments, "segments/builder.rs")] {
        let options = options_of(builder);
        assert!(options.len() > 20, "{options:?}");
        // `source` is another word for `fetch`.
        for option in options.iter().filter(|option| *option != "source") {
            assert!(table.contains(&format!("`{option}`")), "the table of {builder} lacks {option}");
        }
    }
}

#[test]
fn the_presets_are_as_the_table_says() {
    let readme = read("README.md");
    for (name, layout) in Layout::PRESETS {
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{name}`"))).unwrap();
        let fields = layout.fields();
        let bits = format!("{}, {}, {}", fields.timestamp_bits, fields.worker_bits, fields.sequence_bits);
        let (from, until) = (Utc(layout.epoch_ms()).to_string(), Utc(layout.expires_at_ms()).to_string());
        for part in [bits.as_str(), from.split('T').next().unwrap(), until.split('T').next().unwrap()] {
            assert!(row.contains(part), "{row} lacks {part}");
        }
    }
    let days = Layout::parse("35|5|23").unwrap();
    assert_eq!((days.expires_at_ms() - days.epoch_ms() + 43_200_000) / 86_400_000, 398, "rounded");
    assert!(readme.contains("398 days"));
}
