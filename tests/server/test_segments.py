"""Ranges and ids from several servers of one store, while servers and stores die."""

import contextlib
import threading
import time

import pytest
from servers import Server, check_unique, in_threads, make_tag, until

SERVERS = 3


def take(servers, at, tag, ids, ends, with_range):
    """A client of all servers that goes to the next one when one fails."""
    clients = {}
    while not ends.is_set():
        server = servers[at % len(servers)]
        try:
            client = clients.get(server) or clients.setdefault(server, server.client())
            if with_range:
                given = client.range(tag, 100)
                ids.extend(range(*given) if given else ())
            else:
                ids.extend(client.ids(tag, 20))
                ids.extend(client.ids(tag))
        except Exception:
            at += 1
            clients.pop(server, None)
            time.sleep(0.05)


def run_clients(servers, tag, meanwhile, least=2_000):
    """The ids of eight clients, so many at least, while something happens to the servers. In the end the servers are
    killed."""
    ends, found = threading.Event(), [[] for _ in range(8)]

    def then_end():
        try:
            meanwhile(found)
            until(lambda: sum(map(len, found)) >= least, "enough ids")
        finally:
            ends.set()

    tasks = [lambda at=at: take(servers, at, tag, found[at], ends, at % 4 == 3) for at in range(len(found))]
    try:
        in_threads(then_end, *tasks)
    finally:
        for server in servers:
            server.kill()
    check_unique([id for ids in found for id in ids], least)


def all_go_on(found):
    """Waits until each client has got ids from now on."""
    before = [len(ids) for ids in found]
    until(lambda: all(len(ids) > had for ids, had in zip(found, before)), "each client gets ids")


def test_servers_that_are_killed_give_nothing_twice(any_store, new_tag):
    tag = new_tag(any_store, 50)
    servers = [Server(any_store.url) for _ in range(SERVERS)]

    def kill_each(found):
        for at in range(SERVERS):
            all_go_on(found)
            servers[at].kill()
            servers[at] = Server(any_store.url)
        all_go_on(found)

    run_clients(servers, tag, kill_each)


def test_a_store_that_is_killed_gives_nothing_twice(engine, new_tag):
    tag = new_tag(engine, 50)
    servers = [Server(engine.url) for _ in range(SERVERS)]

    def kill_store(found):
        for _ in range(2):
            all_go_on(found)
            engine.kill()
            time.sleep(0.5)
            engine.start()
        all_go_on(found)

    run_clients(servers, tag, kill_store)


def test_buffered_ids_are_served_while_the_store_is_down(engine, new_tag):
    busy, other = new_tag(engine, 1_000), new_tag(engine, suffix="-other")
    with Server(engine.url, "--store-timeout-ms", "1000") as server:
        client = server.client()
        ids = until(lambda: client.ids(busy, 10), "it has ids")
        until(lambda: client.get("/ready")[0] == 200, "it is ready")
        engine.kill()
        until(lambda: client.get("/ready")[0] == 503, "it is not ready")
        assert client.get("/health")[0] == 200
        ids += client.ids(busy, 900)
        status, body = client.get(f"/api/segment/get/{other}")
        assert status == 500 and "Result{id=-3, status=EXCEPTION}" in body
        status, answer = client.post(f"/api/segment/range/{other}?nonce=1")
        assert (status, answer["error"]) == (503, "segment_unavailable")
        engine.start()
        until(lambda: client.get("/ready")[0] == 200, "it is ready")
        ids += until(lambda: client.ids(busy, 500), "ids come again")
        check_unique(ids, 1_410)


def test_an_empty_buffer_is_refused_at_once_while_the_store_is_away_and_served_once_it_is_back(engine, new_tag):
    """If each of these requests waited as long as it may, the test would hang."""
    tags = [new_tag(engine, 10, suffix=f"-{number}") for number in range(10)]
    # The store is missed after so long, and has as long for each look then.
    with Server(engine.url, "--store-timeout-ms", "8000") as server, contextlib.ExitStack() as away:
        client = server.client()
        found = [id for tag in tags[:5] for id in client.ids(tag)]
        assert len(found) == 5, "of the other tags no row was seen"
        engine.stop()
        away.callback(engine.start)
        until(lambda: client.get("/ready")[0] == 503, "the store is missed")
        for tag in tags:
            while client.ids(tag):
                pass

        def refused():
            one = server.client()
            for tag in 5 * tags:
                status, body = one.get(f"/api/segment/get/{tag}")
                assert status == 500 and "Result{id=-3, status=EXCEPTION}" in body

        in_threads(*[refused] * 20)
        away.close()
        until(lambda: client.get("/ready")[0] == 200, "the store is back")
        firsts = {}
        in_threads(*[lambda tag=tag: firsts.update({tag: server.client().ids(tag)}) for tag in tags])
        assert all(firsts.values()), "no error after the return"


