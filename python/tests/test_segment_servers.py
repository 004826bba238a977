"""Segments from file:DIR and from servers."""

import asyncio

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


def test_ids_from_a_server(space, server):
    with leafid.Segments(server.url, protocol="range", request_timeout_ms=60_000, **space) as ids:
        order = ids.tag("order/日本")
        assert [order.next(), *order.take(2500)] == list(range(1, 2502))
        assert asyncio.run(order.take_async(10)) == list(range(2502, 2512))
        # The source's own step, raised while it runs.
        server.do("tag", tag="user", step=50)
        user = ids.tag("user")
        user.next()
        assert user.stats().current == range(2, 51)


BAD = [
    ({}, "servers"),
    ({"servers": {"http://a": 1}}, "servers"),
    ({"servers": "file:/nowhere", "tags": ["order"]}, "tags"),
    ({"servers": "file:/nowhere", "tags": {"order": {"first": 7}}}, '"first"'),
    ({"servers": "file:/nowhere", "tags": {"order": {"start": "7"}}}, "start"),
    ({"servers": "file:/nowhere", "tags": {7: {}}}, "tag"),
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
