"""The stores: each kind is started once, and the tests of it use tags and names of their own."""

import itertools
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "databases"))
from databases import KINDS, Missing, SQLite  # noqa: E402
from etcd import Cluster  # noqa: E402
from servers import make_tag  # noqa: E402

numbers = itertools.count(1)
# Of those that run side by side: worker ids are taken on the whole host.
RUNNER = os.environ.get("PYTEST_XDIST_WORKER", "main")


def open_store(kind):
    try:
        return Cluster(3) if kind == "etcd" else KINDS[kind]()
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session", params=KINDS)
def store(request):
    store = open_store(request.param)
    yield store
    store.remove()


@pytest.fixture(scope="session", params=[*KINDS, "etcd"])
def any_store(request):
    """Also one without SQL."""
    store = open_store(request.param)
    yield store
    store.remove()


@pytest.fixture(scope="session", params=[name for name in KINDS if name != SQLite.name])
def engine(request):
    """A store that is a process of its own."""
    store = open_store(request.param)
    yield store
    store.remove()


@pytest.fixture
def file():
    """A store of one test."""
    store = SQLite()
    yield store
    store.remove()


@pytest.fixture
def name():
    """A name that no other test has."""
    return f"name-{RUNNER}-{next(numbers)}"


@pytest.fixture
def tag(name):
    return name.replace("name", "tag")


@pytest.fixture
def new_tag(tag):
    """Makes a tag in a store."""

    def make(store, step=1000, first=1, suffix=""):
        make_tag(store.url, tag + suffix, step, first)
        return tag + suffix

    return make
