"""Rows of which another one has given ids by the same name: a server with --strict-leaf cuts a tag at its last dot."""

import re
import subprocess

from servers import BINARY, Server, make_tag, until


def test_a_row_never_begins_below_ids_that_another_gave_by_its_name(any_store, tag):
    def run(*words):
        command = [BINARY, "--store", any_store.url, "--listen", "127.0.0.1:0", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def give(name, *options):
        with Server(any_store.url, "--no-snowflake", *options) as server:
            # With --strict-leaf a request gets one.
            return server.log(), [id for _ in range(3) for id in server.client().ids(name)]

    def named(said, name):
        """The counter that a message says to begin at."""
        return int(re.search(rf'tag "{re.escape(name)}" --first (\d+)', said)[1])

    dotted, other, alone = tag + ".order", tag + ".item", tag + "-alone"
    assert run("--strict-leaf", "tag", tag, "--step", "10")[0] == 0
    assert give(dotted, "--strict-leaf")[1] == [1, 2, 3]
    code, said = run("tag", dotted)
    first = named(said, dotted)
    assert code == 1 and "--allow-dotted-tags" in said and first > 3
    code, said = run("--allow-dotted-tags", "tag", dotted, "--step", "10", "--first", str(first))
    assert code == 0 and "come again" not in said
    log, ids = give(dotted, "--allow-dotted-tags")
    assert ids == [first, first + 1, first + 2]
    assert "strict-leaf was true and is now false" in log and "tag shop.order --first N" in log
    # That it begins below the other row's counter may be right, if it was not cut, and so may one without that row.
    code, said = run("--allow-dotted-tags", "tag", other)
    assert code == 0 and named(said, other) == first
    code, said = run("tag", alone + ".order", "--step", "10")
    assert code == 0 and f'tag "{alone}.order" --first N' in said
    assert "come again" not in run("tag", alone + ".item", "--first", "7")[1]

    # The other way: own rows first, and then --strict-leaf.
    assert give(alone + ".order", "--allow-dotted-tags")[1] == [1, 2, 3]
    for words in (["--strict-leaf"], []):
        code, said = run(*words, "tag", alone, "--first", "6")
        least = named(said, alone)
        assert code == 1 and f"first is 6; allowed: {least} or more" in said and least >= 11
    assert run("--strict-leaf", "tag", alone, "--first", str(least))[0] == 0
    lines = run("--strict-leaf", "check")[1].splitlines()
    assert [line[:5] for line in lines if f'the row "{alone}.order" is never used' in line] == ["ok   "]
    (wrong,) = [line for line in lines if f'the row "{dotted}" is never used' in line]
    assert wrong.startswith("WRONG") and named(wrong, tag) > first
    log, ids = give(alone + ".order", "--strict-leaf")
    assert ids == [least, least + 1, least + 2]
    assert "strict-leaf was false and is now true" in log and "tag shop --first N" in log


def test_a_row_that_is_never_used_is_not_warmed(file):
    make_tag(file.url, "shop", 10)
    make_tag(file.url, "shop.order", 10, options=["--allow-dotted-tags"])
    with Server(file.url, "--strict-leaf", environment={"LEAFID_SERVER_WARM_TAGS": "10"}) as server:
        until(lambda: "ids were fetched for 1 tags" in server.log(), "ids are fetched")
    assert file.sql("SELECT max_id FROM leaf_alloc WHERE biz_tag = 'shop.order'") == ["1"]
