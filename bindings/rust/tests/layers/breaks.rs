//! Each rule finds what breaks it, in a crate that was made up.

use super::graph::circles;
use super::rules::{decisions, long_files, of_any_crate, of_the_host};
use super::sources::{Crate, script_decisions, script_imports};
use std::collections::BTreeSet;

#[test]
fn circles_are_found() {
    let named = |text: &str| text.split(' ').map(str::to_owned).collect::<BTreeSet<_>>();
    let files = [("a", "b"), ("b", "c d"), ("c", "a"), ("d", "e"), ("e", "")];
    let files = files.map(|(from, to)| (from.to_owned(), named(to))).into();
    assert_eq!(circles(&files), [["a", "b", "c"]]);
}

#[test]
fn circles_of_scripts_are_found() {
    let root = tempfile::tempdir().unwrap();
    let (folder, shared) = (root.path().join("lib"), root.path().join("shared"));
    for (file, text) in [
        (folder.join("a.js"), "const { b } = require('./b.js')\n"),
        (shared.join("b.js"), "import { c } from './c.js'\nimport './d.js'\n"),
        (folder.join("c.js"), "function late() {\n  return require('./a.js')\n}\n"),
        (folder.join("d.js"), "const fs = require('node:fs')\n"),
        (shared.join("a.js"), "import './d.js'\n"),
    ] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let imports = script_imports(&folder, &shared);
    assert_eq!(imports.keys().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert_eq!(circles(&imports), [["a", "b", "c"]]);
}

#[test]
fn what_breaks_a_rule_is_found_and_nothing_else() {
    let long = "// a comment\n\n".repeat(251);
    let tests = format!("#[cfg(test)]\nmod tests {{\n{long}}}\n");
    for (files, found) in [
        (
            &[
                ("os/a", "pub struct A;\nimpl A {\n}\n"),
                ("tasks/b", "use crate::os::a::A;\nimpl B for A {\n}\n"),
            ][..],
            &[][..],
        ),
        (
            &[("os/a", "use crate::os::b;"), ("os/b", "use super::a;")],
            &["circle: x: os/a", "circle: x: os/b"],
        ),
        (&[("os/a", "use crate::tasks::b;"), ("tasks/b", "")], &["import: os/a -> tasks/b"]),
        (
            &[("segments/a", "fn a() { crate::worker::b::c() }"), ("worker/b", "")],
            &["import: segments/a -> worker/b"],
        ),
        (
            &[
                ("os/a", "use crate::{os::{self, b}, http as c};\nm!(c::d::E, super::super::tasks::e::f);"),
                ("http/d", ""),
                ("tasks/e", ""),
            ],
            &["import: os/a -> http/d", "import: os/a -> tasks/e"],
        ),
        (&[("http/a", "unsafe fn a() {}")], &["unsafe: http/a"]),
        (&[("os/a", "unsafe fn a() {}"), ("http/a_b", "// unsafe\nconst A: &str = \"unsafe\";")], &[]),
        (&[("elsewhere", "")], &["no layer: elsewhere"]),
        (&[("os/a", "struct A;"), ("http/b", "pub(crate) enum A {}")], &["type: x: A: http/b os/a"]),
        (&[("os/a", ""), ("http/a", "")], &["stem: x: a: http/a os/a"]),
        (&[("os/a/linux", "struct A;"), ("os/a/macos", "struct A;\nimpl A {\n}\n")], &[]),
        (
            &[
                ("os/a", "struct A<T>(T);\nimpl<T: B<C>> A<T> {\n}\n"),
                ("os/b", "impl<T> super::a::A<T> {\n}\n"),
            ],
            &["spread: x: A: os/b"],
        ),
        (&[("os/a", &long)], &["long: x: os/a: 502"]),
        (&[("os/a", &tests)], &[]),
    ] {
        let sources = Crate::of_texts(files);
        assert_eq!([of_any_crate("x", &sources), of_the_host(&sources)].concat(), found, "{files:?}");
    }
}

#[test]
fn what_a_driver_decides_is_found() {
    let text = "use a::Code;\n#[allow(a, reason = \"a b c\")]\nfn a() {\n    b(Code::A, \"two words\", \"and three words\");\n}\n\
                const C: D = Duration::from_millis(1);\n// Code::B\n#[cfg(test)]\nmod tests {\n    use Code::C;\n}\n";
    let sources = Crate::of_texts(&[("segments/a", text), ("worker/b", "fn b() {}"), ("tasks/c", text)]);
    let found = ["b(Code::A, , SENTENCE);", "const C: D = Duration::from_millis(1);"];
    assert_eq!(decisions(&sources, &["segments", "worker"]), found.map(|line| ("segments/a", line)).into());
}

#[test]
fn what_a_driver_in_another_language_decides_is_found() {
    let root = tempfile::tempdir().unwrap();
    let script = "// fault('a comment is none')\nconst A = fault('closed', 'two words')\nb('and three words')\n\
                  const C_MS = 1_000\nconst d = this.#d + at2(99)\n/* 1234 */\n";
    let python =
        "# 1234\nraise LeafidError(\"closed\", text)\ntime.sleep(0.1)\n\"\"\"A text of many words.\"\"\"\n";
    for (name, text) in [("in/driver.js", script), ("host.py", python)] {
        let path = root.path().join("drivers").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let found = script_decisions(root.path(), &[("drivers", &["driver.js", "host.py"])]);
    let said = [
        ("driver.js", "b(SENTENCE)"),
        ("driver.js", "const A = fault(, )"),
        ("driver.js", "const C_MS = 1_000"),
        ("host.py", "raise LeafidError(, text)"),
        ("host.py", "time.sleep(0.1)"),
    ];
    assert_eq!(found, said.map(|(file, line)| (file.to_owned(), line.to_owned())).into());
}

#[test]
fn long_files_of_other_languages_are_found() {
    let root = tempfile::tempdir().unwrap();
    for (name, lines) in [("a.js", 500), ("b.js", 501), ("c.md", 501), ("index.d.ts", 501)] {
        std::fs::create_dir_all(root.path().join("node")).unwrap();
        std::fs::write(root.path().join("node").join(name), "\n".repeat(lines)).unwrap();
    }
    assert_eq!(long_files(root.path(), &["node"]), ["long: node/b.js: 501"]);
}
