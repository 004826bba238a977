"""The options of a snowflake: what is taken, and what is refused."""

import enum
import os
import pathlib

import numpy
import pytest

import leafid

@pytest.mark.parametrize(
    "worker",
    ["\ud800", (0, 7), {7}, (), [None], range(0, 8, 2), range(8, 0, -1), range(3, 3), range(1025), range(-1, 3)]
    + [range(2**70), range(2**70, 2**70 + 1), {"http://a"}, [b"http://a"], ["http://a", 7], ["http://a"] * 65],
)
def test_what_only_python_has_as_a_worker(space, worker):
    with pytest.raises(leafid.InvalidArgumentError, match=r"(?s)^worker is .*; allowed: .+"):
        leafid.Snowflake(worker, **space)
    assert os.listdir(space["state_dir"]) == []


def test_options_are_keywords(space):
    with pytest.raises(TypeError):
        leafid.Snowflake(1, space["name"])


class Ids(enum.IntEnum):
    ORDERS = 7


@pytest.mark.parametrize("worker", [7, "7", range(7, 8), "7-7", numpy.int64(7), numpy.uint8(7), Ids.ORDERS])
def test_a_worker_id_in_every_form(space, worker):
    with leafid.Snowflake(worker, **space) as flake, leafid.Snowflake(7, **space) as same:
        assert flake.worker_id == 7 == leafid.decode(flake.next()).worker_id
        assert same.stats().handles == 2


def test_none_is_the_worker_of_the_environment(space, monkeypatch):
    monkeypatch.setenv("LEAFID_WORKER", "9")
    with leafid.Snowflake(None, **space) as flake:
        assert flake.worker_id == 9


def test_local_is_any_worker_id_of_this_machine(space, caplog, wait):
    with leafid.Snowflake("local", **space) as flake:
        assert flake.worker_id == 0
    wait(lambda: "ids are unique on this machine alone" in caplog.text)


def test_none_is_the_default(space):
    names = "layout epoch_ms on_clock_backwards max_backwards_ms on_exhausted random_start timeout_ms persist shared_fs"
    names += " shared_group exclusive_range no_record_wait_ms clock_source start_after lazy peer_times token headers ca_file"
    nothing = dict.fromkeys([*names.split(), "request_timeout_ms", "connect_timeout_ms"])
    with leafid.Snowflake(1, **space | nothing) as flake:
        assert flake.layout == leafid.Layout() and flake.stats().handles == 1
        with leafid.Snowflake(1, **space) as same:
            assert same.stats().handles == 2


def test_a_path_like_state_dir(space):
    path = pathlib.Path(space["state_dir"], "made", "here")
    with leafid.Snowflake(1, name=space["name"], state_dir=path) as flake:
        assert flake.stats().state_dir == str(path / space["name"])
        assert (path / space["name"] / "worker-1.state").exists()


def test_a_layout_value_and_an_epoch(space):
    layout = leafid.Layout(timestamp_bits=39, worker_bits=8, sequence_bits=16, tick_ms=10, order="sequence-worker")
    with leafid.Snowflake(200, **space, layout=layout, epoch_ms=1_600_000_000_000) as flake:
        assert flake.layout.epoch_ms == 1_600_000_000_000 and flake.layout.order == "sequence-worker"
        assert leafid.decode(flake.next(), flake.layout).worker_id == 200
    with pytest.raises(leafid.InvalidArgumentError, match="^worker is 256; allowed: 0 to 255"):
        leafid.Snowflake(256, **space, layout=layout)


def test_errors_of_the_values_own_code_pass_through(space):
    class Odd:
        def __index__(self):
            raise LookupError("mine")

        __fspath__ = __index__

    for call in (
        lambda: leafid.Snowflake(Odd(), **space),
        lambda: leafid.Snowflake(1, state_dir=Odd()),
        lambda: leafid.decode(Odd()),
        lambda: leafid.Layout(tick_ms=Odd()),
    ):
        with pytest.raises(LookupError, match="mine"):
            call()


def test_a_value_that_cannot_be_shown_is_named_by_its_type(space):
    class Shy:
        def __repr__(self):
            raise LookupError

    with pytest.raises(leafid.InvalidArgumentError, match="^worker is of type Shy; allowed: "):
        leafid.Snowflake(Shy(), **space)


def test_an_int_too_long_to_print_is_named_by_its_type(space):
    for call in (lambda: leafid.Snowflake(10**5000, **space), lambda: leafid.decode(10**5000)):
        with pytest.raises(leafid.InvalidArgumentError, match="^(worker|id) is of type int; allowed: "):
            call()
