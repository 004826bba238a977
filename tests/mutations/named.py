"""Fails when a rule has no row in rules.toml or no break, when a test that one of them names is not in the tree or not
run, and when what a break replaces does not stand once in its file. Only the standard library.
"""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
#: So many rules there are: one that is lost is noticed.
RULES = [f"N{n}" for n in range(1, 26)] + [f"H{n}" for n in range(1, 84)]


def breaks():
    """Each break of breaks-*.toml, with the batch that its header names."""
    for table in sorted(HERE.glob("breaks-*.toml")):
        for batch, rows in tomllib.loads(table.read_text()).items():
            yield from ({**each, "batch": batch} for each in rows)


def rows():
    return tomllib.loads((HERE / "rules.toml").read_text())


def rules():
    """Each rule with its tests, (file, name): those of its breaks, and those that rules.toml names besides."""
    found = {rule: dict.fromkeys(row.get("tests", [])) for rule, row in rows().items()}
    for each in breaks():
        for rule in each["rules"].split():
            found.setdefault(rule, {}).update(dict.fromkeys(each["tests"]))
    return {rule: [test.partition("::")[::2] for test in tests] for rule, tests in found.items()}


def rust(text):
    """Functions that `cargo test` runs: `#[test]` or tokio's, other attributes, and the name. Ignored ones are none."""
    found = re.findall(r"^\s*#\[(?:tokio::)?test\b.*\]\n((?:\s*(?:#\[|//).*\n)*)\s*(?:pub )?(?:async )?fn (\w+)\(", text, re.M)
    return [re.escape(name) for attributes, name in found if "#[ignore" not in attributes]


def quoted(text, call):
    """Literal titles of calls such as `test("…", …`."""
    found = re.findall(r"\b" + call + r"""\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""", text)
    return [re.escape(re.sub(r"\\(.)", r"\1", one or other)) for one, other in found]


def java(text):
    """Methods that JUnit runs: their annotation, others, and the name."""
    return re.findall(r"^\s*@(?:Parameterized)?Test\n(?:\s*@.*\n)*\s*void (\w+)\(", text, re.M)


def python(text):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = (node.name for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    return [re.escape(name) for name in names if name.startswith("test")]


def system(text):
    """Titles given to `test`; what an f-string fills in may be anything."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id == "test" and call.args:
            title = call.args[0]
            parts = title.values if isinstance(title, ast.JoinedStr) else [title]
            yield "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in parts)


def tests_in(path):
    """Patterns of the names of a file's tests."""
    text = path.read_text()
    if path.suffix == ".rs":
        # The models of tests/shuttle, and in how many schedules.
        return rust(text) + re.findall(r"^    (\w+): [\d_]+;$", text, re.M)
    if path.suffix == ".json":
        return [re.escape(scenario["name"]) for scenario in json.loads(text)["scenarios"]]
    if path.suffix in (".c", ".cpp"):
        return quoted(re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S), "test(?:_forks_beside|_unwatched)?")
    if path.suffix == ".mjs":
        return quoted(re.sub(r"^\s*//.*$", "", text, flags=re.M), "test")
    if path.suffix == ".java":
        return java(text)
    return system(text) if path.parent.name == "system" else python(text)


def is_run(path):
    """Whether the runner of a folder knows the file: those of the core and of C are listed."""
    runner = path.parent / "run.py"
    if path.match("core/tests/*.rs"):
        return f"mod {path.stem};" in (path.parent / "main.rs").read_text()
    if not runner.exists():
        return True
    name = path.name if path.parent.name == "c" else path.stem
    return re.search(rf"\b{re.escape(name)}\b", runner.read_text()) is not None


def wrong(root, tracked):
    """What is wrong with the rules, a line each."""
    found = rules()
    known = {}
    broken = {rule for each in breaks() for rule in each["rules"].split()}
    for rule in RULES:
        if rule not in rows():
            yield f"{rule} has no row in rules.toml"
        if rule not in broken:
            yield f"{rule} has no break: add one to a breaks-*.toml, and see a test fail by it (broken.py {rule})"
    for rule, tests in found.items():
        if rule not in RULES:
            yield f"{rule} is no known rule: add it to {Path(__file__).name}"
        for file, name in tests:
            if file not in known:
                known[file] = list(tests_in(root / file)) if file in tracked else None
            if known[file] is None:
                yield f"{rule}: there is no {file}"
            elif not any(re.fullmatch(pattern, name) for pattern in known[file]):
                yield f"{rule}: {file} has no test {name!r}"
            elif not is_run(root / file):
                yield f"{rule}: {file} is not run: the run.py or main.rs beside it does not name it"


def wrong_breaks(root):
    """What is wrong with the breaks, a line each."""
    from runners import RUNNERS  # which imports this file

    for each in breaks():
        if not each["tests"]:
            yield f"{each['rules']}, {each['what']!r} names no test"
        for test in each["tests"]:
            if not any(test.startswith(folder) for folder, _ in RUNNERS):
                yield f"{each['rules']}, {each['what']!r}: runners.py does not run {test}"
        for change in [each, *each.get("also", [])]:
            file = root / change["file"]
            count = file.read_text().count(change["old"]) if file.exists() else 0
            if count != 1:
                yield f"{each['rules']}, {each['what']!r}: {change['file']} holds this {count} times:\n{change['old']}"


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return {file for file in listed.stdout.splitlines() if (ROOT / file).is_file()}
    return {str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()}


def main():
    lines = [f"rules: {line}" for line in wrong(ROOT, tracked_files())]
    core = [path for path in (ROOT / "core/tests").glob("*.rs") if path.stem != "main"]
    lines += [f"core/tests/main.rs does not name {path.name}" for path in core if not is_run(path)]
    lines += [f"breaks: {line}" for line in wrong_breaks(ROOT)]
    for line in lines:
        print(line, file=sys.stderr)
    if lines:
        sys.exit(1)
    tests = {test for tests in rules().values() for test in tests}
    print(f"tests/mutations/rules.toml: {len(RULES)} rules, {len(tests)} tests, each in its place")


if __name__ == "__main__":
    main()
