"""The recipes of PostgreSQL while its primary dies and its standby is promoted."""

import pytest
from databases import Missing
from fail_over import Replicated
from takers import PROJECT, Takers
from test_leases import RECIPES as LEASES
from test_segments import RECIPES as SEGMENTS


def failed_over(named, script, recipes, table):
    """(how many ids there are, those that came twice), after a fail-over"""
    try:
        store = Replicated(named)
    except Missing as missing:
        pytest.skip(str(missing))
    try:
        store.server.sql((PROJECT / table).read_text())
        url = f"postgres://leaf@{store.address}/leaf"
        environment = {"POSTGRES_URL": url, "SQLALCHEMY_URL": url.replace("postgres:", "postgresql+psycopg:")}
        with Takers(script, [PROJECT / recipe for recipe in recipes], environment) as takers:
            takers.continue_all()
            store.fail_over()
            takers.continue_all()
            takers.end()
            return takers.duplicates()
    finally:
        store.remove()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("script", "recipes"), [("take_segments", SEGMENTS), ("take_leases", LEASES)])
def test_a_standby_that_is_named_repeats_nothing(script, recipes):
    table = {"take_segments": "postgresql_segments.sql", "take_leases": "postgresql_workers.sql"}[script]
    count, twice = failed_over(True, script, recipes["postgresql"], table)
    assert not twice, f"{len(twice)} duplicates of {count}, the first {twice[:5]}"
    assert count >= 100, f"only {count} ids"
    print(f"{count} ids, duplicates 0")


@pytest.mark.timeout(300)
def test_another_standby_repeats_ids():
    count, twice = failed_over(False, "take_segments", SEGMENTS["postgresql"], "postgresql_segments.sql")
    assert twice, f"no duplicate of {count} ids"
    print(f"{len(twice)} duplicates of {count} ids")
