"""Segments from file:DIR and from servers."""

import asyncio
import json
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import leafid


@pytest.fixture
def counters(tmp_path):
    return f"file:{tmp_path / 'counters'}"


TAGS = {"order": {"start": 1001, "step": 10}, "user": {}}


def test_a_directory_is_shared(space, counters):
    with (
        leafid.Segments(counters, tags=TAGS, create=True, **space) as ids,
        leafid.Segments([counters], **space | {"name": space["name"] + "-2"}) as others,
    ):
        order, other = ids.tag("order"), others.tag("order")
        got = [tag.next() for _ in range(200) for tag in (order, other)]
        assert len(set(got)) == 400 and min(got) == 1001
        assert ids.tag("user").next() == 1
        assert ids.stats().source.startswith("file:")
        with pytest.raises(leafid.UnknownTagError, match="shop"):
            ids.tag("shop").next()


def test_processes_share_a_directory(space, counters, start):
    leafid.Segments(counters, tags=TAGS, create=True, **space).close()
    program = """
tags = {"order": {"start": 1001, "step": 10}}
order = leafid.Segments(space.pop("counters"), tags=tags, **space).tag("order")
say([order.next() for _ in range(2000)])
"""
    programs = [start(program, counters=counters) for _ in range(4)]
    every = [id for program in programs for id in json.loads(program.end())]
    assert len(every) == len(set(every)) == 8000 and min(every) >= 1001


def test_a_directory_is_made_on_purpose(space, counters):
    with pytest.raises(leafid.UnknownTagError):
        leafid.Segments(counters, **space)
    pathlib.Path(counters.removeprefix("file:")).mkdir()
    with pytest.raises(leafid.UnknownTagError):
        leafid.Segments(counters, **space)


def test_a_step_raised_in_the_directory_is_followed(space, counters, wait):
    with leafid.Segments(counters, tags=TAGS, create=True, adaptive=False, **space) as ids:
        order = ids.tag("order")
        order.take(3)
        wait(lambda: not order.stats().fetching)
        directory = counters.removeprefix("file:")
        subprocess.run(
            [sys.executable, "-m", "leafid", "file", "create", directory, "--tag", "order", "--step", "500"], check=True
        )
        order.take(40)
        wait(lambda: not order.stats().fetching)
        assert order.stats().step == 500


def test_ids_from_a_server(space, server):
    with leafid.Segments(server.url, protocol="range", **space) as ids:
        order = ids.tag("order/日本")
        assert [order.next(), *order.take(2500)] == list(range(1, 2502))
        assert asyncio.run(order.take_async(10)) == list(range(2502, 2512))
        # The source's own step, raised while it runs.
        server.do(do="tag", tag="user", step=50)
        user = ids.tag("user")
        user.next()
        assert user.stats().current == range(2, 51)


def test_a_token_and_headers(space, server):
    server.do(do="token", token="secret")
    options = {"protocol": "range", "timeout_ms": 300, **space}
    with leafid.Segments(server.url, **options) as ids:
        with pytest.raises(leafid.SegmentUnavailableError, match="401"):
            ids.tag("order").next()
    with leafid.Segments(server.url, token="secret", headers={"X-Team": "orders"}, **options) as ids:
        assert ids.tag("order").next(timeout_ms=5000) > 0
    with pytest.raises(leafid.InvalidArgumentError, match="^headers is "):
        leafid.Segments(server.url, headers={"X-Team": 7}, **options)


WRONG = {
    "an end not above its start": ({"answer": {"start": "7", "end": "7"}}, leafid.SourceInvalidError),
    "2^63": ({"answer": {"end": "9223372036854775808"}}, leafid.SourceInvalidError),
    "10 MB": ({"pad": 10_000_000}, leafid.SourceInvalidError),
    "half a body": ({"cut": "half"}, leafid.SourceInvalidError),
    "HTML": ({"body": "<html>busy</html>"}, leafid.SourceInvalidError),
    "500": ({"status": 500, "body": "broken"}, leafid.SegmentUnavailableError),
    "wrong nonce": ({"answer": {"nonce": "x"}}, leafid.SourceInvalidError),
    "hangs": ({"hang": True}, leafid.SegmentUnavailableError),
}


# The host's own tests try all of them as well.
EVERY_WRONG = [
    pytest.param(*case, id=name, marks=() if name in ("2^63", "500") else pytest.mark.slow)
    for name, case in WRONG.items()
]


@pytest.mark.parametrize(("fault", "expected"), EVERY_WRONG)
def test_a_server_that_answers_wrongly(space, server, fault, expected):
    server.do(do="fault", fault=fault)
    with leafid.Segments(server.url, protocol="range", timeout_ms=400, request_timeout_ms=300, **space) as ids:
        order = ids.tag("order")
        with pytest.raises(expected, match="127.0.0.1"):
            order.next()
        assert order.stats().left == 0
        server.do(do="clear")
        assert order.next(timeout_ms=5000) > 0


