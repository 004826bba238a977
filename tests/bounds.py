#!/usr/bin/env python3
"""Finds tests whose verdict is a short time of a real clock: they fail on a busy machine.

A test waits for an event, or runs on virtual time. What it may ask of a clock is that something does not hang, with a
bound of LEAST_MS or more, and that no less than a time has passed. A test of Node has no bound of its own: all have that
of --test-timeout.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEAST_MS = 8_000
TESTS = [
    "bindings/*/tests/**/*.rs", "bindings/*/src/**/tests*/*.rs", "bindings/*/src/**/tests.rs", "core/tests/**/*.rs",
    "server/tests/**/*.rs", "tests/c/*.c", "python/tests/*.py", "node/tests/*.mjs", "tests/wasm_js/*.mjs", "tests/server/*.py",
    "tests/fake_servers/*.py", "tests/monitoring/*.py", "tests/service/*.py", "tests/recipes/*.py",
    "tests/system/*.py",
]
#: An upper bound: its number, and how many milliseconds its unit has.
BOUNDS = [
    (r"elapsed\(\) < (?:std::time::)?Duration::from_millis\(([\d_]+)\)", 1),
    (r"elapsed\(\) < (?:std::time::)?Duration::from_secs\(([\d_]+)\)", 1_000),
    (r"CHECK\(.*now_ms\(\) - \w+ < (\d+)", 1),
    (r"assert .*time\.monotonic\(\) - \w+ < ([\d.]+)", 1_000),
    (r"(?:micros|slowest|took) < ([\d_]+)", 0.001),
    (r"say\(.*time\.monotonic\(\) - \w+ < ([\d.]+)", 1_000),
    (r"assert\.ok\((?:performance|Date)\.now\(\) - \w+ < ([\d_]+)", 1),
    (r"\.\.=?([\d_]+)\)\.contains\(&\(?\w+\.elapsed\(\)", 1),
    (r"(?:const timeout = |\{ timeout: )([\d_]+)(?: \}, (?:async|\()|$)", 0),
]


def test_no_verdict_is_a_short_time_of_a_real_clock() -> int:
    found = []
    for path in sorted({path for pattern in TESTS for path in ROOT.glob(pattern)}):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for pattern, unit in BOUNDS:
                bound = re.search(pattern, line)
                if bound and "while" not in line and float(bound[1].replace("_", "")) * unit < LEAST_MS:
                    found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    for line in found:
        print(f"a bound of less than {LEAST_MS} ms on a real clock; wait for an event: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(test_no_verdict_is_a_short_time_of_a_real_clock())
