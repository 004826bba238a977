//! Each place that names the options by hand has those of the table and no other: pages, declarations and setters.
//!
//! The files are read as text. A place that lacks an option, or has another one, fails with the name of both.

use leafid_core::options::{
    DEFAULT_TIMEOUT_MS, MOST_IDS, MOST_MS, MOST_PREWARMED, OPTIONS, OptionKind, OptionOf, OptionRow,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Options by name, and the type or the rest of the line that a place has for each.
type Named = BTreeMap<String, String>;

const KINDS: [OptionOf; 2] = [OptionOf::Snowflake, OptionOf::Segments];

pub(crate) fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text between the first `begin` and the next `end`.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no {begin:?}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end:?} after {begin:?}")).0
}

fn snake(name: &str) -> String {
    let chars = name.chars().flat_map(|char| match char.is_ascii_uppercase() {
        true => vec!['_', char.to_ascii_lowercase()],
        false => vec![char],
    });
    chars.collect()
}

fn rows(of: OptionOf) -> impl Iterator<Item = &'static OptionRow> {
    OPTIONS.iter().filter(move |row| row.of.includes(of))
}

/// What a place has too much or too little. `besides`: what it has no need of, because another place has it.
fn differences(place: &str, of: OptionOf, named: &Named, besides: &[&str]) -> Vec<String> {
    let table: BTreeSet<_> = rows(of).map(|row| row.name).collect();
    let missing = table.iter().filter(|name| !named.contains_key(**name) && !besides.contains(name));
    let lacks = missing.map(|name| format!("{place} lacks the {of:?} option {name}"));
    let extra = named.keys().filter(|name| !table.contains(name.as_str()));
    lacks.chain(extra.map(|name| format!("{place} has no such {of:?} option: {name}"))).collect()
}

/// The types of a place that are not as the kinds of the rows say. `type_of` is `None` for kinds with a form of their own.
fn other_types(
    place: &str,
    of: OptionOf,
    named: &Named,
    type_of: impl Fn(&OptionRow) -> Option<String>,
) -> Vec<String> {
    let other = rows(of).filter_map(|row| {
        let (expected, found) = (type_of(row)?, named.get(row.name)?);
        (*found != expected)
            .then(|| format!("{place}: the {of:?} option {} is {found}, not {expected}", row.name))
    });
    other.collect()
}

#[track_caller]
pub(crate) fn assert_none(found: Vec<String>) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn words(kind: OptionKind, quote: char, separator: &str) -> Option<String> {
    let OptionKind::Word(words) = kind else { return None };
    let quoted: Vec<_> = words.iter().map(|word| format!("{quote}{word}{quote}")).collect();
    Some(quoted.join(separator))
}

/// The page's options and the cells with their defaults.
fn on_the_page(of: OptionOf) -> Named {
    let page = read("docs/OPTIONS.md");
    let section = match of {
        OptionOf::Segments => between(&page, "\n## Options of segments\n", "\n## "),
        _ => between(&page, "\n## Options of a snowflake\n", "\n### "),
    };
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let mut named: Named =
        cells.map(|(name, rest)| (name.into(), rest.split('|').next().unwrap().trim().into())).collect();
    if of == OptionOf::Segments {
        // These are described with those of a snowflake.
        let above = on_the_page(OptionOf::Snowflake);
        let (as_above, _) = section.split_once(" are as above.").unwrap();
        let names = as_above.split('`').skip(1).step_by(2).filter(|name| !name.contains(':'));
        named.extend(
            names.map(|name| (name.into(), above.get(name).unwrap_or_else(|| panic!("{name}")).clone())),
        );
    }
    named
}

#[test]
fn the_page_has_every_option_and_its_default() {
    let mut found = Vec::new();
    for of in KINDS {
        let page = on_the_page(of);
        found.extend(differences("docs/OPTIONS.md", of, &page, &[]));
        let plain = page.into_iter().map(|(name, cell)| (name, without_remarks(&cell.replace('`', ""))));
        found.extend(other_types("docs/OPTIONS.md", of, &plain.collect(), |row| {
            Some(match (row.variable, row.default) {
                (None, default) => default.into(),
                (Some(variable), "") => variable.into(),
                (Some(variable), default) => format!("{variable}, else {default}"),
            })
        }));
    }
    assert_none(found);
}

/// Without what is in brackets.
fn without_remarks(text: &str) -> String {
    let parts = text.split(" (").enumerate();
    parts.map(|(at, part)| if at == 0 { part } else { part.split_once(')').unwrap().1 }).collect()
}

