"""The options of a snowflake: what is taken, what is refused, and what is shared."""

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


def test_an_epoch_ahead_of_the_clock_is_refused(space):
    with pytest.raises(leafid.InvalidArgumentError, match=r"^epoch_ms is 4102444800000; allowed: .*not ahead of the"):
        leafid.Snowflake(1, **space, epoch_ms=4_102_444_800_000)


def test_the_bound_is_of_the_rule(space):
    with pytest.raises(leafid.InvalidArgumentError, match="max_backwards_ms is 5; allowed: 100 to"):
        leafid.Snowflake(1, **space, max_backwards_ms=5)
    with leafid.Snowflake(1, **space, max_backwards_ms=5, on_clock_backwards="wait") as flake:
        flake.next()


def test_options_are_keywords(space):
    with pytest.raises(TypeError):
        leafid.Snowflake(1, space["name"])


class Ids(enum.IntEnum):
    ORDERS = 7


@pytest.mark.parametrize("worker", [7, "7", range(7, 8), "7-7", numpy.int64(7), numpy.uint8(7), Ids.ORDERS])
def test_a_worker_id_in_every_form(space, worker):
    with leafid.Snowflake(worker, **space) as flake:
        assert flake.worker_id == 7 == leafid.decode(flake.next()).worker_id


@pytest.mark.parametrize("worker", [range(4, 8), "4-7"])
def test_a_range_has_both_its_ends(space, worker):
    held = [leafid.Snowflake(id, **space) for id in (4, 5, 6)]
    assert leafid.Snowflake(worker, **space).worker_id == 7
    held.pop(0).close()
    assert leafid.Snowflake("4-6", **space).worker_id == 4


def test_the_worker_of_the_environment(space, run, monkeypatch):
    code = "say(leafid.Snowflake(**space).worker_id)"
    monkeypatch.setenv("LEAFID_WORKER", "9")
    assert run(code) == "9\n"
    monkeypatch.setenv("LEAFID_WORKER", "30-31")
    assert int(run(code)) in (30, 31)
    with leafid.Snowflake(None, **space) as flake:
        assert flake.worker_id in (30, 31)
    monkeypatch.setenv("LEAFID_WORKER", "x")
    with pytest.raises(leafid.InvalidArgumentError, match='^LEAFID_WORKER is "x"'):
        leafid.Snowflake(**space)
    monkeypatch.delenv("LEAFID_WORKER")
    unset = "^worker is not set, nor is LEAFID_WORKER; allowed: .* LEAFID_WORKER=local"
    with pytest.raises(leafid.InvalidArgumentError, match=unset):
        leafid.Snowflake(**space)
    with leafid.Snowflake(**space, lazy=True) as flake:
        with pytest.raises(leafid.InvalidArgumentError, match=unset):
            flake.next()
        monkeypatch.setenv("LEAFID_WORKER", "9")
        assert leafid.decode(flake.next()).worker_id == 9


def test_local_is_any_worker_id_of_this_machine(space, caplog):
    with leafid.Snowflake("local", **space) as flake:
        assert flake.worker_id == 0
    assert "ids are unique on this machine alone" in caplog.text


@pytest.mark.parametrize("bad", ["yes", "2", "TRUE", "\udcff"])
def test_the_environment_s_word_for_ranges_is_a_truth(space, run, monkeypatch, bad):
    code = "say(leafid.Snowflake('3-5', **space).worker_id)"
    for word in ("1", "true"):
        monkeypatch.setenv("LEAFID_EXCLUSIVE_RANGE", word)
        assert run(code) == "3\n"
    monkeypatch.setenv("LEAFID_EXCLUSIVE_RANGE", bad)
    with pytest.raises(leafid.InvalidArgumentError, match="^LEAFID_EXCLUSIVE_RANGE is .*; allowed: 1 or 0"):
        leafid.Snowflake("3-5", **space)
    with leafid.Snowflake("3-5", **space, exclusive_range=True) as flake:
        assert flake.worker_id == 3


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


def test_the_state_dir_of_the_environment(space, run, monkeypatch, tmp_path):
    monkeypatch.setenv("LEAFID_STATE_DIR", str(tmp_path / "env"))
    out = run("say(leafid.Snowflake(3, name=space['name']).stats().state_dir)")
    assert out.strip() == str(tmp_path / "env" / space["name"])


def test_a_layout_value_and_an_epoch(space):
    layout = leafid.Layout(timestamp_bits=39, worker_bits=8, sequence_bits=16, tick_ms=10, order="sequence-worker")
    with leafid.Snowflake(200, **space, layout=layout, epoch_ms=1_600_000_000_000) as flake:
        assert flake.layout.epoch_ms == 1_600_000_000_000 and flake.layout.order == "sequence-worker"
        assert leafid.decode(flake.next(), flake.layout).worker_id == 200
    with pytest.raises(leafid.InvalidArgumentError, match="^worker is 256; allowed: 0 to 255"):
        leafid.Snowflake(256, **space, layout=layout)


def test_the_same_options_share_one_generator(space):
    with leafid.Snowflake(5, **space) as one, leafid.Snowflake(range(5, 6), **space) as two:
        ids = [flake.next() for _ in range(1000) for flake in (one, two)]
        assert ids == sorted(set(ids))
        assert one.stats().handles == two.stats().handles == 2
        one.close()
        assert two.next() > ids[-1]
        with pytest.raises(leafid.ClosedError):
            one.next()


def test_other_options_are_another_generator(space):
    with leafid.Snowflake(5, **space), pytest.raises(leafid.WorkerInUseError):
        leafid.Snowflake(5, **space, random_start=0)


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
