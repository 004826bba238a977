"""Segments from file:DIR and from servers."""

import asyncio
import json

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
    options = {"protocol": "range", **space}
    with leafid.Segments(server.url, **options) as ids:
        with pytest.raises(leafid.SourceInvalidError, match="401"):
            ids.tag("order").next()
    with leafid.Segments(server.url, token="secret", headers={"X-Team": "orders"}, **options) as ids:
        assert ids.tag("order").next() > 0
    with pytest.raises(leafid.InvalidArgumentError, match="^headers is "):
        leafid.Segments(server.url, headers={"X-Team": 7}, **options)


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
    ({"servers": "file:/nowhere", "tags": {"order": {"first": 7}}}, '"first"'),
    ({"servers": "file:/nowhere", "tags": {"order": {"start": "7"}}}, "start"),
    ({"servers": "file:/nowhere", "tags": {7: {}}}, "tag"),
    ({"servers": "file:/nowhere", "tags": {"order": {"start": -1}}}, "the start of the tag"),
    ({"fetch": print, "url": "http://a"}, '"url"'),
]


@pytest.mark.parametrize(("options", "name"), BAD, ids=[f"{options}"[:60] for options, _ in BAD])
def test_what_is_refused(space, options, name):
    with pytest.raises(leafid.InvalidArgumentError, match=f"^{name}"):
        leafid.Segments(**(space | {"name": space["name"]} | options))


def test_none_is_the_default(space):
    names = "servers protocol step adaptive prefetch timeout_ms request_timeout_ms connect_timeout_ms connections"
    names += " block_size token headers ca_file persist shared_fs shared_group tags create prewarm keep_unused ordered_source"
    with leafid.Segments(fetch=lambda tag, step: range(step), **space | dict.fromkeys(names.split())) as ids:
        assert ids.tag("order").take(3) == [0, 1, 2] and ids.name == space["name"]