/// The fields of interfaces in a file of TypeScript.
fn interface_fields(file: &str, interfaces: &[&str]) -> Named {
    let text = read(file);
    let bodies =
        interfaces.iter().flat_map(|name| between(&text, &format!("interface {name} "), "\n}\n").lines());
    let fields = bodies.filter_map(|line| line.strip_prefix("  readonly ")?.split_once(": "));
    fields.map(|(name, kind)| (snake(name.trim_end_matches('?')), kind.into())).collect()
}

#[test]
fn the_declarations_of_typescript_have_every_option() {
    let (file, mut found) = ("node/index.d.ts", Vec::new());
    for of in KINDS {
        let (interfaces, besides): (&[&str], &[&str]) = match of {
            // The servers are the first argument.
            OptionOf::Segments => {
                (&["CommonSegmentsOptions", "FetchSegmentsOptions", "ServerSegmentsOptions"], &["servers"])
            }
            _ => (&["SnowflakeOptions"], &[]),
        };
        let named = interface_fields(file, interfaces);
        found.extend(differences(file, of, &named, besides));
        found.extend(other_types(file, of, &named, |row| {
            let kind = match row.kind {
                OptionKind::Id => "bigint | string | number".into(),
                OptionKind::Int => "number".into(),
                OptionKind::Flag => "boolean".into(),
                OptionKind::Text | OptionKind::Path => "string".into(),
                OptionKind::Headers => "Readonly<Record<string, string>>".into(),
                kind => words(kind, '\'', " | ")?,
            };
            Some(format!("{kind} | null"))
        }));
    }
    assert!(read(file).contains("constructor(servers: string | readonly string[], options?"));
    assert_none(found);
}

#[test]
fn the_stub_of_python_has_every_option() {
    let (file, mut found) = ("python/leafid/_leafid.pyi", Vec::new());
    let text = read(file);
    for of in KINDS {
        let class = if of == OptionOf::Segments { "class Segments:" } else { "class Snowflake:" };
        let arguments = between(between(&text, class, "-> Self"), "__new__(", "\n    )");
        let named: Named = arguments
            .lines()
            .filter_map(|line| line.trim().trim_end_matches(" = None,").split_once(": "))
            .map(|(name, kind)| (name.into(), kind.into()))
            .collect();
        found.extend(differences(file, of, &named, &[]));
        found.extend(other_types(file, of, &named, |row| {
            let kind = match row.kind {
                OptionKind::Int | OptionKind::Id => "SupportsIndex".into(),
                OptionKind::Flag => "bool".into(),
                OptionKind::Text => "str".into(),
                OptionKind::Path => "str | PathLike[str]".into(),
                OptionKind::Headers => "Mapping[str, str]".into(),
                kind => format!("Literal[{}]", words(kind, '"', ", ")?),
            };
            Some(format!("{kind} | None"))
        }));
    }
    assert_none(found);
}

/// The functions of C that set an option by another name than the option's: one form of several, or one of many.
const C_FORMS: [(&str, &str); 9] = [
    ("worker_id", "worker"),
    ("worker_range", "worker"),
    ("worker_callback", "worker"),
    ("worker_leases", "worker"),
    ("layout_fields", "layout"),
    ("header", "headers"),
    ("server", "servers"),
    ("file_tag", "tags"),
    ("prewarm_last_day", "prewarm"),
];

fn option_of_c(name: &str) -> String {
    C_FORMS.iter().find(|(form, _)| *form == name).map_or(name, |(_, option)| option).into()
}

