//! What the README and the pages of docs/ state in numbers and code is what the code says, and their links lead somewhere.
#![allow(clippy::unwrap_used)]

use leafid::{Layout, Utc};
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn the_quick_starts_are_the_examples() {
    let readmes = ["README.md", "README.zh-CN.md"].map(read);
    let quick_starts =
        ["quickstart.py", "quickstart.mjs", "quickstart.c", "quickstart.rs", "Quickstart.java"];
    for example in quick_starts {
        let code = read(&format!("examples/{example}"));
        assert!(
            readmes.iter().all(|readme| readme.contains(&code)),
            "the code of a README is not examples/{example}"
        );
    }
    let page = read("docs/SEGMENTS.md");
    for example in ["segments.py", "segments.mjs"] {
        let code = read(&format!("examples/{example}"));
        assert!(page.contains(&code), "the code of docs/SEGMENTS.md is not examples/{example}");
    }
    for named in ["examples/segments.c", "examples/segments.rs"] {
        assert!(page.contains(named) && !read(named).is_empty(), "docs/SEGMENTS.md does not name {named}");
    }
}

/// Such a statement would be copied into containers where it is wrong. The example of a browser has a range that no
/// other process can have.
#[test]
fn no_example_states_that_a_range_is_exclusive() {
    let services = ["", "/express", "/fastapi", "/kubernetes"].map(|sub| format!("examples/service{sub}"));
    let folders = ["examples".to_owned(), "examples/orders".to_owned()].into_iter().chain(services);
    let examples: Vec<_> = folders.flat_map(|folder| files(&folder, |_| true)).collect();
    let pages = pages();
    assert!(pages.len() > 30 && examples.len() > 20);
    for path in pages.iter().chain(&examples) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let is_page = path.extension().is_some_and(|end| end == "md");
        let mut fenced = false;
        for line in text.lines() {
            fenced ^= line.starts_with("```");
            let is_code = !is_page || fenced || line.starts_with("    ");
            let states = ["EXCLUSIVE_RANGE", "exclusive_range", "exclusiveRange"];
            assert!(
                !is_code || !states.iter().any(|state| line.contains(state)),
                "{}: {line}",
                path.display()
            );
        }
    }
}

/// The files of a folder, without its sub-folders.
fn files(folder: &str, which: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten().map(Result::unwrap);
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && which(&path.to_string_lossy()))
        .collect()
}

/// The pages for users.
fn pages() -> Vec<PathBuf> {
    let pages = ["docs", "docs/zh-CN"].map(|folder| files(folder, |path| path.ends_with(".md")));
    let named = ["README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md"];
    [pages.concat(), named.map(|name| root().join(name)).to_vec()].concat()
}

/// The lines of the blocks of code, without remarks, and the code in other lines.
fn codes(page: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut blocks, mut inline, mut fenced) = (Vec::new(), Vec::new(), false);
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            blocks.push(line.split(" #").next().unwrap().trim());
        } else {
            inline.extend(line.split('`').skip(1).step_by(2));
        }
    }
    (blocks, inline)
}

#[test]
fn the_chinese_pages_have_the_code_of_the_english_ones() {
    let pages = files("docs/zh-CN", |path| path.ends_with(".md"));
    let named = pages.iter().map(|path| path.file_name().unwrap().to_str().unwrap());
    let mut pairs: Vec<_> =
        named.map(|name| (format!("docs/zh-CN/{name}"), format!("docs/{name}"))).collect();
    pairs.push(("README.zh-CN.md".into(), "README.md".into()));
    assert!(pairs.len() > 4);
    for (chinese, english) in pairs {
        let (page, of_english) = (read(&chinese), read(&english));
        let (blocks, inline) = codes(&page);
        assert_eq!(blocks, codes(&of_english).0, "the blocks of code of {chinese} and {english}");
        let sections = |page: &str| page.lines().filter(|line| line.starts_with("## ")).count();
        assert_eq!(sections(&page), sections(&of_english), "the sections of {chinese} and {english}");
        // Some questions are answered on the Chinese pages.
        let text = of_english + &read("docs/FAQ.md");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for code in inline {
            let words = code.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(&words), "{chinese}: {code} is not in {english}");
        }
    }
}

#[test]
fn the_presets_are_as_the_table_says() {
    for page in ["docs/CHOOSING.md", "docs/zh-CN/CHOOSING.md"] {
        the_presets_are_as_the_table_of(&read(page));
    }
}

