"""Writes each block of code of docs/JAVASCRIPT.md whose first line names a file: recipes.py PAGE FOLDER."""

import pathlib
import re
import sys

page, folder = map(pathlib.Path, sys.argv[1:])
blocks = re.findall(r"^```(?:js|python)\n(?://|#) (\S+)\n(.*?)^```$", page.read_text(), re.M | re.S)
fences = len(re.findall(r"^```(?:js|python)$", page.read_text(), re.M))
if not blocks or len(blocks) != fences:
    sys.exit(f"FAIL {page}: {fences} blocks of code, and {len(blocks)} that name a file")
for name, code in blocks:
    (folder / name).write_text(code)