#[test]
fn the_headers_of_c_have_a_setter_for_every_option() {
    let mut found = Vec::new();
    let (c, cpp) = (read("include/leafid.h"), read("include/leafid.hpp"));
    for (of, kind, class) in [
        (OptionOf::Snowflake, "snowflake", "class Options {"),
        (OptionOf::Segments, "segments", "class SegmentsOptions {"),
    ] {
        let begin = format!("leafid_status leafid_{kind}_options_");
        let setters = c.split(&begin).skip(1).filter_map(|rest| {
            let (name, arguments) = rest.split_once('(')?;
            let name = name.strip_prefix("set_").or_else(|| name.strip_prefix("add_"))?;
            Some((name, arguments.split_once(')')?.0))
        });
        let mut named = Named::new();
        for (name, arguments) in setters {
            let last = arguments.rsplit(',').next().unwrap().trim();
            let kind = last.rsplit_once([' ', '*']).unwrap().0;
            named.entry(option_of_c(name)).or_insert_with(|| kind.into());
        }
        found.extend(differences("include/leafid.h", of, &named, &[]));
        found.extend(other_types("include/leafid.h", of, &named, |row| match row.kind {
            OptionKind::Int | OptionKind::Id => Some("int64_t".into()),
            // A number of an enum.
            OptionKind::Flag | OptionKind::Word(_) => Some("int32_t".into()),
            OptionKind::Text | OptionKind::Path => Some("const char ".into()),
            _ => None,
        }));
        let class_name = class.split(' ').nth(1).unwrap();
        let methods = between(&cpp, class, "\nprivate:").lines();
        let methods = methods
            .filter_map(|line| line.trim().strip_prefix(class_name)?.strip_prefix(" &")?.split_once('('));
        let named = methods.map(|(name, arguments)| (option_of_c(name), arguments.into())).collect::<Named>();
        found.extend(differences("include/leafid.hpp", of, &named, &[]));
    }
    assert_none(found);
}

/// The methods of a builder of Rust that set an option.
fn builder_methods(file: &str) -> Named {
    let code = read(file);
    let mut hidden = false;
    let mut named = Named::new();
    for line in code.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("pub fn ") {
            let (name, _) = rest.split_once(['(', '<']).unwrap();
            // `source` is another word for `fetch`.
            if !hidden && !["open", "builder", "source"].contains(&name) {
                named.insert(name.into(), rest.into());
            }
        }
        hidden = line == "#[doc(hidden)]";
    }
    named
}

#[test]
fn the_builders_of_rust_have_every_option() {
    let mut found = Vec::new();
    for (of, folder) in [(OptionOf::Snowflake, "snowflake"), (OptionOf::Segments, "segments")] {
        let file = format!("bindings/rust/src/{folder}/builder.rs");
        let mut methods = builder_methods(&file);
        methods.extend(builder_methods("bindings/rust/src/config/shared_setters.rs"));
        found.extend(differences(&file, of, &methods, &[]));
    }
    assert_none(found);
}

#[test]
fn the_builders_of_java_have_every_option() {
    let mut found = Vec::new();
    for (of, class) in [(OptionOf::Snowflake, "Snowflake"), (OptionOf::Segments, "Segments")] {
        let files = [class, "Options"].map(|class| format!("java/src/main/java/io/leafid/{class}.java"));
        let code = files.iter().map(|file| read(file)).collect::<String>();
        let methods = code.lines().filter_map(|line| {
            let line = line.trim().strip_prefix("public ")?;
            line.strip_prefix("Builder ").or_else(|| line.strip_prefix("B "))?.split_once('(')
        });
        let of_all = ["option", "executor"];
        let options = methods.filter(|(name, _)| !of_all.contains(name));
        // It adds one of them.
        let named = options
            .map(|(name, rest)| (if name == "tag" { "tags".into() } else { snake(name) }, rest.into()));
        found.extend(differences(&files[0], of, &named.collect(), &[]));
    }
    assert_none(found);
}

