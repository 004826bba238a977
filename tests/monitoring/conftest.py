"""A place of each test's own."""

import itertools
import os

import pytest

_numbers = itertools.count()


@pytest.fixture
def space(tmp_path):
    return {"name": f"m{os.getpid()}-{next(_numbers)}", "state_dir": str(tmp_path / "state"), "timeout_ms": 60_000}
