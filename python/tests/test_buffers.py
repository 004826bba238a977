"""fill: which buffers are taken, and what is written."""

import array
import ctypes
import mmap

import numpy
import pytest

import leafid


@pytest.fixture
def flake(space):
    with leafid.Snowflake(7, **space) as flake:
        yield flake


def view(kind, count=4):
    return memoryview(bytearray(8 * count)).cast(kind)


TAKEN = {
    "int64": lambda: numpy.zeros(5, numpy.int64),
    "uint64": lambda: numpy.zeros(5, numpy.uint64),
    "little-endian": lambda: numpy.zeros(5, "<i8"),
    "longlong": lambda: numpy.zeros(5, numpy.longlong),
    "part": lambda: numpy.zeros(50, numpy.int64)[10:15],
    "one": lambda: numpy.zeros(1, numpy.int64),
    "large": lambda: numpy.zeros(100_000, numpy.int64),
    "array q": lambda: array.array("q", [0] * 5),
    "array Q": lambda: array.array("Q", [0] * 5),
    "array l": lambda: array.array("l", [0] * 5),
    "view q": lambda: view("q"),
    "view Q": lambda: view("Q"),
    "view l": lambda: view("l"),
    "view L": lambda: view("L"),
    "ctypes": lambda: (ctypes.c_int64 * 5)(),
    "mmap": lambda: memoryview(mmap.mmap(-1, 4096)).cast("q"),
}


@pytest.mark.parametrize("make", TAKEN.values(), ids=TAKEN)
def test_a_buffer_of_64_bit_integers_is_filled_and_returned(flake, make):
    buffer = make()
    before = flake.next()
    assert flake.fill(buffer) is buffer
    ids = [int(id) for id in buffer]
    assert [before, *ids] == sorted({before, *ids}) and flake.next() > ids[-1]
    assert {leafid.decode(id).worker_id for id in ids} == {7}


def test_more_dimensions_are_filled_in_their_order(flake):
    grid = flake.fill(numpy.zeros((3, 4), numpy.int64))
    assert grid.ravel().tolist() == sorted(grid.ravel().tolist())


def test_only_the_buffer_is_written(flake):
    whole = numpy.full(12, -1)
    flake.fill(whole[4:8])
    assert (whole[:4] == -1).all() and (whole[8:] == -1).all() and (whole[4:8] > 0).all()


def frozen():
    ids = numpy.zeros(4, numpy.int64)
    ids.flags.writeable = False
    return ids


REFUSED = {
    "strided": (lambda: numpy.zeros(8, numpy.int64)[::2], "a strided buffer"),
    "reversed": (lambda: numpy.zeros(8, numpy.int64)[::-1], "a strided buffer"),
    "column": (lambda: numpy.zeros((4, 4), numpy.int64)[:, 1], "a strided buffer"),
    "fortran": (lambda: numpy.zeros((4, 4), numpy.int64, order="F"), "a strided buffer"),
    "strided view": (lambda: view("q", 8)[::2], "a strided buffer"),
    "read-only": (frozen, "a read-only buffer"),
    "read-only view": (lambda: view("q").toreadonly(), "a read-only buffer"),
    "bytes": (lambda: bytes(8), "a buffer of format"),
    "bytearray": (lambda: bytearray(8), "a buffer of format"),
    "int32": (lambda: numpy.zeros(4, numpy.int32), 'a buffer of format "i", 4 bytes'),
    "float64": (lambda: numpy.zeros(4), 'a buffer of format "d", 8 bytes'),
    "complex": (lambda: numpy.zeros(4, complex), "a buffer of format"),
    "bool": (lambda: numpy.zeros(8, bool), "a buffer of format"),
    "big-endian": (lambda: numpy.zeros(4, ">i8"), "a buffer of format"),
    "objects": (lambda: numpy.zeros(4, object), "a buffer of format"),
    "no size": (lambda: numpy.zeros(4, "V0"), "a buffer of format"),
    "struct": (lambda: numpy.zeros(4, [("id", "i8")]), "a buffer of format"),
    "two": (lambda: numpy.zeros(4, [("id", "i8"), ("other", "i8")]), "a buffer of format"),
    "datetime64": (lambda: numpy.zeros(4, "M8[ms]"), "a numpy.ndarray without a buffer"),
    "unaligned": (lambda: numpy.zeros(65, numpy.uint8)[1:].view(numpy.int64), "a buffer that is not aligned"),
    "no dimension": (lambda: numpy.array(0), "a numpy.ndarray without a buffer"),
    "list": (lambda: [0, 0], "a list without a buffer"),
    "None": (lambda: None, "a NoneType without a buffer"),
    "int": (lambda: 5, "a int without a buffer"),
}


def copied(buffer):
    try:
        return bytes(memoryview(buffer))
    except (TypeError, ValueError):
        return None


@pytest.mark.parametrize(("make", "what"), REFUSED.values(), ids=REFUSED)
def test_any_other_buffer_is_refused_and_untouched(flake, make, what):
    buffer = make()
    before = copied(buffer)
    with pytest.raises(leafid.InvalidArgumentError, match=rf"^out is {what}.*; allowed: a writable, C-contiguous"):
        flake.fill(buffer)
    assert copied(buffer) == before


def test_a_buffer_above_the_most_is_refused(flake):
    with pytest.raises(leafid.InvalidArgumentError, match="16777217; allowed: .*16777216"):
        flake.fill(numpy.zeros(2**24 + 1, numpy.int64))


def test_a_released_view_is_refused(flake):
    buffer = view("q")
    buffer.release()
    with pytest.raises(leafid.InvalidArgumentError, match="^out is a memoryview without a buffer"):
        flake.fill(buffer)


def test_a_buffer_is_let_go_again(flake):
    ids = array.array("q", [0] * 4)
    flake.fill(ids)
    ids.append(5)
    assert len(ids) == 5
    with pytest.raises(leafid.InvalidArgumentError):
        flake.fill(array.array("d", [0.0]))
