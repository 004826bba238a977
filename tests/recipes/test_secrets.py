"""No error of leafid.sources, leafid.leases and their drivers shows a password, in whatever way a URL has one."""

import importlib
import json
import subprocess

import leafid
import pytest
from takers import HERE, PATIENCE, PROJECT

VECTOR = json.loads((HERE.parent / "vectors/secrets.json").read_text())
MARKER = VECTOR["marker"]
SCHEMES = {"mysql": "mysql", "postgres": "postgresql", "redis": "redis", "etcd": "http", "zookeeper": "zk"}
MODULES = [
    "sources.mysql", "sources.postgres", "sources.redis", "leases.postgres", "leases.redis", "leases.etcd",
    "leases.zookeeper",
]  # fmt: skip
WITHOUT_USER = ("leases.etcd", "leases.zookeeper")


def urls(module):
    scheme = SCHEMES[module.split(".")[1]]
    # No server is there.
    return [url.replace("SCHEME", scheme).replace("HOST", "127.0.0.1:1") for url in VECTOR["urls"]]


def shown(error):
    """An error and its causes."""
    while error is not None:
        yield f"{error!r} {error}"
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("module", MODULES)
def test_python(module):
    made = importlib.import_module(f"leafid.{module}")
    make = getattr(made, module.split(".")[0].removesuffix("s"), None) or made.leases
    ways = [{}, {"driver": "asyncpg"}] if module.endswith("postgres") else [{}]
    for url in urls(module):
        for options in ways:
            with pytest.raises(Exception) as caught:
                make(url, **options).check()
            for text in shown(caught.value):
                assert MARKER not in text, url
            if module not in WITHOUT_USER and "%2FS3CB%40" in url:
                # It is right, and reaches the driver.
                assert not isinstance(caught.value, leafid.InvalidArgumentError), url


@pytest.mark.parametrize("module", MODULES)
def test_node(module):
    command = ["node", PROJECT / "secrets.mjs", module, json.dumps(urls(module))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and MARKER not in done.stdout + done.stderr, done.stdout + done.stderr
    said = done.stdout.splitlines()
    assert len(said) == len(urls(module))
    right = [text for text, url in zip(said, urls(module)) if "%2FS3CB%40" in url]
    assert ("ERR_LEAFID_INVALID_ARGUMENT" in right[0]) == (module in WITHOUT_USER), right
