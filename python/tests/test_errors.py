"""The exceptions, against the table of all languages."""

import copy
import pickle

import pytest

import leafid


@pytest.fixture
def table(vectors):
    return vectors("errors")["errors"]


def test_the_classes_are_the_tables(table):
    assert table
    for row in table:
        error = getattr(leafid, row["python"])
        assert (error.code, error.number, error.can_retry) == (row["code"], row["number"], row["retry"])
        assert issubclass(error, leafid.Error) and error.__doc__ == row["sentence"] == row["sentence"]
        assert row["python"] in leafid.__all__
    classes = {c for c in vars(leafid).values() if isinstance(c, type) and issubclass(c, leafid.Error)}
    assert {c.__name__ for c in classes} == {row["python"] for row in table} | {"Error"}


def test_the_hierarchy():
    assert leafid.Error.__bases__ == (Exception,)
    assert leafid.InvalidArgumentError.__bases__ == (leafid.Error, ValueError)
    assert leafid.ClockBackwardsError.__bases__ == (leafid.Error,)


def test_errors_pickle_and_copy(table):
    for row in table:
        error = getattr(leafid, row["python"])("what happened")
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert (type(again), again.args, again.code) == (type(error), error.args, row["code"])


def test_a_raised_error_pickles():
    with pytest.raises(leafid.InvalidArgumentError) as raised:
        leafid.decode(-1)
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is leafid.InvalidArgumentError and str(again) == str(raised.value)
    assert str(again).startswith("id is -1; allowed: ")


def test_a_class_shows_its_public_name():
    assert leafid.ClosedError.__module__ == "leafid" and repr(leafid.ClosedError) == "<class 'leafid.ClosedError'>"
    for public in (leafid.Snowflake, leafid.Layout, leafid.Parts, leafid.Stats):
        assert public.__module__ == "leafid" and public.__doc__
