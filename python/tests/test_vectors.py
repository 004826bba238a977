"""The vectors that every language passes."""

import datetime
import uuid

import pytest

import leafid

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
END_OF_DATETIME_MS = 253_402_300_800_000
FORMS = ("decimal", "base32", "base62", "uuid")
PRESETS = ("leaf", "uid-generator", "yitter", "sonyflake", "js-safe")


@pytest.fixture
def table(vectors):
    return vectors("snowflake")


@pytest.fixture
def layouts(table):
    """The layouts by name, as values, and the presets by their text as well."""
    values = {
        name: leafid.Layout(**fields | {"epoch_ms": int(fields["epoch_ms"])})
        for name, fields in table["layouts"].items()
    }
    return lambda name: [values[name], name] if name in PRESETS else [values[name]]


def test_valid_ids_both_ways(table, layouts):
    for row in table["valid"]:
        ms, worker_id, sequence = int(row["timestamp_ms"]), row["worker_id"], row["sequence"]
        for layout in layouts(row["layout"]):
            assert leafid.compose(ms, worker_id, sequence, layout=layout) == int(row["id"])
            for id in (int(row["id"]), row["id"]):
                parts = leafid.decode(id, layout=layout)
                assert (parts.timestamp_ms, parts.worker_id, parts.sequence) == (ms, worker_id, sequence)
                if ms < END_OF_DATETIME_MS:
                    assert parts.time == EPOCH + datetime.timedelta(milliseconds=ms)


def test_times_are_floored_to_the_tick(table, layouts):
    for row in table["compose_floors"]:
        for layout in layouts(row["layout"]):
            id = leafid.compose(int(row["timestamp_ms"]), row["worker_id"], row["sequence"], layout)
            assert str(id) == row["id"]
            assert str(leafid.decode(id, layout).timestamp_ms) == row["floored_ms"]


def test_the_ids_of_a_tick_have_ends(table, layouts):
    for row in table["id_ranges"]:
        ms = int(row["timestamp_ms"])
        times = [ms]
        if ms < END_OF_DATETIME_MS:
            time = EPOCH + datetime.timedelta(milliseconds=ms, microseconds=999)
            times += [time, time.astimezone(datetime.timezone(datetime.timedelta(hours=-5)))]
        for layout in layouts(row["layout"]):
            for time in times:
                assert leafid.first_id_at(time, layout) == int(row["first"])
                assert leafid.last_id_at(time, layout=layout) == int(row["last"])
    for row in table["id_ranges_refused"]:
        for layout in layouts(row["layout"]):
            for call in (leafid.first_id_at, leafid.last_id_at):
                with pytest.raises(leafid.Error) as error:
                    call(int(row["timestamp_ms"]), layout)
                assert error.value.code == row["error"], row


def test_a_datetime_needs_a_time_zone():
    with pytest.raises(leafid.InvalidArgumentError, match=r"timestamp is datetime\.datetime\(2026, 1, 1, 0, 0\)"):
        leafid.first_id_at(datetime.datetime(2026, 1, 1))


def test_text_forms(vectors):
    table = vectors("text_forms")
    for row in table["valid"]:
        for form in FORMS:
            for id in (int(row["id"]), row["id"]):
                assert leafid.format_id(id, form) == row[form]
            assert leafid.parse_id(row[form], form=form) == int(row["id"])
    for form in FORMS[1:]:
        texts = [row[form] for row in table["valid"]]
        assert texts == sorted(texts)
    for row in table["refused"] + table["refused_counted_text"]:
        with pytest.raises(leafid.InvalidArgumentError) as error:
            leafid.parse_id(row["text"], row["form"])
        assert str(error.value) == row["message"]
    for id in table["format_refused"]:
        for form in FORMS:
            with pytest.raises(leafid.InvalidArgumentError, match=f"^id is {id}; allowed: 0 to 9223372036854775807"):
                leafid.format_id(int(id), form)
    for name in table["form_refused"]:
        for call in (lambda name: leafid.format_id(0, name), lambda name: leafid.parse_id("0", name)):
            with pytest.raises(leafid.InvalidArgumentError, match='^form is ".*"; allowed: "decimal", "base32", "base62" or "uuid"'):
                call(name)


def test_ids_inside_of_uuids(vectors):
    table = vectors("uuids")
    made = [leafid.id_to_uuid(int(row["id"])) for row in table["valid"]]
    for row, id in zip(table["valid"], made, strict=True):
        assert type(id) is uuid.UUID
        assert (str(id), id.hex, id.version, id.variant) == (row["uuid"], row["bytes"], 8, uuid.RFC_4122)
        assert leafid.uuid_to_id(id) == int(row["id"])
        assert leafid.id_to_uuid(row["id"]) == id
    assert made == sorted(made)
    for row in table["refused"]:
        with pytest.raises(leafid.InvalidArgumentError) as error:
            leafid.uuid_to_id(uuid.UUID(row["uuid"]))
        assert str(error.value) == row["message"]
    for id in table["id_refused"]:
        with pytest.raises(leafid.InvalidArgumentError, match=f"^id is {id}; allowed: 0 to 9223372036854775807"):
            leafid.id_to_uuid(int(id))


def test_refused_parts(table, layouts):
    for row in table["refused"]:
        for layout in layouts(row["layout"]):
            with pytest.raises(leafid.Error) as error:
                leafid.compose(int(row["timestamp_ms"]), row["worker_id"], row["sequence"], layout)
            assert error.value.code == row["error"], row


def test_accepted_text(table):
    for row in table["decode_accepted_text"]:
        parts = leafid.decode(row["text"])
        assert parts == leafid.decode(int(row["text"]))
        said = (row["timestamp_ms"], row["worker_id"], row["sequence"])
        assert (str(parts.timestamp_ms), parts.worker_id, parts.sequence) == said


def test_refused_text(table, layouts):
    rows = table["decode_refused"] + table["decode_refused_counted_text"]
    rows = [("leaf", row) for row in rows] + [(row["layout"], row) for row in table["decode_refused_in_layout"]]
    assert len(rows) > 40
    for name, row in rows:
        for layout in layouts(name):
            with pytest.raises(leafid.Error) as error:
                leafid.decode(row["id"], layout)
            assert error.value.code == row["error"], row


def test_refused_numbers(table):
    numbers = [
        int(row["id"]) for row in table["decode_refused"] if row["id"].lstrip("-").isascii() and is_int(row["id"])
    ]
    refused = [number for number in numbers if not 0 <= number < 2**63]
    assert len(refused) > 5
    for number in refused:
        with pytest.raises(leafid.InvalidArgumentError):
            leafid.decode(number)


def test_text_of_layouts(table):
    for text in table["layout_text"]["accepted"]:
        assert leafid.decode(0, text).sequence == 0
    for text in table["layout_text"]["refused"]:
        with pytest.raises(leafid.InvalidArgumentError):
            leafid.decode(0, text)


def is_int(text):
    try:
        return text == str(int(text))
    except ValueError:
        return False
