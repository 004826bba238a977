"""A source that gives again and again what it gave before, to many processes of one state directory."""

import random
import time

from harness import assert_distinct, place, test
from servers import FakeServer
from subjects import MIXED, Stream, words


@test("a source that is rewound again and again, processes in each language, some killed: no id twice")
def _():
    source, where = FakeServer(), place()
    source.do("tag", tag="order", step=50)
    options = words(where, servers=source.url, adaptive="no", batch=10, pause_us=3000)

    def start(language):
        stream = Stream(language, [*options, f"method={random.choice(('next', 'take'))}"])
        return language, stream

    living, ended, errors = [start(language) for language in [*MIXED, "rust", "rust"]], [], []
    end, rewinds, highest = time.monotonic() + 5, 0, 1
    while time.monotonic() < end or sum(map(len, ended)) <= 2_000 or rewinds < 5:
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
    return f"{total} ids of {refused} given, {rewinds} rewinds, {len(ended)} runs"
