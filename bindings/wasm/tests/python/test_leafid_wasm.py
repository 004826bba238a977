"""The host in Python: the vectors, and the rules of restarts, with files that leafid's module reads."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import leafid_wasm
from leafid_wasm import LeafidError, Module, Snowflake

ROOT = Path(__file__).parents[4]
MODULE = ROOT / "build/wasm/leafid.wasm"
VECTORS = json.loads((ROOT / "tests/vectors/snowflake.json").read_text())
PROGRAM = """
import sys
from leafid_wasm import Module, Snowflake
flake = Snowflake(Module(sys.argv[1]), 7, sys.argv[2], sys.argv[3])
while True:
    print(flake.next(), flush=True)
"""


@pytest.fixture
def module():
    return Module(MODULE)


@pytest.fixture
def space(tmp_path):
    """An id space of its own: its host locks are those of the whole host."""
    return {"state_dir": tmp_path, "name": f"wasm-{os.getpid()}-{time.time_ns()}"}


def opened(space, **options):
    return Snowflake(Module(MODULE), 7, **space, **options)


def layout(module, name):
    if "|" not in name:
        return module.call("layout_parse", name)
    fields = VECTORS["layouts"][name]
    names = ("epoch_ms", "tick_ms", "timestamp_bits", "worker_bits", "sequence_bits")
    return module.call("layout_new", *(float(fields[name]) for name in names), fields["order"])


def test_vectors(module):
    assert VECTORS["valid"] and VECTORS["refused"] and VECTORS["decode_refused"]
    for case in VECTORS["valid"]:
        handle = layout(module, case["layout"])
        parts = (float(case["timestamp_ms"]), float(case["worker_id"]), float(case["sequence"]))
        assert module.call("compose", handle, *parts) == int(case["id"])
        module.call("decode", handle, int(case["id"]))
        assert module.numbers(3) == parts
    for case in VECTORS["refused"]:
        parts = (float(case["timestamp_ms"]), float(case["worker_id"]), float(case["sequence"]))
        with pytest.raises(LeafidError) as found:
            module.call("compose", layout(module, case["layout"]), *parts)
        assert found.value.code == case["error"]
    for case in VECTORS["decode_refused"]:
        with pytest.raises(LeafidError) as found:
            module.call("id_parse", case["id"])
        assert found.value.code == case["error"]


def test_ids_ascend_over_restarts(space):
    last = 0
    for _ in range(5):
        flake = opened(space)
        ids = [flake.next() for _ in range(5000)]
        assert ids == sorted(set(ids)) and ids[0] > last
        last = ids[-1]
        flake.close()
        with pytest.raises(LeafidError) as found:
            flake.next()
        assert found.value.code == "closed"


def test_a_span_is_extended_before_it_ends(space):
    flake = opened(space)
    ids = []
    while flake.stats()["renewals"] < 2:
        ids.append(flake.next())
        time.sleep(0.005)
    assert ids == sorted(set(ids))
    flake.close()


def test_a_killed_process_repeats_nothing(space):
    environment = dict(os.environ, PYTHONPATH=str(Path(leafid_wasm.__file__).parent))
    seen = []
    for _ in range(3):
        command = [sys.executable, "-c", PROGRAM, MODULE, space["state_dir"], space["name"]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
            seen += [int(process.stdout.readline()) for _ in range(200)]
            process.send_signal(signal.SIGKILL)
            seen += [int(line) for line in process.stdout if line.endswith("\n")]
    assert len(seen) >= 600 and seen == sorted(set(seen))


def test_ids_end_with_the_span_when_the_disk_fails(space, monkeypatch):
    flake = opened(space)
    last = flake.next()

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdatasync", fails)
    until_ms, found = flake.stats()["reserved_until_ms"], None
    while found is None:
        try:
            last = flake.next()
        except LeafidError as error:
            found = error.code
    assert found == "state_io" and time.time_ns() // 1_000_000 >= until_ms
    monkeypatch.undo()
    time.sleep(0.3)
    assert flake.next() > last
    flake.close()


def test_a_worker_id_has_one_holder(space):
    flake = opened(space)
    with pytest.raises(LeafidError) as found:
        opened(space, timeout_ms=60_000)
    assert found.value.code == "worker_in_use"
    Snowflake(Module(MODULE), 8, **space).close()
    flake.close()


def test_a_write_leaves_the_slot_of_the_one_before(space):
    for _ in range(2):
        opened(space).close()
    content = (space["state_dir"] / space["name"] / "worker-7.state").read_bytes()
    one, other = (json.loads(content[at : at + 4096])["number"] for at in (0, 4096))
    assert abs(one - other) == 1


def test_a_generator_whose_record_was_deleted_gets_no_further_span(space):
    flake = opened(space)
    last = flake.next()
    os.unlink(space["state_dir"] / space["name"] / "worker-7.state")
    until_ms = flake.stats()["reserved_until_ms"]
    with pytest.raises(LeafidError, match="deleted, moved or replaced") as found:
        while True:
            last = flake.next()
    assert found.value.code == "worker_lost" and time.time_ns() // 1_000_000 >= until_ms > 0 < last


def test_a_forked_child_is_refused(space):
    flake = opened(space)
    flake.next()
    child = os.fork()
    if child == 0:
        try:
            flake.next()
        except LeafidError as error:
            os._exit(0 if error.code == "worker_lost" else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    flake.next()
    flake.close()


def test_a_range_is_refused_and_the_package_named(space):
    for worker in ("0-31", range(32), "7", "https://ids.example.com", lambda: 7):
        with pytest.raises(LeafidError, match="one worker id, .* need leafid itself: pip install leafid") as found:
            Snowflake(Module(MODULE), worker, **space)
        assert found.value.code == "invalid_argument"
    assert not (space["state_dir"] / space["name"]).exists()


def test_options_are_checked(space):
    for wrong in ({"random_start": 0.5}, {"on_clock_backwards": "x"}, {"colour": 1}, {"layout": "x"}):
        with pytest.raises(LeafidError) as found:
            opened(space, **wrong)
        assert found.value.code == "invalid_argument"


def test_a_call_ends_also_if_the_host_fails(space, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", broken)
        with pytest.raises(LeafidError, match="ZeroDivisionError") as found:
            opened(space)
    assert found.value.code == "internal"
    opened(space).close()
