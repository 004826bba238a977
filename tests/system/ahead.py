"""A logical clock that is ahead: ids go on at the clock's pace, and do not wait for the clock."""

import itertools

from harness import now_ms, place, record, test, time_of
from subjects import LANGUAGES, Serve
from tricks import faketime

for _language in LANGUAGES:

    @test(f"a minute ahead after a crash: 100,000 ids, all ahead of the clock, in {_language}")
    def _(language=_language):
        where = place()
        options = where.options(worker=1, random_start=0, max_backwards_ms=120_000)
        # A clock that was ahead until it was corrected, and a kill.
        run = Serve(language, env=faketime(FAKETIME="+60")).open("a", *options)
        crashed = run.ids("a")[0]
        run.kill()
        until_ms, begun = record(where.file(1))["until_ms"], now_ms()
        subject = Serve(language).open("a", *options)
        # Who waits for the clock after the 4,096 ids of a tick is no longer ahead of it.
        for _ in range(5):
            ids = [crashed, *subject.ids("a", 20_000)]
            assert all(one < next for one, next in itertools.pairwise(ids)), "ids did not rise"
            crashed, lead = ids[-1], time_of(ids[-1]) - now_ms()
            assert 0 < lead <= until_ms - begun + 50, f"the last id was {lead} ms ahead"
        still = subject.stats("a")["lead"]
        assert still > 0, still
        subject.quit()
        return f"ahead by {lead} ms in the end, after {now_ms() - begun} ms"
