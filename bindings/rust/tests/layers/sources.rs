//! What the sources of a crate import, read as text: enough for `use`, and for paths by `crate`, `super`, or an imported
//! module.

use super::rules::is_of_a_system;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// For each module (`segments/source/leaf`; the crate's own is empty) those that it names.
pub(crate) type Imports = BTreeMap<String, BTreeSet<String>>;

/// Stands for a string of three words or more.
pub(crate) const SENTENCE: &str = "SENTENCE";

pub(crate) struct Crate {
    pub(crate) files: BTreeMap<String, Source>,
}

pub(crate) struct Source {
    /// Without comments, strings and what is compiled for tests alone. Where a sentence was is [`SENTENCE`].
    code: String,
    /// What `use` brings in: a name, and the path it stands for, as written.
    uses: Vec<(String, Vec<String>)>,
    pub(crate) lines: usize,
    pub(crate) types: BTreeSet<String>,
    /// The types that have methods here.
    impls: BTreeSet<String>,
    pub(crate) is_unsafe: bool,
}

impl Source {
    fn of(text: &str) -> Source {
        let code = without_tests(&without_text(text, true));
        // Associated types are no names of the module's.
        let types = code.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| {
            let mut words = line.split(is_sign);
            words.find(|word| ["struct", "enum", "trait", "type"].contains(word))?;
            words.next().map(str::to_owned)
        });
        Source {
            lines: code.lines().count(),
            types: types.collect(),
            impls: impls(&code),
            is_unsafe: code.split(is_sign).any(|word| word == "unsafe"),
            uses: uses(&code),
            code,
        }
    }
}