@pytest.mark.slow
def test_an_outage_of_a_server(space, server, wait):
    """What is at hand is issued, and who waits has an id within a second of the return, unless the machine is busy."""

    async def main(order, got):
        async def one():
            got.append((await order.next_async(), time.monotonic()))

        await asyncio.gather(*[one() for _ in range(100)])

    def outage(order):
        order.take(50)
        wait(lambda: not order.stats().fetching)
        server.do(do="dead", how="refused")
        at_hand = order.stats().left
        assert len(order.take(at_hand)) == at_hand
        got = []
        loop = threading.Thread(target=lambda: asyncio.run(main(order, got)))
        loop.start()
        time.sleep(1.2)
        assert got == []
        server.do(do="dead")
        back = time.monotonic()
        loop.join(15)
        assert len({id for id, _ in got}) == 100
        return max(at for _, at in got) - back

    with leafid.Segments(server.url, protocol="range", step=100, adaptive=False, timeout_ms=20_000, **space) as ids:
        order = ids.tag("order")
        assert any(outage(order) < 1 for _ in range(3))


def test_one_of_two_servers_that_is_away(space, server, fake_server):
    second = fake_server()
    second.do(do="tag", tag="order", next=1_000_001)
    with leafid.Segments([server.url, second.url], protocol="range", adaptive=False, step=10, **space) as ids:
        order = ids.tag("order")
        assert order.next() == 1
        server.do(do="dead", how="refused")
        assert order.take(500)[-1] > 1_000_000


BAD = [
    ({"servers": 7}, "servers"),
    ({"servers": [7]}, "servers"),
    ({"servers": {"http://a": 1}}, "servers"),
    ({"servers": "ftp://a", "protocol": "range"}, "servers"),
    ({"servers": []}, "servers"),
    ({}, "servers"),
    ({"servers": "http://a", "fetch": print}, "fetch"),
    ({"servers": "http://a", "protocol": "http"}, "protocol"),
    ({"servers": "http://a", "protocol": "range", "connections": 0}, "connections"),
    ({"servers": "http://a", "headers": [("a", "b")]}, "headers"),
    ({"servers": "http://a", "protocol": "leaf_snowflake"}, "protocol"),
    ({"servers": "http://a", "ordered_source": True}, "ordered_source"),
    ({"servers": "http://a", "protocol": "tinyid", "step": 100}, "step"),
    *[
        ({"servers": "http://a", "block_size": size}, "block_size")
        for size in (1, 0, -100, 1_000_001, 2**64, 1.5, "100", True)
    ],
    *[
        ({"servers": "http://a", "protocol": protocol, "block_size": 100}, "block_size")
        for protocol in ("leaf-snowflake", "range", "tinyid")
    ],
    ({"servers": "file:/nowhere", "block_size": 100}, "block_size"),
    ({"fetch": print, "block_size": 100}, "block_size"),
    ({"servers": "http://a", "protocol": "range", "request_timeout_ms": 0}, "request_timeout_ms"),
    ({"fetch": print, "step": 0}, "step"),
    ({"fetch": print, "step": 1.5}, "step"),
    ({"fetch": print, "prefetch": 101}, "prefetch"),
    ({"fetch": print, "prefetch": True}, "prefetch"),
    ({"fetch": print, "adaptive": 1}, "adaptive"),
    ({"fetch": print, "timeout_ms": 0}, "timeout_ms"),
    ({"fetch": print, "prewarm": "order"}, "prewarm"),
    ({"fetch": print, "prewarm": [7]}, "prewarm"),
    ({"fetch": print, "prewarm": [f"{n}" for n in range(1001)]}, "prewarm"),
    ({"fetch": print, "prewarm": ["a\n"]}, "tag"),
    ({"fetch": print, "keep_unused": True, "persist": False}, "keep_unused"),
    ({"fetch": print, "name": "a/b"}, "name"),
    ({"servers": "file:/nowhere", "tags": ["order"]}, "tags"),
    ({"servers": "file:/nowhere", "tags": {"order": 7}}, "tags"),
    ({"servers": "file:/nowhere", "tags": {"order": {"first": 7}}}, "first"),
    ({"servers": "file:/nowhere", "tags": {"order": {"start": "7"}}}, "start"),
    ({"servers": "file:/nowhere", "tags": {7: {}}}, "tag"),
    ({"servers": "file:/nowhere", "tags": {"order": {"start": -1}}}, "the start of the tag"),
    ({"fetch": print, "url": "http://a"}, "url"),
]


@pytest.mark.parametrize(("options", "name"), BAD, ids=[f"{options}"[:60] for options, _ in BAD])
def test_what_is_refused(space, options, name):
    with pytest.raises(leafid.InvalidArgumentError, match=f"^{name}"):
        leafid.Segments(**(space | {"name": space["name"]} | options))


def test_none_is_the_default(space):
    names = "servers protocol step adaptive prefetch timeout_ms request_timeout_ms connect_timeout_ms connections"
    names += " block_size token headers ca_file persist shared_fs shared_group tags create prewarm keep_unused ordered_source"
    with leafid.Segments(fetch=lambda tag, step: range(step), **space, **dict.fromkeys(names.split())) as ids:
        assert ids.tag("order").take(3) == [0, 1, 2] and ids.name == space["name"]
