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
    pub(crate) types: Vec<String>,
    /// The types that have methods here.
    impls: BTreeSet<String>,
    pub(crate) is_unsafe: bool,
}

impl Source {
    fn of(text: &str) -> Source {
        let code = without_tests(&without_text(text));
        let words = words(&code);
        let types =
            words.windows(2).filter(|two| ["struct", "enum", "trait", "type"].contains(&two[0].as_str()));
        // Associated types are no names of the module's.
        let types = types.map(|two| two[1].clone()).filter(|name| {
            code.lines().any(|line| {
                !line.starts_with(' ')
                    && ["struct ", "enum ", "trait ", "type "]
                        .iter()
                        .any(|kind| line.contains(&format!("{kind}{name}")))
            })
        });
        Source {
            lines: code.lines().count(),
            types: types.collect::<BTreeSet<_>>().into_iter().collect(),
            impls: impls(&code),
            is_unsafe: words.iter().any(|word| word == "unsafe"),
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
            let Some((_, name)) =
                line.split_once("mod ").filter(|(before, _)| before.is_empty() || before.starts_with("pub"))
            else {
                continue;
            };
            if let Some(name) = name.strip_suffix(';') {
                let inner = if module.is_empty() { name.to_owned() } else { format!("{module}/{name}") };
                let path = folder.join(format!("{inner}.rs"));
                self.add(&inner, &path, folder);
            }
        }
        self.files.insert(module.to_owned(), source);
    }

    /// How many names the crate's own file hands on.
    pub(crate) fn root_names(&self) -> usize {
        let exports =
            self.files[""].code.split(';').filter_map(|item| item.trim_start().strip_prefix("pub use "));
        exports
            .map(|item| {
                words(item.rsplit("::{").next().unwrap_or(item)).iter().filter(|word| *word == ",").count()
                    + 1
            })
            .sum()
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

/// Without comments, and with nothing inside of strings.
fn without_text(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let raw = rest.starts_with("r\"") || rest.starts_with("r#\"");
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if raw && !code.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            let end = if rest.starts_with("r#") { "\"#" } else { "\"" };
            let begun = end.len() + 1;
            begun + rest[begun..].find(end).unwrap() + end.len()
        } else if next == '"' {
            end_of_string(rest, next)
        } else if next == '\'' {
            end_of_char(rest)
        } else {
            0
        };
        let taken = if skipped == 0 { next.len_utf8() } else { skipped };
        let is_text = rest.starts_with(['"', 'r']);
        match skipped {
            0 => code.push(next),
            _ if is_text && rest[..taken].split_whitespace().count() > 2 => code += SENTENCE,
            _ => {}
        }
        if skipped > 0 {
            code.extend(rest[..taken].chars().filter(|c| *c == '\n'));
        }
        rest = &rest[taken..];
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
    let mut kept = String::new();
    let mut rest = code;
    loop {
        let marks = [
            "#[cfg(test)]",
            "#[cfg(fuzzing)]",
            "#[cfg(all(test,",
            "#[cfg(all(fuzzing,",
            "#[cfg(any(test, fuzzing",
        ];
        let Some(at) = marks.iter().filter_map(|mark| rest.find(mark)).min() else { break };
        kept += &rest[..at];
        rest = &rest[at..];
        // Up to the end of the item: a semicolon, or its braces.
        let mut depth = 0;
        let end = rest.char_indices().find(|(at, next)| {
            depth += match next {
                '{' | '(' | '[' => 1,
                '}' | ')' | ']' => -1,
                _ => 0,
            };
            depth == 0 && (*next == ';' || *next == ',' || *next == '}') || depth < 0 && *at > 0
        });
        let (at, last) = end.unwrap_or((rest.len() - 1, ' '));
        rest = &rest[if depth < 0 { at } else { at + last.len_utf8() }..];
    }
    kept + rest
}

/// The types of `impl Type {` at the left, without those of traits.
fn impls(code: &str) -> BTreeSet<String> {
    let heads = format!("\n{code}");
    let heads = heads.split("\nimpl").skip(1).filter_map(|rest| rest.split('{').next());
    let types = heads.filter(|head| !head.contains(" for ")).filter_map(|head| {
        let mut depth = 0;
        let plain: String = head
            .chars()
            .map(|next| {
                depth += i32::from(next == '<') - i32::from(next == '>');
                if depth > 0 || next == '>' { ' ' } else { next }
            })
            .collect();
        let path = plain.split_whitespace().next()?.to_owned();
        path.rsplit(':').next().map(str::to_owned)
    });
    types.collect()
}

/// Identifiers and the signs between them.
fn words(code: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for next in code.chars() {
        let part = next.is_alphanumeric() || next == '_';
        match words.last_mut() {
            Some(word) if part && open => word.push(next),
            Some(word) if next == ':' && word == ":" => word.push(next),
            _ if next.is_whitespace() => {}
            _ => words.push(next.to_string()),
        }
        open = part;
    }
    words
}

/// What each `use` at the left brings in.
fn uses(code: &str) -> Vec<(String, Vec<String>)> {
    let words = words(code);
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if word == "use" {
            tree(&words, at + 1, &[], &mut found);
        }
    }
    found
}

/// Reads a tree of `use` at a word, and answers which word is after it.
fn tree(words: &[String], mut at: usize, prefix: &[String], found: &mut Vec<(String, Vec<String>)>) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match words[at].as_str() {
            "{" => {
                at += 1;
                while words[at] != "}" {
                    at = tree(words, at, &path, found);
                    at += usize::from(words[at] == ",");
                }
                return at + 1;
            }
            "::" => {}
            word if words[at + 1] == "::" => path.push(word.to_owned()),
            word => {
                if word != "self" {
                    path.push(word.to_owned());
                }
                let alias = (words[at + 1] == "as").then(|| words[at + 2].clone());
                let name = alias.clone().or_else(|| path.last().cloned()).unwrap_or_default();
                found.push((name, path));
                return at + if alias.is_some() { 3 } else { 1 };
            }
        }
        at += 1;
    }
}

/// The paths in the code besides `use`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let words = words(code);
    let is_name = |word: &String| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < words.len() {
        let mut path = Vec::new();
        while at + 1 < words.len() && is_name(&words[at]) && words[at + 1] == "::" {
            path.push(words[at].clone());
            at += 2;
        }
        if !path.is_empty() && is_name(&words[at]) {
            path.push(words[at].clone());
        }
        if !path.is_empty() {
            found.push(path);
        }
        at += 1;
    }
    found
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
            let code = script_code(&read(its[0]));
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

/// As [`Source::code`], of JavaScript or Python without regular expressions.
pub(crate) fn script_code(text: &str) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(next) = rest.chars().next() {
        let until =
            |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
        let is_private = rest.starts_with('#') && rest[1..].starts_with(|c: char| c.is_alphanumeric());
        let skipped = if rest.starts_with("//") || (rest.starts_with('#') && !is_private) {
            until("\n", 0) - 1
        } else if rest.starts_with("/*") {
            until("*/", 2)
        } else if rest.starts_with("\"\"\"") {
            until("\"\"\"", 3)
        } else if ['"', '\'', '`'].contains(&next) {
            let end = end_of_string(rest, next);
            if rest[..end].split_whitespace().count() > 2 {
                code += SENTENCE;
            }
            end
        } else {
            code.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        code.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
        rest = &rest[skipped..];
    }
    code
}
