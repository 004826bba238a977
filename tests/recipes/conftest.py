"""The stores of the recipes. A module has RECIPES, those of each kind, and `opened(kind)`: a store, and its URL."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "databases"))
from databases import Missing  # noqa: E402


def pytest_generate_tests(metafunc):
    if "store" in metafunc.fixturenames:
        metafunc.parametrize("store", metafunc.module.RECIPES, indirect=True)


@pytest.fixture
def store(request):
    """A store, and its recipes."""
    try:
        store, url = request.module.opened(request.param)
    except Missing as missing:
        pytest.skip(str(missing))
    yield store, [recipe.at(url) for recipe in request.module.RECIPES[request.param]]
    store.remove()
