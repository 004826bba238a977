"""The hook that looks at the messages of commits."""

import subprocess
from pathlib import Path

import pytest

HOOK = Path(__file__).resolve().parents[1] / ".githooks/commit-msg"


def refused(folder, message, changed=()):
    """What the hook says in a repository with these new files, or None where it lets the commit be."""
    subprocess.run(["git", "init", "-q", folder], check=True)
    for name in changed:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        subprocess.run(["git", "add", name], cwd=folder, check=True)
    text = folder / "message"
    text.write_text(message)
    done = subprocess.run([HOOK, text], cwd=folder, capture_output=True, text=True)
    return done.stderr if done.returncode else None


@pytest.mark.parametrize("message", [
    "core: refuse a span past the last tick\n\nIts ids would be negative.\n",
    "Draw the plots in build/bench\n",
    "docs, node: say what `take` gives\n",
    "core: embed the epoch in the layout\n",
    "é" * 60 + "\n",
    'Revert "core: a subject that somebody else wrote, whatever it says and however long"\n',
])
def test_a_message_of_these_is_taken(tmp_path, message):
    assert refused(tmp_path, message) is None


@pytest.mark.parametrize("message, why", [
    ("\n# a comment\n", "empty"),
    ("core: " + "x" * 55 + "\n", "61 characters"),
    ("core: a span past the last tick is refused\n", "begins with 'a'"),
    ("Added a span\n", "begins with 'added'"),
    ("node: fixing the wait\n", "begins with 'fixing'"),
])
def test_a_message_of_these_is_refused_with_its_reason(tmp_path, message, why):
    assert why in refused(tmp_path, message)


def test_a_change_of_the_core_says_why(tmp_path):
    assert "needs a body" in refused(tmp_path, "core: keep one more\n", ["core/src/lib.rs"])
    assert refused(tmp_path, "core: keep one more\n\nA fork took it.\n", ["core/src/lib.rs"]) is None
    assert refused(tmp_path / "tests", "core: test one more\n", ["core/tests/main.rs"]) is None
