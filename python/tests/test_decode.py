"""decode and compose: what they take and what they give."""

import contextlib
import copy
import datetime
import decimal
import pickle
import re
import sqlite3
import uuid

import numpy
import pytest

import leafid

LEAFS_OWN = 1169786042799259000


def test_parts():
    parts = leafid.decode(LEAFS_OWN)
    assert (parts.timestamp_ms, parts.worker_id, parts.sequence) == (1567733700834, 39, 3448)
    assert parts.time == datetime.datetime(2019, 9, 6, 1, 35, 0, 834000, tzinfo=datetime.UTC)
    assert parts.time.tzinfo is datetime.UTC
    assert repr(parts) == "leafid.Parts(timestamp_ms=1567733700834, worker_id=39, sequence=3448)"


def test_parts_are_values():
    parts = leafid.decode(LEAFS_OWN)
    assert parts == leafid.decode(str(LEAFS_OWN)) == leafid.decode(numpy.int64(LEAFS_OWN))
    assert len({parts, leafid.decode(LEAFS_OWN), leafid.decode(0)}) == 2
    assert parts != leafid.decode(0) and parts != LEAFS_OWN
    with pytest.raises(AttributeError):
        parts.worker_id = 1
    assert eval(repr(parts)) == pickle.loads(pickle.dumps(parts)) == copy.copy(parts) == copy.deepcopy(parts) == parts


@pytest.mark.parametrize("bad", [None, 1.0, True, "1", 2**64])
@pytest.mark.parametrize("field", ["timestamp_ms", "worker_id", "sequence"])
def test_parts_of_bad_fields_are_refused_by_name(field, bad):
    with pytest.raises(leafid.InvalidArgumentError, match=f"^{field} is .*; allowed: "):
        leafid.Parts(**{"timestamp_ms": 0, "worker_id": 0, "sequence": 0, field: bad})


def test_a_time_after_the_year_9999_says_so():
    parts = leafid.decode(2**62, "yitter")
    with pytest.raises(leafid.InvalidArgumentError, match=r"time is \d+ ms .* allowed: up to the year 9999"):
        _ = parts.time
    assert parts.timestamp_ms > 253402300799999


@pytest.mark.parametrize(
    "id",
    [True, False, 1.0, float("nan"), None, b"1", [1], decimal.Decimal(1), numpy.bool_(True), -1, 2**63, 2**64]
    + ["", "-1", "1.0", " 1", "1e3", "9" * 30, "1" * 10_000],
)
def test_what_is_no_id_is_refused(id):
    with pytest.raises(leafid.InvalidArgumentError, match=r"^id is .*; allowed: .*9223372036854775807"):
        leafid.decode(id)


def test_an_id_beyond_the_layouts_bits_is_refused():
    assert leafid.decode(2**53 - 1, "js-safe").worker_id == 7
    with pytest.raises(leafid.InvalidArgumentError, match=f"id is {2**53}; allowed: 0 to {2**53 - 1}"):
        leafid.decode(2**53, "js-safe")


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        (name, bad)
        for name in ("timestamp_ms", "worker_id", "sequence")
        for bad in (True, 1.0, float("nan"), None, "1", 2**64, [])
    ]
    + [("worker_id", -1), ("worker_id", 1024), ("sequence", -1), ("sequence", 4096), ("sequence", 2**40)],
)
def test_bad_parts_are_refused_by_name(name, bad):
    parts = {"timestamp_ms": 1567733700834, "worker_id": 39, "sequence": 3448} | {name: bad}
    with pytest.raises(leafid.InvalidArgumentError, match=rf"^{name} is .+; allowed: "):
        leafid.compose(**parts)


@pytest.mark.parametrize("layout", ["", "41|10", "41|10|12|0", "a|b|c", "40|12|12", "Leaf", 7, 1.5, True, b"leaf", []])
def test_bad_layouts_are_refused(layout):
    for call in (lambda: leafid.decode(1, layout), lambda: leafid.compose(1567733700834, 0, 0, layout)):
        with pytest.raises(leafid.InvalidArgumentError, match="^layout is .+; allowed: "):
            call()


@pytest.mark.parametrize("bad", [None, 7, 1.0, b"0", True, ["0"]])
def test_bad_texts_and_forms_are_refused_by_name(bad):
    with pytest.raises(leafid.InvalidArgumentError, match="^text is .+; allowed: the text of an id, as a string"):
        leafid.parse_id(bad, "base32")
    for call in (lambda: leafid.format_id(1, bad), lambda: leafid.parse_id("1", bad)):
        with pytest.raises(leafid.InvalidArgumentError, match='^form is .+; allowed: "decimal", "base32", "base62" or "uuid"'):
            call()


@pytest.mark.parametrize("id", [True, 1.0, None, b"1", -1, 2**63, "", "-1", "9" * 30])
def test_what_is_no_id_has_no_text(id):
    with pytest.raises(leafid.InvalidArgumentError, match=r"^id is .*; allowed: .*9223372036854775807"):
        leafid.format_id(id, "base62")


def test_a_numpy_integer_has_a_text():
    assert leafid.format_id(numpy.int64(LEAFS_OWN), "base32") == "10EZA6N444ZBR"


@pytest.mark.parametrize("bad", [None, 7, "00000000-0000-8000-8400-000000000000", bytes(16), leafid, object()])
def test_what_is_no_uuid_object_is_refused(bad):
    with pytest.raises(leafid.InvalidArgumentError, match=r"^uuid is .+; allowed: a uuid\.UUID$"):
        leafid.uuid_to_id(bad)


@pytest.mark.parametrize("id", [True, 1.0, None, b"1", -1, 2**63, "", "-1", uuid.UUID(int=1)])
def test_what_is_no_id_has_no_uuid(id):
    with pytest.raises(leafid.InvalidArgumentError, match=r"^id is .*; allowed: .*9223372036854775807"):
        leafid.id_to_uuid(id)


def test_none_is_the_default_layout():
    assert leafid.decode(LEAFS_OWN, None) == leafid.decode(LEAFS_OWN, "leaf") == leafid.decode(LEAFS_OWN)


def test_the_time_of_an_id_in_sql(project):
    page = (project / "docs/CHOOSING.md").read_text()
    expression = re.search(r"^\| SQLite \| `(.*)` \|$", page, re.M)[1]
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        for id in (0, 1169786042799259000, leafid.compose(1_767_225_600_123, 1023, 4095)):
            text = db.execute(f"SELECT {expression} FROM (SELECT ? AS id)", [id]).fetchone()[0]
            told = datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)
            assert told == leafid.decode(id).time, id