/// The docstrings of Python's classes have a paragraph for each option, because its signature has them as `**options`.
#[test]
fn the_docstrings_of_python_describe_every_option() {
    let mut found = Vec::new();
    for (of, file) in [
        (OptionOf::Snowflake, "bindings/python/src/snowflake.rs"),
        (OptionOf::Segments, "bindings/python/src/segments.rs"),
    ] {
        let code = read(file);
        let lines = code.lines().take_while(|line| !line.starts_with("#[pyclass"));
        let named = lines.filter_map(|line| line.strip_prefix("/// ")?.split_once(": "));
        let named =
            named.filter(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        let named = named.map(|(name, rest)| (name.into(), rest.into())).collect::<Named>();
        found.extend(differences(file, of, &named, &[]));
    }
    assert_none(found);
}

/// The types that a field of statistics has in Rust, TypeScript and Python. All integers of Rust are `int`.
const STATS_TYPES: [[&str; 3]; 8] = [
    ["int", "number", "int"],
    ["Option<int>", "number | null", "int | None"],
    ["String", "string", "str"],
    ["Option<String>", "string | null", "str | None"],
    ["bool", "boolean", "bool"],
    ["Option<Segment>", "SegmentLeft | null", "range | None"],
    ["Vec<ServerStats>", "ServerStats[]", "dict[str, str | None]"],
    ["Vec<TagStats>", "TagStats[]", "dict[str, TagStats]"],
];

/// The fields of a struct of statistics of Rust, which those of all languages follow.
fn stats_of_rust(name: &str) -> Named {
    let folder = if name == "Stats" { "snowflake" } else { "segments" };
    let code = read(&format!("bindings/rust/src/{folder}/stats.rs"));
    let lines = between(&code, &format!("pub struct {name} {{"), "\n}\n").lines();
    let fields =
        lines.filter_map(|line| line.strip_prefix("    pub ")?.trim_end_matches(',').split_once(": "));
    let int = |kind: &str| {
        ["i64", "u64", "u32", "usize"].iter().fold(kind.to_owned(), |k, int| k.replace(int, "int"))
    };
    fields.map(|(name, kind)| (name.into(), int(kind))).collect()
}

#[test]
fn statistics_have_the_fields_of_rust_everywhere() {
    let (typescript, python) = (read("node/index.d.ts"), read("python/leafid/_leafid.pyi"));
    for name in ["Stats", "SegmentsStats", "ServerStats", "TagStats"] {
        let fields = stats_of_rust(name);
        let expected = |column: usize| -> Named {
            let type_of = |kind: &String| {
                let row = STATS_TYPES.iter().find(|row| row[0] == kind);
                row.unwrap_or_else(|| panic!("{kind} has no row of STATS_TYPES"))[column].to_owned()
            };
            fields.iter().map(|(name, kind)| (name.clone(), type_of(kind))).collect()
        };
        let interface = if name == "Stats" { "SnowflakeStats" } else { name };
        let lines = between(&typescript, &format!("interface {interface} {{"), "\n}\n").lines();
        let found =
            lines.filter(|line| !line.contains("/**")).filter_map(|line| line.trim().split_once(": "));
        let found: Named = found.map(|(name, kind)| (snake(name), kind.into())).collect();
        assert_eq!(found, expected(1), "{interface} of node/index.d.ts");
        // Those of the servers are a dict.
        if name != "ServerStats" {
            let class = between(&python, &format!("class {name}:"), "-> Self");
            let lines = between(class, "__new__(", "\n    )").lines();
            let found = lines.filter_map(|line| line.trim().trim_end_matches(',').split_once(": "));
            let found: Named = found.map(|(name, kind)| (name.into(), kind.into())).collect();
            assert_eq!(found, expected(2), "{name} of _leafid.pyi");
        }
    }
}

/// Texts have functions of their own in C.
#[test]
fn the_numbers_of_statistics_are_those_of_c() {
    let header = read("include/leafid.h");
    for (rust, name) in [("Stats", "leafid_snowflake_stats_t"), ("TagStats", "leafid_tag_stats_t")] {
        let lines = between(&header, &format!("typedef struct {name} {{"), &format!("}} {name};")).lines();
        let fields = lines.filter_map(|line| line.trim().strip_suffix(';')?.split_once("int64_t "));
        let found: BTreeSet<_> = fields.map(|(_, name)| name.to_owned()).collect();
        let fields = stats_of_rust(rust).into_iter().flat_map(|(name, kind)| match kind.as_str() {
            "int" | "Option<int>" | "bool" => vec![name],
            "Option<Segment>" => ["start", "end"].map(|end| format!("{name}_{end}")).to_vec(),
            _ => Vec::new(),
        });
        assert_eq!(found, fields.collect(), "{name}");
    }
}

/// Those that are checked before a call of the module, or of the library.
#[test]
fn the_bounds_that_others_repeat_are_those_of_the_core() {
    let number = |text: &str| match text.split_once(" << ") {
        Some((number, bits)) => number.parse::<i64>().unwrap() << bits.parse::<u32>().unwrap(),
        None => text.replace('_', "").parse().unwrap(),
    };
    let limits = read("node/js/wasm/limits.js");
    for (name, bound) in [
        ("defaultTimeoutMs", DEFAULT_TIMEOUT_MS),
        ("mostIds", MOST_IDS as i64),
        ("mostMs", MOST_MS),
        ("mostPrewarmed", MOST_PREWARMED as i64),
    ] {
        assert_eq!(number(between(&limits, &format!("const {name} = "), "\n")), bound, "{name}");
    }
    let cpp = read("include/leafid.hpp");
    let most = between(&cpp, "return n <= (std::size_t(", ") ? n : 1").replace(')', "");
    assert_eq!(number(&most), MOST_IDS as i64, "include/leafid.hpp");
}
