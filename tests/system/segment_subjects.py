"""The subjects of the tests of segments, in four languages: as subjects.py has them of snowflakes."""

from harness import BUILD, HERE
from subjects import PYTHON, RUST, Serve, Stream, attack

LANGUAGES = {
    "rust": [str(RUST), "segments"],
    "c": [str(BUILD / "system/agent"), "segments"],
    "python": [str(PYTHON), str(HERE / "segment_agent.py")],
    "node": ["node", "--expose-gc", str(HERE / "segment_agent.mjs")],
}


def words(where, state="state", name=None, **more):
    """The options of segments, as the subjects read them."""
    given = {"dir": where.dir / state, "name": name or where.name, **more}
    return [f"{key}={value}" for key, value in given.items()]


class Tags(Serve):
    """A subject that opens segments and takes ids of tags when told to."""

    def __init__(self, language="rust", program=None, **more):
        super().__init__(language, program=program or LANGUAGES[language], **more)

    def open(self, handle, *words):
        self.do("open", handle, *words)
        return self

    def next(self, handle="a", tag="order", count=1):
        return list(map(int, self.do("next", handle, tag, count).split()))

    def take(self, count, handle="a", tag="order"):
        return list(map(int, self.do("take", handle, tag, count).split()))

    def at_hand(self, most, handle="a", tag="order"):
        """Up to so many ids without a wait."""
        return list(map(int, self.do("try", handle, tag, most).split()))

    def run(self, milliseconds, pause_us=1000, handle="a", tag="order"):
        """Ids at a low rate: count, slowest in microseconds, first, last. They rose."""
        count, slowest, first, last, rising = self.do("run", handle, tag, milliseconds, pause_us).split()
        assert rising == "true", f"ids did not rise between {first} and {last}"
        return int(count), int(slowest), int(first), int(last)

    def stats(self, handle="a", tag="order"):
        *numbers, error = (self.do("stats", handle, tag) + " ").split(" ", 5)
        names = ("left", "fetches", "failures", "waits", "step")
        return {**dict(zip(names, map(int, numbers))), "error": error.strip()}


class TagStream(Stream):
    """A subject that writes the ids of a tag to a pipe until it is killed."""

    def __init__(self, language, words, **more):
        super().__init__(language, words, program=LANGUAGES[language], **more)


def raid(command, words, **more):
    """Runs one of the Rust programs that attack by themselves, and answers its numbers."""
    return attack("segments", [command, *words], **more)
