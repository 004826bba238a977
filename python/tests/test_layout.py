"""leafid.Layout."""

import copy
import pickle

import pytest

import leafid


def test_the_defaults_are_leafs():
    layout = leafid.Layout()
    assert repr(layout) == (
        "leafid.Layout(timestamp_bits=41, worker_bits=10, sequence_bits=12, epoch_ms=1288834974657, tick_ms=1, "
        "order='worker-sequence')"
    )
    assert layout == leafid.Layout(timestamp_bits=None, epoch_ms=None, order=None)
    assert layout.expires_at_ms == 1288834974657 + 2**41


def test_fields_are_read_back():
    fields = {
        "timestamp_bits": 39,
        "worker_bits": 16,
        "sequence_bits": 8,
        "epoch_ms": 1_600_000_000_000,
        "tick_ms": 10,
        "order": "sequence-worker",
    }
    layout = leafid.Layout(**fields)
    assert {name: getattr(layout, name) for name in fields} == fields
    with pytest.raises(AttributeError):
        layout.tick_ms = 1


def test_it_is_a_value():
    layout = leafid.Layout(worker_bits=5)
    assert layout == leafid.Layout(worker_bits=5) != leafid.Layout(worker_bits=6)
    assert len({layout, leafid.Layout(worker_bits=5), leafid.Layout()}) == 2
    assert eval(repr(layout)) == pickle.loads(pickle.dumps(layout)) == copy.deepcopy(layout) == layout


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        (name, bad)
        for name in ("timestamp_bits", "worker_bits", "sequence_bits", "epoch_ms", "tick_ms")
        for bad in (-1, 64, 2**64, 1.0, float("nan"), True, "1", [])
        if (name, bad) not in (("epoch_ms", 64), ("tick_ms", 64))
    ]
    + [("timestamp_bits", 0), ("timestamp_bits", 63), ("tick_ms", 0), ("epoch_ms", 2**53 + 1)]
    + [("order", bad) for bad in ("", "worker", 1, True)]
    + [("bits", 1), ("worker", None)],
)
def test_bad_fields_are_refused_by_name(name, bad):
    with pytest.raises(leafid.InvalidArgumentError, match=rf'^"?{name}"? is .*; allowed: '):
        leafid.Layout(**{name: bad})


def test_bits_that_add_to_64_are_refused():
    with pytest.raises(leafid.InvalidArgumentError, match=r"41\|10\|13, 64 bits; allowed: at most 63"):
        leafid.Layout(sequence_bits=13)


def test_positional_fields_are_a_type_error():
    with pytest.raises(TypeError):
        leafid.Layout(41)
