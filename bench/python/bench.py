"""ns per id of Python id generators, one JSON line per measured subject. Arguments say what to measure."""

import importlib
import sys

PARTS = {
    "ours": ("ours", "measure"),
    "call": ("ours", "call"),
    "two": ("ours", "two"),
    "loop": ("ours", "plain_loop"),
    "fill": ("ours", "fill"),
    "tags": ("tags", "measure"),
    "tag_subjects": ("tags", "subjects"),
    "footprint": ("ours", "footprint"),
    "start": ("start", "measure"),
    "peers": ("peers", "measure"),
}

if __name__ == "__main__":
    for part in sys.argv[1:]:
        module, function = PARTS[part]
        getattr(importlib.import_module(module), function)()
