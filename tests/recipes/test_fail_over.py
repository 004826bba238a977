"""The recipes of PostgreSQL while its primary dies and its standby is promoted."""

import contextlib
import time

import pytest
from databases import Missing
from fail_over import Replicated
from takers import PROJECT, Takers
from test_leases import RECIPES as LEASES
from test_segments import RECIPES as SEGMENTS


@contextlib.contextmanager
def replicated(named, table):
    """A PostgreSQL with this table and its standby, and the environment of recipes."""
    try:
        store = Replicated(named)
    except Missing as missing:
        pytest.skip(str(missing))
    try:
        store.server.sql((PROJECT / table).read_text())
        url = f"postgres://leaf@{store.address}/leaf"
        yield store, {"POSTGRES_URL": url, "SQLALCHEMY_URL": url.replace("postgres:", "postgresql+psycopg:")}
    finally:
        store.remove()


@pytest.mark.parametrize(("script", "recipes"), [("take_segments", SEGMENTS), ("take_leases", LEASES)])
def test_a_standby_that_is_named_repeats_nothing(script, recipes):
    table = {"take_segments": "postgresql_segments.sql", "take_leases": "postgresql_workers.sql"}[script]
    with replicated(True, table) as (store, environment):
        with Takers(script, [PROJECT / recipe for recipe in recipes["postgresql"]], environment) as takers:
            takers.continue_all()
            store.fail_over(lambda: time.sleep(2))
            takers.continue_all()
            takers.judge(100)


def test_another_standby_repeats_ids():
    """To processes that start after it: one that ran before refuses what lies below the ranges that it had."""

    def take(takers):
        for _ in range(5):
            takers.continue_all()
        takers.end()

    def taken(takers):
        return {id for taker in takers.all for id in taker.taken()}

    recipes = [PROJECT / recipe for recipe in SEGMENTS["postgresql"]]
    with replicated(False, "postgresql_segments.sql") as (store, environment):
        with Takers("take_segments", recipes, environment) as before:
            store.fail_over(lambda: take(before))
            with Takers("take_segments", recipes, environment) as after:
                take(after)
                twice = taken(before) & taken(after)
    assert twice, "no id came twice"
    print(f"{len(twice)} ids came twice")