def test_a_start_waits_for_a_store_that_is_down(engine, new_tag):
    tag = new_tag(engine)
    engine.stop()
    with Server(engine.url, "--start-timeout-ms", "2000", "--store-timeout-ms", "300", wait=False) as server:
        assert server.process.wait() == 1
        assert "the store does not answer, and this server does not start" in server.log()
    with Server(engine.url, "--store-timeout-ms", "1000", wait=False) as server:
        until(lambda: "it is tried again in" in server.log(), "a try has failed")
        engine.start()
        client = server.wait().client()
        # A store that is late costs a range, and the log says so.
        assert until(lambda: client.ids(tag), "it has ids") == [1] or tag in server.log()


def test_a_counter_that_was_rewound_is_refused(store, new_tag):
    tag = new_tag(store, 100)
    check_rewound(
        store.url,
        tag,
        lambda: store.sql(f"UPDATE leaf_alloc SET max_id = 1 WHERE biz_tag = '{tag}'"),
        lambda: store.sql(f"UPDATE leaf_alloc SET max_id = 2000000 WHERE biz_tag = '{tag}'"),
    )


def test_a_row_that_comes_back_lower_is_refused(file):
    """A server remembers what it has seen of a tag, although the store did not know the tag for a while."""
    make_tag(file.url, "order", 100)
    with Server(file.url, "--timeout-ms", "3000") as server:
        client = server.client()
        given = [*range(*client.range("order", 2000))]
        file.sql("DELETE FROM leaf_alloc")
        for _ in range(2):
            status, answer = client.post("/api/segment/range/order?nonce=1")
            assert (status, answer["error"]) == (404, "unknown_tag")
        make_tag(file.url, "order", 100)
        status, answer = client.post("/api/segment/range/order?nonce=1")
        assert (status, answer["error"]) == (409, "segment_regressed"), answer
        assert client.ids("order") == []
        make_tag(file.url, "order", 100, first=2001)
        given += until(lambda: client.ids("order", 50), "ids come again")
        check_unique(given, 2050)


def check_rewound(url, tag, rewind, mend):
    with Server(url, "--timeout-ms", "3000") as server:
        client = server.client()
        first = client.range(tag, 500, after=1_000_000)
        ids = until(lambda: client.ids(tag, 5), "it has ids")
        rewind()
        status, answer = client.post(f"/api/segment/range/{tag}?step=500&nonce=1")
        assert (status, answer["error"]) == (409, "segment_regressed"), answer
        # What the buffers hold was given before; the next range is refused as well.
        while more := client.ids(tag, 50):
            ids += more
        mend()
        ids += until(lambda: client.ids(tag, 50), "ids come again")
        check_unique([*range(*first), *ids])


def test_a_range_lies_above_after(store, new_tag):
    tag = new_tag(store, 100)
    with Server(store.url) as server:
        client = server.client()
        assert client.range(tag, 10) == (1, 11)
        assert client.range(tag, 10, after=900) == (900, 910)
        assert client.range(tag, 10, after=5) == (910, 920)
        _, answer = client.post(f"/api/segment/range/{tag}?nonce=4bf9")
        assert answer == {"tag": tag, "start": "920", "end": "1020", "stride": 1, "step": 100, "nonce": "4bf9"}
        _, answer = client.post(f"/api/segment/range/{tag}-none?nonce=1")
        assert answer == {"error": "unknown_tag", "message": f'the store has no tag "{tag}-none"; POST /api/tag makes it'}
        far = 2**62
        assert client.post(f"/api/segment/range/{tag}?after={far}&nonce=1")[0] == 400
        assert client.range(tag, 10) == (1020, 1030), "a wrong after has no effect"
        for wrong in ("step=0", "step=x", "after=-1"):
            assert client.post(f"/api/segment/range/{tag}?{wrong}&nonce=1")[0] == 400


