"""A program frozen by PyInstaller has all that leafid needs: test_frozen.py"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).with_name("program.py")


class Frozen(unittest.TestCase):
    def test_a_frozen_program_runs(self):
        with tempfile.TemporaryDirectory(prefix="leafid-frozen-") as place:
            subprocess.run(
                [sys.executable, "-m", "PyInstaller", "--log-level", "ERROR", "--distpath", f"{place}/dist",
                 "--workpath", f"{place}/build", "--specpath", place, PROGRAM],
                check=True,
            )
            ran = subprocess.run(
                [f"{place}/dist/program/program", f"{place}/state"], capture_output=True, text=True, timeout=60
            )
            self.assertEqual((ran.returncode, ran.stdout), (0, "done\n"), ran.stderr)
            self.assertIn("one slot of ", ran.stderr)


if __name__ == "__main__":
    unittest.main()
