"""The steps by which a Leaf is replaced, on its own table."""

import subprocess

import pytest
from servers import BINARY, Server
from test_odd_stores import LEAF_ALLOC, odd  # noqa: F401


def run(store, *words):
    done = subprocess.run([BINARY, "--store", store, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout.splitlines()


def next_of(lines):
    return [line.removeprefix("next  ") for line in lines if line.startswith("next ")]


def test_each_step_names_what_differs_and_what_to_run_next(engine, odd):  # noqa: F811
    if engine.name != "mariadb":
        pytest.skip("Leaf's script is for MySQL")
    store, sql = odd
    assert run(store, "leaf-move")[0] == 1, "there is no table"
    sql(LEAF_ALLOC)
    sql("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('shop', 501, 10), ('shop.order', 1, 20), ('zero', 0, 10), "
        "('broken', 1, 0)")  # fmt: skip
    before = sql("SELECT CONCAT_WS(' ', biz_tag, max_id, step, update_time) FROM leaf_alloc")
    code, lines = run(store, "leaf-move")
    said = "\n".join(lines)
    assert code == 1 and 'WRONG the row "broken" has step 0' in said and 'row "zero" has max_id 0' in said
    assert 'the row "shop.order" is never used' in said and "biz_tag is utf8" in said and "no leafid-server has started" in said
    assert sql("SELECT CONCAT_WS(' ', biz_tag, max_id, step, update_time) FROM leaf_alloc") == before, "it only looks"
    sql("UPDATE leaf_alloc SET step = 10 WHERE biz_tag = 'broken'")
    code, lines = run(store, "leaf-move")
    assert code == 0 and any("--strict-leaf --workers 512-1023" in line for line in next_of(lines)), lines
    with Server(store, "--strict-leaf", "--workers", "512-1023") as server:
        assert server.client().ids("shop.order") == [501]
        code, lines = run(store, "leaf-move")
        assert code == 0 and any("take the Leaf nodes out" in line for line in next_of(lines)), lines
    (own,) = [line for line in next_of(run(store, "leaf-move")[1]) if '"shop.order"' in line]
    assert int(own.split()[-1]) >= 511, "the range of that server was taken"
    made = subprocess.run(own.replace("leafid-server", f"{BINARY} --store {store}"), shell=True, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    sql("DELETE FROM leaf_alloc WHERE biz_tag = 'shop'")
    with Server(store, "--no-snowflake") as server:
        assert server.client().ids("shop.order") == [int(own.split()[-1])]
        code, lines = run(store, "leaf-move")
        assert code == 0 and next_of(lines) == ["leafid-server check"], lines
