"""The recipes of PostgreSQL while its primary dies and its standby is promoted."""

import contextlib
import time

import pytest
from databases import Missing
from fail_over import Replicated
from takers import Takers
from test_leases import RECIPES as LEASES
from test_segments import RECIPES as SEGMENTS


@contextlib.contextmanager
def replicated(named, recipes, *prepare):
    """A PostgreSQL and its standby, and recipes after this call of the first one."""
    try:
        store = Replicated(named)
    except Missing as missing:
        pytest.skip(str(missing))
    try:
        recipes = [recipe.at(f"postgres://leaf@{store.address}/leaf") for recipe in recipes["postgresql"]]
        recipes[0].call(prepare)
        yield store, recipes
    finally:
        store.remove()


CASES = [("take_segments", SEGMENTS, "tags", ["order"]), ("take_leases", LEASES, "workers", 0, 15)]


@pytest.mark.parametrize("case", CASES, ids=["segments", "leases"])
def test_a_standby_that_is_named_repeats_nothing(case):
    script, recipes, *prepare = case
    with replicated(True, recipes, *prepare) as (store, recipes):
        checks(store, recipes)
        with Takers(script, recipes) as takers:
            takers.continue_all()
            store.fail_over(lambda: time.sleep(2))
            takers.continue_all()
            takers.judge(100)


def checks(store, recipes):
    """The check notices a standby, and a commit that does not wait for it."""
    # The standby has applied what came before, too.
    store.server.sql("SET synchronous_commit = remote_apply; CREATE TABLE applied ()")
    for recipe in recipes:
        assert recipe.call(["check"]) == [[]]
        ((found,),) = recipe.at(store.standby.url).call(["check"])
        assert "standby" in found
    store.server.sql("ALTER DATABASE leaf SET synchronous_commit = local")
    for recipe in recipes:
        ((found,),) = recipe.call(["check"])
        assert found.startswith("synchronous_commit is local")
    store.server.sql("ALTER DATABASE leaf RESET synchronous_commit")


def test_another_standby_repeats_ids():
    """To processes that start after it: one that ran before refuses what lies below the ranges that it had."""

    def take(takers):
        for _ in range(5):
            takers.continue_all()
        takers.end()

    def taken(takers):
        return {id for taker in takers.all for id in taker.taken()}

    with replicated(False, SEGMENTS, "tags", ["order"]) as (store, recipes):
        with Takers("take_segments", recipes) as before:
            store.fail_over(lambda: take(before))
            with Takers("take_segments", recipes) as after:
                take(after)
                twice = taken(before) & taken(after)
    assert twice, "no id came twice"
    print(f"{len(twice)} ids came twice")
