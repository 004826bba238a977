"""Sources that give what they gave before: refused, with how far below it lies, to this process, to another one of the
state directory, and after a restart."""

import random
import time

from harness import assert_distinct, place, test
from outages import settled
from servers import FakeServer
from subjects import LANGUAGES, MIXED, Stream, Tags, words

FIRST = 50_001
BOUNDS = {"step": 1000, "adaptive": "no", "timeout_ms": 2_000}


def again(source, end):
    """The same range twice: where it starts."""
    source.fault({"duplicate": True}, tag="order")
    return end - 1000


def across(source, end):
    source.fault({"answer": {"start": str(end - 300), "end": str(end + 700)}}, tag="order")
    return end - 300


def below(source, end):
    source.do("tag", tag="order", next=1, heeds_after=False)
    return 1


def filled(language, source, where):
    """A subject that has issued some ids, all of them, and the end of what the source gave."""
    source.do("tag", tag="order", next=FIRST)
    subject = Tags(language).open("a", *words(where, servers=source.url, **BOUNDS))
    ids = subject.next(count=150)
    settled(subject)
    return subject, ids, FIRST + 2000


def refused_then_right(subject, source, wrong, end):
    """The wrong answers are refused with the distance, no id of them comes, and the right one after is used. `wrong` is
    what makes the source wrong, and says where its first wrong range starts."""
    start = wrong(source, end)
    error = subject.refusal()
    assert error.code == "segment_regressed", error
    # A counter continues from its wrong place while it is asked again.
    distances = [end - start - 1000 * turn for turn in range(60)] if wrong is below else [end - start]
    text = str(error)
    assert any(f" {distance} below " in text for distance in distances), f"{distances}: not said by {text}"
    assert str(end) in text and "counter" in text, text
    source.clear()
    source.do("tag", tag="order", next=end, heeds_after=True)
    return subject.recovered(count=20)


for _wrong, _what in ((again, "the same range twice"), (across, "a crossing range"), (below, "a range far below")):
    for _language in LANGUAGES if _wrong is again else ["rust"]:

        @test(f"{_what}, to one process: segment_regressed, and the right one is used, in {_language}")
        def _(wrong=_wrong, language=_language):
            source, where = FakeServer(), place()
            subject, ids, end = filled(language, source, where)
            rest = subject.stats()["left"]
            # What it has is issued; the fetch for what comes after is answered wrongly.
            wrong(source, end)
            more = subject.take(rest)
            assert ids + more == list(range(FIRST, end)), "not what was buffered"
            fresh = refused_then_right(subject, source, wrong, end)
            assert fresh == list(range(end, end + 20)), fresh

    @test(f"{_what}, to a second process and after a restart: segment_regressed")
    def _(wrong=_wrong):
        source, where = FakeServer(), place()
        first, ids, end = filled("rust", source, where)
        second = Tags("python").open("a", *words(where, servers=source.url, **BOUNDS))
        fresh = refused_then_right(second, source, wrong, end)
        assert fresh == list(range(end, end + 20)), fresh
        ids += fresh
        # What the second was given is known to the next one, however the first ended.
        first.kill()
        second.quit()
        end = int(source.report()["tags"]["order"]["last_end"])
        third = Tags("c").open("a", *words(where, servers=source.url, **BOUNDS))
        ids += refused_then_right(third, source, wrong, end)
        assert len(ids) == len({*ids}), "an id was issued twice"
        # Another id space, and another directory, know nothing of it: it is the marks that refuse.
        wrong(source, end)
        for other in (words(where, name=where.name + "-other"), words(where, state="other")):
            stranger = Tags().open("a", *other, f"servers={source.url}", "timeout_ms=2000")
            assert stranger.next()[0] <= max(ids)


@test("a source that is rewound again and again, processes in each language, some killed: no id twice")
def _():
    source, where = FakeServer(), place()
    source.do("tag", tag="order", step=50)
    options = words(where, servers=source.url, adaptive="no", timeout_ms=30_000, batch=10, pause_us=3000)

    def start(language):
        stream = Stream(language, [*options, f"method={random.choice(('next', 'take'))}"])
        return language, stream

    living, ended, errors = [start(language) for language in [*MIXED, "rust", "rust"]], [], []
    end, rewinds, highest = time.monotonic() + 5, 0, 1
    while time.monotonic() < end:
        time.sleep(random.uniform(0.1, 0.5))
        action = random.random()
        if action < 0.6:
            highest = max(highest, int(source.report()["tags"].get("order", {}).get("last_end") or 1))
            back = random.choice((1, 50, 130, 400))
            source.do("tag", tag="order", next=max(1, highest - back), heeds_after=random.random() < 0.4)
            rewinds += 1
        elif action < 0.8:
            source.fault({"duplicate": True}, tag="order", times=2)
        else:
            language, stream = living.pop(random.randrange(len(living)))
            ended.append(stream.kill())
            errors.append(stream.errors)
            living.append(start(language))
    for _, stream in living:
        ended.append(stream.kill())
        errors.append(stream.errors)
    wrong = [text for text in errors if "error" in text or "panicked" in text]
    assert not wrong, wrong[0]
    assert_distinct(ended)
    total, refused = sum(map(len, ended)), source.given() * 50
    assert total > 2_000 and rewinds >= 5, f"{total} ids, {rewinds} rewinds"
    return f"{total} ids of {refused} given, {rewinds} rewinds, {len(ended)} runs"