@pytest.mark.parametrize("first", [2**63 - 1 - 150])
def test_a_counter_at_its_end_gives_an_error_and_no_id(store, new_tag, first):
    tag = new_tag(store, 100)
    store.sql(f"UPDATE leaf_alloc SET max_id = {first} WHERE biz_tag = '{tag}'")
    with Server(store.url) as server:
        client = server.client()
        assert client.range(tag, 100) == (first, first + 100)
        for _ in range(3):
            assert client.range(tag, 100) is None
        assert store.sql(f"SELECT max_id FROM leaf_alloc WHERE biz_tag = '{tag}'") == [str(first + 100)]
        assert client.range(tag, 10) == (first + 100, first + 110)
    # A server that fetches the ids of all tags would wait for them.
    store.sql(f"DELETE FROM leaf_alloc WHERE biz_tag = '{tag}'")


def test_wrong_rows_give_an_error_and_stay_as_they_are(store, new_tag):
    zero, negative = new_tag(store, suffix="-zero"), new_tag(store, suffix="-negative")
    store.sql(f"UPDATE leaf_alloc SET step = 0 WHERE biz_tag = '{zero}'")
    store.sql(f"UPDATE leaf_alloc SET max_id = -5000 WHERE biz_tag = '{negative}'")
    with Server(store.url, "--timeout-ms", "300") as server:
        client = server.client()
        for tag, max_id in ((zero, "1"), (negative, "-5000")):
            assert client.ids(tag) == []
            assert client.post(f"/api/segment/range/{tag}?nonce=1")[0] == 503
            assert store.sql(f"SELECT max_id FROM leaf_alloc WHERE biz_tag = '{tag}'") == [max_id]
            store.sql(f"DELETE FROM leaf_alloc WHERE biz_tag = '{tag}'")


def test_two_files_of_one_host_share_by_their_path(file):
    """Several servers of one SQLite file, all of them busy."""
    make_tag(file.url, "order", 5)
    servers = [Server(file.url, "--no-snowflake") for _ in range(SERVERS)]
    run_clients(servers, "order", lambda found: [all_go_on(found) for _ in range(5)], 500)


def test_tags_of_the_last_day_have_ids_when_a_server_starts(new_tag, file):
    """They are served although the store is gone by then."""
    fresh, old = new_tag(file, 50), new_tag(file, 50, suffix="-old")
    file.sql(f"UPDATE leaf_alloc SET update_time = datetime('now', '-25 hours') WHERE biz_tag = '{old}'")
    with Server(file.url, "--timeout-ms", "300", environment={"LEAFID_SERVER_WARM_TAGS": "10"}) as server:
        until(lambda: "for 1 tags that were used within a day" in server.log(), "ids are fetched")
        assert file.sql(f"SELECT max_id FROM leaf_alloc WHERE biz_tag = '{fresh}'") == ["51"]
        file.sql("ALTER TABLE leaf_alloc RENAME TO gone")
        client = server.client()
        assert client.ids(fresh, 5) == [1, 2, 3, 4, 5]
        assert client.ids(old) == []


def test_each_store_knows_which_tags_were_used(store, new_tag):
    tag = new_tag(store, 50)
    store.sql(f"UPDATE leaf_alloc SET update_time = '2020-01-01 00:00:00' WHERE biz_tag = '{tag}'")

    def warm():
        with Server(store.url, environment={"LEAFID_SERVER_WARM_TAGS": "100000"}) as server:
            until(lambda: "tags that were used within a day" in server.log(), "ids are fetched")
        return store.sql(f"SELECT max_id FROM leaf_alloc WHERE biz_tag = '{tag}'")[0]

    assert warm() == "1", "it is old"
    with Server(store.url) as server:
        assert server.client().ids(tag) == [1]
    assert warm() == "101"


def test_a_table_without_a_time_of_change_is_used_as_it_is(store, tag):
    """As docs/SEGMENTS.md has it."""
    Server(store.url).kill()
    store.sql("ALTER TABLE leaf_alloc RENAME TO leaf_alloc_whole")
    try:
        store.sql("CREATE TABLE leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id bigint NOT NULL, step int NOT NULL)")
        store.sql(f"INSERT INTO leaf_alloc VALUES ('{tag}', 1, 10)")
        with Server(store.url, environment={"LEAFID_SERVER_WARM_TAGS": "10"}) as server:
            client = server.client()
            assert client.range(tag, 5) == (1, 6)
            assert client.ids(tag, 10) == list(range(6, 16))
        store.sql("DROP TABLE leaf_alloc")
    finally:
        store.sql("ALTER TABLE leaf_alloc_whole RENAME TO leaf_alloc")
