"""The marks of segments on disks that hang, fail, are full, or lost what they held; sources that hang beside others."""

import os
import random

from disks import fill, mounted
from harness import assert_distinct, place, test
from outages import settled
from servers import FakeServer
from subjects import Refused, Tags, words
from tricks import stalled


def on_server(where, source, **more):
    return words(where, servers=source.url, adaptive="no", step=1000, **more)


def refused_after_all(subject, code, **of):
    """Issues what is at hand, all of it, and answers the ids and the error after them."""
    ids = subject.take(subject.stats(**of)["left"], **of)
    return ids, subject.refusal(code=code, **of)


for _how, _code in (("hang", ("segment_unavailable", "state_io")), ("eio", ("state_io",))):

    @test(f"marks on a disk that answers {_how}: ids at hand go on, then an error in time, and it recovers")
    def _(how=_how, codes=_code):
        source, where = FakeServer(), place()
        subject = Tags(before=stalled(where)).open("a", *on_server(where, source, timeout_ms=700))
        subject.open("b", *on_server(where, source, state="other", name=where.name + "b", request_timeout_ms=60_000))
        ids = subject.recovered(count=110)
        settled(subject)
        where.write("disk", f"{how} {where.dir}/state/")
        more, error = refused_after_all(subject, codes[0])
        assert error.code in codes, error
        assert subject.micros > 600_000, f"bounded by 700 ms, took {subject.micros} us"
        if how == "eio":
            assert f"{where.dir}/state" in str(error), error
        # What has its marks elsewhere is not held up.
        others = subject.next("b", count=2_500)
        assert subject.stats("b")["failures"] == 0, subject.stats("b")
        where.write("disk", "ok")
        ids += [*more, *subject.recovered()]
        assert ids == sorted({*ids}) and len({*others}) == 2_500, "an id came twice, or out of order"


@test("marks on a full disk (tmpfs): tags in use go on, a new one is refused and made when there is space")
def _():
    where, source = place(), FakeServer()
    subject, inside = mounted(where, f"mount -t tmpfs -o size=256k tmpfs {where.dir}/state", Tags)
    subject.open("a", *on_server(where, source, timeout_ms=10_000))
    ids = subject.next(count=15)
    fill(inside)
    ids += subject.next(count=4_000)
    before = sorted(os.listdir(f"{inside}/{where.name}"))
    error = subject.refused("next", "a", "shop")
    assert error.code == "state_io" and "space" in str(error) and f"{where.dir}/state" in str(error), error
    assert sorted(os.listdir(f"{inside}/{where.name}")) == before, "something was left behind"
    ids += subject.next(count=2_000)
    assert ids == list(range(1, 6_016)), "ids of one process have gaps"
    os.truncate(f"{inside}/filler", 0)
    assert subject.recovered(tag="shop")[0] >= 1


@test("the state directory is deleted under a process: an error, or ids above; never one twice")
def _():
    where, source = place(), FakeServer()
    subject = Tags().open("a", *on_server(where, source, timeout_ms=10_000))
    ids = [subject.next(count=1_500)]
    settled(subject)
    for path in (where.dir / "state").rglob("*.mark"):
        path.unlink()
    ids.append(subject.take(subject.stats()["left"]))
    try:
        ids.append(subject.next(count=1_500))
    except Refused as error:
        assert error.code in ("state_io", "state_corrupt"), error
    source.do("tag", tag="order", next=1, heeds_after=False)
    try:
        ids.append(subject.next(count=3_000))
    except Refused as error:
        assert error.code in ("segment_regressed", "state_io", "state_corrupt"), error
    assert_distinct(ids)


@test("the same segments opened four times in one process: no id twice, from a server and from file:")
def _():
    for servers in ("http", "file"):
        where, source = place(), FakeServer()
        file = [f"servers=file:{where.dir}/c", "create=yes", "tags=order:1:7"]
        options = {"http": [f"servers={source.url}"], "file": file}
        subject = Tags()
        for handle in "abcd":
            subject.open(handle, *words(where, adaptive="no", step=7), *options[servers])
        ids = [subject.next(random.choice("abcd"), count=random.choice((1, 5, 30))) for _ in range(60)]
        assert_distinct(ids)
