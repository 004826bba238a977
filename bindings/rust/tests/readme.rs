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
    for example in ["quickstart.py", "quickstart.mjs", "quickstart.c", "quickstart.rs"] {
        let code = read(&format!("examples/{example}"));
        assert!(readme.contains(&code), "the README's code is not examples/{example}");
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
