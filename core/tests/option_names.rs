//! No text of the core has the name of an option in one spelling: it is written through `Named`.

use leafid_core::options::OPTIONS;
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
