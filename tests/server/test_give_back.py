"""What a clean stop gives back, and what it does not."""

import threading
import time

from servers import Server, check_unique, in_threads, until


def max_id(store, tag):
    return int(store.sql(f"SELECT max_id FROM leaf_alloc WHERE biz_tag = '{tag}'")[0])


def test_unused_ids_at_the_end_are_given_back(store, new_tag):
    tag, whole = new_tag(store, 100), new_tag(store, 100, suffix="-whole")
    with Server(store.url, "--give-back") as server:
        client = server.client()
        ids = client.ids(tag, 30)
        until(lambda: max_id(store, tag) > 101, "the next range is there")
        assert client.ids(whole, 5) == [1, 2, 3, 4, 5]
        assert server.end() == 0
        assert "given back" in server.log()
    assert (max_id(store, tag), max_id(store, whole)) == (31, 6)
    with Server(store.url) as server:
        assert server.client().ids(tag) == [31]
        assert server.end() == 0
    assert max_id(store, tag) == 131, "not without the option"
    check_unique([*ids, 31])


def test_nothing_is_given_back_below_a_later_range(store, new_tag):
    tag = new_tag(store, 100)
    with Server(store.url, "--give-back") as one, Server(store.url) as other:
        assert one.client().ids(tag) == [1]
        assert other.client().range(tag, 10) == (101, 111)
        assert one.end() == 0
        assert max_id(store, tag) == 111
        assert other.client().range(tag, 10) == (111, 121)


def test_servers_that_stop_and_start_give_nothing_twice(store, new_tag):
    tag = new_tag(store, 40)
    servers, found, lock = [Server(store.url, "--give-back") for _ in range(3)], [], threading.Lock()
    begun = time.monotonic()

    def goes_on():
        return time.monotonic() < begun + 6 or len(found) < 300

    def take(at):
        client = servers[at].client()
        while goes_on():
            try:
                ids = client.ids(tag, 3)
            except Exception:
                time.sleep(0.05)
                client = servers[at].client()
                continue
            with lock:
                found.extend(ids)

    def restart():
        at = 0
        while goes_on():
            time.sleep(0.2)
            assert servers[at].end() == 0
            servers[at].kill()
            servers[at] = Server(store.url, "--give-back")
            at = (at + 1) % len(servers)

    try:
        in_threads(restart, *[lambda at=at: take(at % 3) for at in range(6)])
    finally:
        for server in servers:
            server.kill()
    check_unique(found, 300)
