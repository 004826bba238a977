"""The stores of the recipes. A module has RECIPES, the names of each kind, and `opened(kind)`."""

import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "databases"))
from databases import Missing  # noqa: E402
from takers import PROJECT  # noqa: E402


def pytest_generate_tests(metafunc):
    if "store" in metafunc.fixturenames:
        metafunc.parametrize("store", metafunc.module.RECIPES, indirect=True)


@pytest.fixture
def store(request):
    """A store, the environment of its recipes, and their names."""
    try:
        store, environment = request.module.opened(request.param)
    except Missing as missing:
        pytest.skip(str(missing))
    yield store, environment, request.module.RECIPES[request.param]
    store.remove()


@pytest.fixture
def folder():
    """For recipes that are changed: below the project, where they find its packages."""
    with tempfile.TemporaryDirectory(prefix="broken-", dir=PROJECT) as folder:
        yield Path(folder)