fn the_presets_are_as_the_table_of(page: &str) {
    for (name, layout) in Layout::PRESETS {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}`"))).unwrap();
        let fields = layout.fields();
        let bits = format!("{}, {}, {}", fields.timestamp_bits, fields.worker_bits, fields.sequence_bits);
        let (from, until) = (Utc(layout.epoch_ms()).to_string(), Utc(layout.expires_at_ms()).to_string());
        for part in [bits.as_str(), from.split('T').next().unwrap(), until.split('T').next().unwrap()] {
            assert!(row.contains(part), "{row} lacks {part}");
        }
    }
    let days = Layout::parse("35|5|23").unwrap();
    assert_eq!((days.expires_at_ms() - days.epoch_ms() + 43_200_000) / 86_400_000, 398, "rounded");
    assert!(page.contains("398"));
}

#[test]
fn the_page_of_versions_has_the_versions() {
    let page = read("docs/VERSIONS.md");
    let after = |file: &str, before: &str| {
        let text = read(file);
        let rest = text.split_once(before).unwrap().1;
        rest.split(|char: char| !(char.is_alphanumeric() || char == '.')).next().unwrap().to_owned()
    };
    let soname = after("bindings/c/build.rs", "-soname,");
    assert!(page.contains(&format!("now `{soname}`")), "{soname}");
    let format = after("core/src/format/state.rs", "const FORMAT: i64 = ");
    assert!(page.contains(&format!("The format of state files is {format}.")), "{format}");
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    match number {
        0..=999 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

/// Thousandths of a second as seconds.
fn seconds(thousandths: u64) -> String {
    match thousandths % 1000 {
        0 => grouped(thousandths / 1000),
        rest => format!("{}.{rest:03}", grouped(thousandths / 1000)).trim_end_matches('0').to_owned(),
    }
}

#[test]
fn the_sizes_are_computed() {
    let page = read("docs/SIZING.md");
    let has = |row: &str| assert!(page.lines().any(|line| line == row), "docs/SIZING.md lacks {row}");
    for (name, layout) in Layout::PRESETS {
        let fields = layout.fields();
        let ids = (1 << fields.sequence_bits) * 1000 / u64::try_from(fields.tick_ms).unwrap();
        let lasts_ms = u64::try_from(layout.expires_at_ms() - layout.epoch_ms()).unwrap();
        let years = grouped(lasts_ms / 31_557_600_000);
        has(&format!("| `{name}` | {} | {} | {years} |", grouped(1 << fields.worker_bits), grouped(ids)));
    }
    let adaptive: serde_json::Value =
        serde_json::from_str(&read("tests/vectors/adaptive_step.json")).unwrap();
    let most = adaptive["max_step"].as_u64().unwrap();
    let largest = (0..).map(|doubled| 1_000 << doubled).take_while(|step| *step <= most).last().unwrap();
    for rate in [1, 100, 1_000, 10_000, 100_000] {
        let cells = [1_000, largest].map(|step| {
            let [every, away] = [1000, 900].map(|thousandths| seconds(step * thousandths / rate));
            format!("{every} s | {away} s")
        });
        has(&format!("| {} | {} | {} |", grouped(rate), cells[0], cells[1]));
    }
    assert!(page.contains(&format!("a step of 1,000 grows to {} under load", grouped(largest))));
}

/// Its table is made from the vectors: UPDATE=1 writes it.
#[test]
fn the_page_of_errors_is_the_table_of_errors() {
    let vectors: serde_json::Value = serde_json::from_str(&read("tests/vectors/errors.json")).unwrap();
    let mut table =
        String::from("| code | | C | Python | Node | later |\n| --- | --- | --- | --- | --- | --- |\n");
    for error in vectors["errors"].as_array().unwrap() {
        let [code, c, python, node, meaning] =
            ["code", "c", "python", "node", "sentence"].map(|key| error[key].as_str().unwrap());
        let later = if error["retry"].as_bool().unwrap() { "yes" } else { "" };
        let number = &error["number"];
        table += &format!("| `{code}` | {meaning} | `{c}`, {number} | `{python}` | `{node}` | {later} |\n");
    }
    let page = read("docs/ERRORS.md");
    let (head, rest) = page.split_once("| code |").unwrap();
    let tail = rest.find("\n## ").map_or("", |at| &rest[at..]);
    let expected = format!("{head}{table}{tail}");
    if std::env::var_os("UPDATE").is_some() {
        return std::fs::write(root().join("docs/ERRORS.md"), &expected).unwrap();
    }
    assert!(page == expected, "docs/ERRORS.md: UPDATE=1 cargo test -p leafid --test readme");
}

/// The anchor of a heading, as it is on the pages of a repository.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|char| char.is_alphanumeric() || ['-', '_'].contains(char)).collect()
}

fn anchors(page: &str) -> Vec<String> {
    page.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches('#').trim()))
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for link in page.split("](").skip(1).filter_map(|after| after.split(')').next()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            if file.contains("://") {
                continue;
            }
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: no file {link}", path.display());
            let there = heading.is_empty()
                || anchors(&std::fs::read_to_string(&target).unwrap()).contains(&heading.into());
            assert!(there, "{}: no heading {link}", path.display());
            links += 1;
        }
    }
    assert!(links > 60, "{links}");
}
