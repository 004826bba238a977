"""tests/vectors/options.json: which values of options and of the environment are refused, as in every language."""

import json
import os
import pathlib

import leafid
import numpy
import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
VECTOR = json.loads((PROJECT / "tests/vectors/options.json").read_text())
CASES = [(row, value, kind) for row in VECTOR["options"] for kind in ("bad", "good") for value in row[kind]]
VARIABLES = [
    (row["variable"], value, kind) for row in VECTOR["environment"] for kind in ("bad", "good") for value in row[kind]
]

MEANT = {"called": "here it", "nearest": "the nearest"}


def opened(row, value, space):
    options = space | row.get("with", {}) | {row["option"]: value}
    if row["of"] == "snowflake":
        return leafid.Snowflake(**({"worker": 7, "lazy": True} | options))
    servers = [] if row["option"] == "fetch" else ["http://127.0.0.1:1"]
    return leafid.Segments(**({"servers": servers} | options))


@pytest.mark.parametrize(("row", "value", "kind"), CASES)
def test_every_option_takes_and_refuses_what_the_vector_says(space, row, value, kind):
    if kind == "good":
        opened(row, value, space).close()
        return
    with pytest.raises(leafid.InvalidArgumentError) as caught:
        opened(row, value, space).close()
    begins = row.get("message", f"{row['option']} is ")
    assert str(caught.value).startswith(begins) and "; allowed: " in str(caught.value)


# What no JSON has.
STRANGE = [2**64, -(2**64), float("nan"), float("inf"), b"7", numpy.True_, [("a", "b")], slice(0, 8), object()]


@pytest.mark.parametrize("row", VECTOR["options"], ids=lambda row: f"{row['of']} {row['option']}")
def test_what_only_python_has_is_refused_by_every_option(space, row):
    for value in STRANGE:
        with pytest.raises(leafid.InvalidArgumentError, match=rf"(?s)^{row['option']} is .*; allowed: .+"):
            opened(row, value, space).close()
    assert os.listdir(space["state_dir"]) == []


@pytest.mark.parametrize(("variable", "value", "kind"), VARIABLES)
def test_every_variable_takes_and_refuses_what_the_vector_says(space, monkeypatch, variable, value, kind):
    monkeypatch.setenv(variable, value)
    options = {"worker": 7, "lazy": True} | space
    options.pop({"LEAFID_WORKER": "worker", "LEAFID_STATE_DIR": "state_dir"}.get(variable), None)
    if kind == "good":
        leafid.Snowflake(**options).close()
        return
    with pytest.raises(leafid.InvalidArgumentError, match=f"^{variable} is .*; allowed: "):
        leafid.Snowflake(**options)


@pytest.mark.parametrize("row", VECTOR["unknown"], ids=lambda row: f"{row['of']} {row['name']}")
def test_an_unknown_option_is_answered_with_the_one_that_is_meant(row):
    kind = leafid.Snowflake if row["of"] == "snowflake" else leafid.Segments
    said = "".join(f"; {what} is {row[key]}" for key, what in MEANT.items() if key in row)
    with pytest.raises(leafid.InvalidArgumentError) as caught:
        kind(**{row["name"]: None})
    begins, known = str(caught.value).split("; allowed: ")
    assert begins == f'"{row["name"]}" is an unknown option{said}'
    assert set(known.split(", ")) == {every["option"] for every in VECTOR["options"] if every["of"] == row["of"]}


def test_the_vector_names_every_option():
    """A new option gets a row: docs/OPTIONS.md is held to have each."""
    for of in ("snowflake", "segments"):
        rows = {row["option"] for row in VECTOR["options"] if row["of"] == of}
        documented = documented_options(of)
        assert documented and documented <= rows


def documented_options(of):
    text = (PROJECT / "docs/OPTIONS.md").read_text()
    section = text.split(f"## Options of {'a snowflake' if of == 'snowflake' else 'segments'}")[1].split("\n## ")[0]
    return {line.split("`")[1] for line in section.splitlines() if line.startswith("| `")} - {
        "7", "0-31", "local", "hostname:orders", "hostname:orders+64*8-127", "https://ids-1:8443",
    }  # fmt: skip