impl Source {
    /// The lines that hold one of these, but for attributes.
    pub(crate) fn lines_with(&self, parts: &[&str]) -> impl Iterator<Item = &str> {
        let lines = self.code.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        lines.filter(|line| parts.iter().any(|part| line.contains(part)))
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Crate {
    pub(crate) fn read(folder: &Path) -> Crate {
        let mut sources = Crate { files: BTreeMap::new() };
        sources.add("", &folder.join("lib.rs"), folder);
        sources
    }

    /// For each module its text.
    pub(crate) fn of_texts(texts: &[(&str, &str)]) -> Crate {
        let files = texts.iter().map(|(module, text)| ((*module).to_owned(), Source::of(text)));
        Crate { files: files.collect() }
    }

    fn add(&mut self, module: &str, file: &Path, folder: &Path) {
        let source = Source::of(&read(file));
        for line in source.code.lines() {
            if let Some((before, rest)) = line.split_once("mod ")
                && let Some(name) = rest.strip_suffix(';')
                && (before.is_empty() || before.starts_with("pub"))
            {
                let inner = if module.is_empty() { name.to_owned() } else { format!("{module}/{name}") };
                let path = folder.join(format!("{inner}.rs"));
                self.add(&inner, &path, folder);
            }
        }
        self.files.insert(module.to_owned(), source);
    }

    /// How many names the crate's own file hands on.
    pub(crate) fn root_names(&self) -> usize {
        let exports = self.files[""].code.split("\npub use ").skip(1);
        exports.map(|item| leaves(item).len()).sum()
    }

    /// The types that have methods in several files, and those of the files that do not define them.
    pub(crate) fn spread_types(&self) -> BTreeSet<(String, String)> {
        let files = self.files.iter().filter(|(module, _)| !is_of_a_system(module));
        let of = files.flat_map(|(module, source)| source.impls.iter().map(move |of| (of, module, source)));
        let elsewhere = of.filter(|(of, _, source)| !source.types.contains(*of));
        elsewhere.map(|(of, module, _)| (of.clone(), module.clone())).collect()
    }

    pub(crate) fn imports(&self) -> Imports {
        let imports = self.files.iter().map(|(module, source)| {
            let used = source.uses.iter().map(|(_, path)| path.clone());
            let named = paths(&source.code);
            let found = used.chain(named).filter_map(|path| self.module_of(module, &path));
            (module.clone(), found.filter(|to| to != module).collect())
        });
        imports.collect()
    }

    /// The module in which what a path names is written; none where it is of another crate, or of a function's own.
    fn module_of(&self, module: &str, path: &[String]) -> Option<String> {
        let path = self.absolute(module, path, 0)?;
        self.written_in(&path, 0)
    }

    fn absolute(&self, module: &str, path: &[String], depth: usize) -> Option<Vec<String>> {
        let here: Vec<String> =
            module.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let first = path.first()?.as_str();
        let rest = &path[1..];
        match first {
            "crate" => Some(rest.to_vec()),
            "self" => Some([&here, rest].concat()),
            "super" => {
                let (_, above) = here.split_last()?;
                let above = above.join("/");
                let rest = if rest.first().is_some_and(|next| next == "super") {
                    rest.to_vec()
                } else {
                    [&["self".to_owned()], rest].concat()
                };
                self.absolute(&above, &rest, depth)
            }
            _ if self.files.contains_key(&[&here, &path[..1]].concat().join("/")) => {
                Some([&here, path].concat())
            }
            _ if depth < 8 => {
                let (_, from) = self
                    .files
                    .get(module)?
                    .uses
                    .iter()
                    .find(|(name, from)| name == first && *from != path[..1])?;
                self.absolute(module, &[from, rest].concat(), depth + 1)
            }
            _ => None,
        }
    }

    /// Follows what a module hands on from those below it.
    fn written_in(&self, path: &[String], depth: usize) -> Option<String> {
        let (module, rest) = (0..=path.len()).rev().find_map(|at| {
            let module = path[..at].join("/");
            self.files.contains_key(&module).then(|| (module, &path[at..]))
        })?;
        let Some(item) = rest.first().filter(|_| depth < 8) else { return Some(module) };
        let handed_on = self.files[&module].uses.iter().find(|(name, _)| name == item);
        let further = handed_on.and_then(|(_, from)| self.absolute(&module, from, 0));
        match further {
            Some(further) if further != path => self.written_in(&further, depth + 1),
            _ => Some(module),
        }
    }
}

/// Without comments, and with nothing inside of strings. What is not Rust is JavaScript or Python without regular
/// expressions.
fn without_text(text: &str, is_rust: bool) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(next) = rest.chars().next() {
        let until =
            |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
        let is_private = !is_rust && rest.starts_with('#') && rest[1..].starts_with(char::is_alphanumeric);
        let is_line = rest.starts_with("//") || next == '#' && !is_rust && !is_private;
        let is_comment = is_line || rest.starts_with("/*") || rest.starts_with("\"\"\"");
        let end = match next {
            _ if is_line => rest.find('\n').unwrap_or(rest.len()),
            '/' if is_comment => until("*/", 2),
            '"' if is_comment => until("\"\"\"", 3),
            'r' if rest.starts_with("r\"") => until("\"", 2),
            'r' if rest.starts_with("r#\"") => until("\"#", 3),
            '\'' if is_rust => end_of_char(rest),
            '"' | '\'' | '`' => end_of_string(rest, next),
            _ => 0,
        };
        let (part, after) = rest.split_at(if end == 0 { next.len_utf8() } else { end });
        rest = after;
        match end {
            0 => code.push(next),
            _ if !is_comment && part.split_whitespace().count() > 2 => code += SENTENCE,
            _ => {}
        }
        code.extend(part.chars().filter(|c| *c == '\n' && end > 0));
    }
    code
}

/// None, 0, where it is a lifetime.
fn end_of_char(text: &str) -> usize {
    if text.starts_with("'\\") {
        return text[3..].find('\'').map_or(0, |more| more + 4);
    }
    text.char_indices().nth(2).filter(|(_, next)| *next == '\'').map_or(0, |(at, _)| at + 1)
}

fn end_of_string(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let ends = text.char_indices().skip(1).find(|(_, next)| {
        let ends = *next == quote && !escaped;
        escaped = *next == '\\' && !escaped;
        ends
    });
    ends.map_or(text.len(), |(at, _)| at + 1)
}

/// Without what follows an attribute that has it compiled for tests, or for fuzzing.
fn without_tests(code: &str) -> String {
    let marks = ["test)", "fuzzing)", "all(test,", "all(fuzzing,", "any(test, fuzzing"];
    let is_marked = |rest: &str| marks.iter().any(|mark| rest.starts_with(mark));
    let (mut kept, mut rest) = (String::new(), code);
    while let Some((at, _)) =
        rest.match_indices("#[cfg(").find(|(at, mark)| is_marked(&rest[at + mark.len()..]))
    {
        kept += &rest[..at];
        rest = &rest[at..];
        // Up to the end of the item: a semicolon, or its braces.
        let mut depth = 0;
        let end = rest.find(|next: char| {
            depth += i32::from("{([".contains(next)) - i32::from("})]".contains(next));
            depth < 0 || depth == 0 && [';', ',', '}'].contains(&next)
        });
        let end = end.map_or(rest.len(), |at| at + usize::from(depth == 0));
        rest = &rest[end..];
    }
    kept + rest
}

/// The types of `impl Type {` at the left, without those of traits.
fn impls(code: &str) -> BTreeSet<String> {
    let code = format!("\n{code}");
    let heads = code.split("\nimpl").skip(1).filter_map(|rest| rest.split('{').next());
    let types = heads.filter(|head| !head.contains(" for ")).filter_map(|head| {
        let mut depth = 0;
        let named = head.trim_start_matches(|next| {
            depth += i32::from(next == '<') - i32::from(next == '>');
            depth > 0 || next == '>'
        });
        let path = named.trim_start().split(['<', ' ', '\n']).next()?;
        path.rsplit(':').next().map(str::to_owned)
    });
    types.collect()
}

/// What stands between words.
fn is_sign(next: char) -> bool {
    !next.is_alphanumeric() && next != '_'
}

/// What each `use` brings in.
fn uses(code: &str) -> Vec<(String, Vec<String>)> {
    let found =
        code.match_indices("use ").filter(|(at, _)| code[..*at].chars().next_back().is_none_or(is_sign));
    found.flat_map(|(at, mark)| leaves(&code[at + mark.len()..])).collect()
}

/// What each leaf of a tree of `use` brings in.
fn leaves(tree: &str) -> Vec<(String, Vec<String>)> {
    let (mut found, mut prefixes) = (Vec::new(), vec![Vec::new()]);
    let tree = tree.split(';').next().unwrap_or(tree);
    for part in tree.split_inclusive(['{', ',', '}']) {
        let mut names = part.trim_end_matches(['{', ',', '}']).trim().split(" as ");
        let (named, alias) = (names.next().unwrap_or_default(), names.next());
        let mut path = prefixes.last().cloned().unwrap_or_default();
        path.extend(named.split("::").filter(|name| !name.is_empty()).map(str::to_owned));
        if part.ends_with('{') {
            prefixes.push(path);
            continue;
        }
        path.pop_if(|last| last == "self");
        if !named.is_empty() {
            let name = alias.map(str::to_owned).or_else(|| path.last().cloned());
            found.push((name.unwrap_or_default(), path));
        }
        if part.ends_with('}') {
            prefixes.pop();
        }
    }
    found
}

/// The paths in the code, those of `use` among them.
fn paths(code: &str) -> Vec<Vec<String>> {
    let runs = code.split(|next| is_sign(next) && next != ':');
    let paths = runs.filter(|run| run.contains("::") && !run.starts_with(':'));
    let names = |path: &str| {
        path.trim_end_matches(':')
            .split("::")
            .map(|part| part.rsplit(':').next().unwrap_or(part).to_owned())
            .collect()
    };
    paths.map(names).collect()
}

/// What each script of a folder imports of the same folder. A script that is not in it is that of `shared`, from where the
/// package has it.
pub(crate) fn script_imports(folder: &Path, shared: &Path) -> Imports {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut open: Vec<_> = files.filter(|path| path.extension().is_some_and(|kind| kind == "js")).collect();
    let mut imports = Imports::new();
    while let Some(path) = open.pop() {
        let imported = imported_scripts(&read(&path));
        let is_new =
            imports.insert(path.file_stem().unwrap().to_string_lossy().into(), imported.clone()).is_none();
        let files = imported.iter().map(|name| format!("{name}.js"));
        let elsewhere =
            files.filter(|file| is_new && !folder.join(file).exists()).map(|file| shared.join(file));
        open.extend(elsewhere.filter(|path| path.exists()));
    }
    imports
}

/// The scripts beside it that a script names in `require`, `from` or `import`.
fn imported_scripts(text: &str) -> BTreeSet<String> {
    let rests = ["require('./", "from './", "import './"].map(|before| text.split(before).skip(1));
    let names = rests.into_iter().flatten().filter_map(|rest| rest.split('\'').next());
    names.map(|name| name.trim_end_matches(".js").to_owned()).collect()
}

/// What scripts that drive decide by themselves: errors, sentences, sleeps, and numbers of three digits and more, by the
/// name of the file. Each file is found once, in its folder or below it.
pub(crate) fn script_decisions(root: &Path, drivers: &[(&str, &[&str])]) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (folder, names) in drivers {
        let files = files_below(&root.join(folder));
        for name in *names {
            let its: Vec<_> = files.iter().filter(|file| file.ends_with(name)).collect();
            assert_eq!(its.len(), 1, "{folder}: {name}");
            let code = without_text(&read(its[0]), false);
            let lines = code.lines().map(str::trim).filter(|line| is_decision(line));
            found.extend(lines.map(|line| ((*name).to_owned(), line.to_owned())));
        }
    }
    found
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn is_decision(line: &str) -> bool {
    let parts = ["fault(", "LeafidError(", "refuse(", "refuseText(", "sleep(", SENTENCE];
    let is_import = line.starts_with("import ");
    let numbers = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_long = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.chars().filter(char::is_ascii_digit).count() > 2
    };
    !is_import && (parts.iter().any(|part| line.contains(part)) || numbers.into_iter().any(is_long))
}
