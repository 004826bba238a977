"""What runs again, and what does not."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

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


class Again(unittest.TestCase):
    def test_of_each_target_the_tests_that_failed(self):
        first, second = retries.cargo(["cargo", "test"], CARGO)
        self.assertEqual(first[3:], ["-p", "leafid", "--test", "some", "--", "--exact", "it_waits"])
        self.assertEqual(second[3:], ["-p", "leafid", "--lib", "--", "--exact", "clocks::first", "clocks::second"])

    def test_what_did_not_end_by_failing_tests_is_not_run_again(self):
        killed = CARGO + "Caused by:\n  process didn't exit successfully: `some` (signal: 11, SIGSEGV)\n"
        self.assertEqual(retries.cargo(["cargo", "test"], killed), [])
        self.assertEqual(retries.cargo(["cargo", "test"], "error: could not compile `leafid`\n"), [])
        self.assertEqual(retries.pytest(["pytest"], "Fatal Python error: Segmentation fault\n"), [])
        self.assertEqual(retries.node(["node", "--test", "a.test.mjs"], "node: bad option\n"), [])
        self.assertEqual(retries.c(["run.py"], "# packaging\nnot ok - a program built with CMake\n"), [])

    def test_files_of_node(self):
        output = "✖ failing tests:\n\ntest at test/b.test.mjs:12:1\n✖ it ends (3 ms)\n"
        command = ["node", "--test", "test/a.test.mjs", "test/b.test.mjs"]
        self.assertEqual(retries.node(command, output), [["node", "--test", "test/b.test.mjs"]])

    def test_ids_that_came_twice(self):
        self.assertTrue(retries.about_ids("assertion `left == right` failed: 3 duplicates\n"))
        self.assertTrue(retries.about_ids("E   AssertionError: 40000 != len(set(ids))\n"))
        self.assertTrue(retries.about_ids("not ok - each id once: 39999 is not 40000: repeated\n"))
        self.assertFalse(retries.about_ids("ok - duplicates 0\nE   AssertionError: 3 s\n"))
        self.assertFalse(retries.about_ids(CARGO))

    def run_twice(self, fails: int, what: str):
        """The exit status, what was printed, and how often it ran, of a program that fails so often at first."""
        with tempfile.TemporaryDirectory() as directory:
            runs, program = Path(directory, "runs"), Path(directory, "program.py")
            program.write_text(PROGRAM)
            command = [sys.executable, retries.__file__, "c", sys.executable, program, runs, str(fails), what]
            ran = subprocess.run(command, env={"LEAFID_RETRY": "1"}, capture_output=True, text=True, timeout=60)
            return ran.returncode, ran.stdout, runs.read_text().splitlines()

    def test_a_second_try(self):
        status, output, runs = self.run_twice(1, "it waits")
        self.assertEqual((status, runs[1]), (0, "1 it waits other"))
        self.assertIn("AGAIN", output)

    def test_a_failure_that_stays(self):
        status, _, runs = self.run_twice(2, "it waits")
        self.assertEqual((status, len(runs)), (1, 2))

    def test_no_second_try_where_an_id_came_twice(self):
        status, output, runs = self.run_twice(1, "no id twice")
        self.assertEqual((status, len(runs)), (1, 1))
        self.assertIn("NOT AGAIN", output)


if __name__ == "__main__":
    unittest.main()
