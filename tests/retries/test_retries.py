"""What runs again, and what does not."""

import subprocess
import sys

import retries

CARGO = """
running 2 tests
.it_waits --- FAILED

failures:

---- it_waits stdout ----

thread 'it_waits' (7) panicked at tests/some.rs:7:5:
too late


failures:
    it_waits

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p leafid --test some`
failures:

failures:
    clocks::first
    clocks::second

test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p leafid --lib`
error: 2 targets failed:
    `-p leafid --test some`
    `-p leafid --lib`
"""
# Says how it went the first time and the second, and with which arguments it was called.
PROGRAM = """
import pathlib, sys
runs = pathlib.Path(sys.argv[1])
runs.write_text(runs.read_text() + " ".join(sys.argv[2:]) + "\\n" if runs.exists() else "\\n")
ok = runs.read_text().count("\\n") > int(sys.argv[2])
print("# some (shared)\\nok - it adds\\n# other (static)\\n" + ("ok - " if ok else "not ok - ") + sys.argv[3])
sys.exit(not ok)
"""


def test_of_each_target_the_tests_that_failed():
    first, second = retries.cargo(["cargo", "test"], CARGO)
    assert first[3:] == ["-p", "leafid", "--test", "some", "--", "--exact", "it_waits"]
    assert second[3:] == ["-p", "leafid", "--lib", "--", "--exact", "clocks::first", "clocks::second"]
    first, _ = retries.cargo(["cargo", "test", "--release", "--target", "other", "--lib", "--", "--skip", "slow"], CARGO)
    assert first[3:8] == ["--target", "other", "--release", "-p", "leafid"]


def test_what_did_not_end_by_failing_tests_is_not_run_again():
    killed = CARGO + "Caused by:\n  process didn't exit successfully: `some` (signal: 11, SIGSEGV)\n"
    assert retries.cargo(["cargo", "test"], killed) == []
    assert retries.cargo(["cargo", "test"], "error: could not compile `leafid`\n") == []
    assert retries.pytest(["pytest"], "Fatal Python error: Segmentation fault\n") == []
    assert retries.node(["node", "--test", "a.test.mjs"], "node: bad option\n") == []
    assert retries.c(["run.py"], "# packaging\nnot ok - a program built with CMake\n") == []


def test_files_of_node():
    output = "✖ failing tests:\n\ntest at test/b.test.mjs:12:1\n✖ it ends (3 ms)\n"
    command = ["node", "--test", "test/a.test.mjs", "test/b.test.mjs"]
    assert retries.node(command, output) == [["node", "--test", "test/b.test.mjs"]]


def test_ids_that_came_twice():
    assert retries.about_ids("assertion `left == right` failed: 3 duplicates\n")
    assert retries.about_ids("E   AssertionError: 40000 != len(set(ids))\n")
    assert retries.about_ids("not ok - each id once: 39999 is not 40000: repeated\n")
    assert not retries.about_ids("ok - duplicates 0\nE   AssertionError: 3 s\n")
    assert not retries.about_ids(CARGO)


def run_twice(directory, fails, what):
    """The exit status, what was printed, and how often it ran, of a program that fails so often at first."""
    runs, program = directory / "runs", directory / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, retries.__file__, "c", sys.executable, program, runs, str(fails), what]
    ran = subprocess.run(command, env={"LEAFID_RETRY": "1"}, capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stdout, runs.read_text().splitlines()


def test_a_second_try(tmp_path):
    status, output, runs = run_twice(tmp_path, 1, "it waits")
    assert (status, runs[1]) == (0, "1 it waits other")
    assert "AGAIN" in output


def test_a_failure_that_stays(tmp_path):
    status, _, runs = run_twice(tmp_path, 2, "it waits")
    assert (status, len(runs)) == (1, 2)


def test_no_second_try_where_an_id_came_twice(tmp_path):
    status, output, runs = run_twice(tmp_path, 1, "no id twice")
    assert (status, len(runs)) == (1, 1)
    assert "NOT AGAIN" in output
