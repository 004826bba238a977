"""Writes each block of code of a page into a file: its first line is a comment with the name. blocks.py PAGE FOLDER."""

import pathlib
import re
import sys

LANGUAGES = "(?:js|prisma|python|rust|sql|lua|sh|conf|text)"

page, folder = map(pathlib.Path, sys.argv[1:])
blocks = re.findall(rf"^```{LANGUAGES}\n(?://|#|--) (\S+)\n(.*?)^```$", page.read_text(), re.M | re.S)
fences = len(re.findall(r"^```\w+$", page.read_text(), re.M))
if not blocks or len(blocks) != fences:
    sys.exit(f"FAIL {page}: {fences} blocks of code, and {len(blocks)} that name a file")
for name, code in blocks:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(code)
