"""What docs/JAVASCRIPT.md says of drivers and ORMs of Node on real servers: store_ids.mjs."""

import os
import subprocess

import pytest
from databases import KINDS, Missing
from takers import PATIENCE, PROJECT


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_ids_come_back_as_the_table_says(kind):
    try:
        database = KINDS[kind]()
    except Missing as missing:
        pytest.skip(str(missing))
    try:
        command = ["node", PROJECT / "store_ids.mjs", kind, database.url]
        environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        database.remove()
