"""Regions with a store each: each gives the ids of its own remainder."""

import contextlib
import http.client
import subprocess
import threading

import pytest
from servers import BINARY, Server, check_unique, in_threads, until

STRIDE = 3


def test_regions_with_a_store_each_give_nothing_twice(any_store, file, new_tag):
    """Two servers of one region, of which one is killed, and one of another region."""
    tag, url = new_tag(any_store, 50), any_store.url
    assert new_tag(file, 50) == tag
    servers = [Server(its, "--stride", STRIDE, "--remainder", at) for its, at in
               [(url, 0), (url, 0), (file.url, 2)]]  # fmt: skip
    found, ends = [[] for _ in servers], threading.Event()

    def take(at):
        client = servers[at].client()
        while not ends.is_set():
            found[at] += client.ids(tag, 30) + client.ids(tag)
            start, end, stride = wide_range(client, tag)
            found[at] += range(start, end, stride)

    def kill_one():
        until(lambda: all(len(ids) > 1_000 for ids in found), "all have ids")
        servers[1].kill()
        had = len(found[0])
        until(lambda: len(found[0]) > had + 1_000, "the other one goes on")
        ends.set()

    def take_until_killed():
        with contextlib.suppress(OSError, http.client.HTTPException):
            take(1)

    try:
        in_threads(kill_one, lambda: take(0), take_until_killed, lambda: take(2))
        # A server without the setting gives ids of other regions, but none that its store gave.
        with Server(url) as plain:
            others = plain.client().ids(tag, 200)
        found[0] += servers[0].client().ids(tag, 200)
    finally:
        for server in servers:
            server.kill()
    for ids, remainder in zip(found, [0, 0, 2]):
        assert {id % STRIDE for id in ids} == {remainder}
    check_unique([id for ids in found for id in ids], 3_000)
    check_unique([*found[0], *found[1], *others], 2_000)


def wide_range(client, tag):
    status, value = client.post(f"/api/segment/range/{tag}?step=40&nonce=1")
    assert status == 200, value
    ids = int(value["start"]), int(value["end"]), value["stride"]
    assert len(range(*ids)) == 40
    return ids


def test_tinyid_s_clients_get_the_ids_of_the_region(file, new_tag):
    tag, token = new_tag(file, 100), "of-a-team"
    file.sql("CREATE TABLE tiny_id_token (token TEXT, biz_type TEXT)")
    file.sql(f"INSERT INTO tiny_id_token VALUES ('{token}', '{tag}')")
    with Server(file.url, "--stride", STRIDE, "--remainder", 1) as server:
        client = server.client()
        ids = []
        for _ in range(3):
            status, body = client.get(f"/tinyid/id/nextSegmentIdSimple?bizType={tag}&token={token}")
            current, loading, most, delta, remainder = map(int, body.split(","))
            assert (status, delta, remainder) == (200, STRIDE, 1)
            assert current < loading < most
            segment = [id for id in range(current + 1, most + 1) if id % delta == remainder]
            assert len(segment) == 100
            ids += segment
        check_unique(ids + client.ids(tag, 100), 400)


@pytest.mark.parametrize(
    "options, said",
    [
        (["--stride", "3", "--remainder", "3"], "remainder is 3; allowed: 0 to 2, for the stride is 3"),
        (["--remainder", "1"], "remainder is 1; allowed: 0 to 0, for the stride is 1"),
        (["--stride", "3", "--give-back"], "give-back is true; allowed: with a stride of 1"),
        (["--stride", "0"], "invalid value '0' for '--stride"),
    ],
)
def test_what_is_no_region_is_refused(file, options, said):
    done = subprocess.run([BINARY, "--store", file.url, *options], capture_output=True, text=True)
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
