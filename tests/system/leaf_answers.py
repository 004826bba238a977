"""An existing Leaf or tinyid that answers wrongly: refused by name, nothing of it issued, and recovered when the server
is."""

import itertools
import json
from concurrent.futures import ThreadPoolExecutor

from harness import ROOT, assert_distinct, place, test
from servers import FakeServer, stray
from subjects import LANGUAGES, Tags, words

INVALID, AWAY, UNKNOWN, REGRESSED = "source_invalid", "segment_unavailable", "unknown_tag", "segment_regressed"
# A call waits for a better answer until its time is over.
BOUNDS = {"timeout_ms": 600, "request_timeout_ms": 400}
# Half of an id is another number.
FIRST = 1_000_000_007

OFF = {"leaf": "off"}
# What is answered, the code that the caller gets, and what its message says besides the URL.
LEAF = {
    "off": (OFF, INVALID, ["200", "is 0", "switched off", "leaf.segment.enable=true"]),
    "not-ready": ({"leaf": -1}, AWAY, ["500", "Result{id=-1, status=EXCEPTION}"]),
    "no-such-tag": ({"leaf": -2}, UNKNOWN, ["500", "Result{id=-2, status=EXCEPTION}", "leaf_alloc"]),
    "used-up": ({"leaf": -3}, AWAY, ["500", "Result{id=-3, status=EXCEPTION}"]),
    "age": ({"headers": {"Age": "5"}}, INVALID, ["200", "Age: "]),
    "repeated-with-age": ({"headers": {"Age": "0"}, "duplicate": True}, INVALID, ["200", "Age: "]),
    "half": ({"cut": "half"}, INVALID, ["200", "ends before its end"]),
    "half-chunked": ({"cut": 7, "framing": "chunked"}, INVALID, ["200", "ends before its end"]),
    "no-last-chunk": ({"cut": -5, "framing": "chunked"}, INVALID, ["200", "ends before its end"]),
    "no-framing": ({"framing": "none"}, INVALID, ["200", "Content-Length"]),
    "never-ends": ({"headers": {"Content-Length": "20"}}, AWAY, ["did not answer in time"]),
    "ends-too-soon": ({"headers": {"Content-Length": "5"}}, INVALID, ["200"]),
    "leading-zero": ({"body": "007"}, INVALID, ["200", "007"]),
    "below-0": ({"body": "-5"}, INVALID, ["200", "-5"]),
    "above-63-bits": ({"body": "9223372036854775808"}, INVALID, ["200", "9223372036854775808"]),
    "a-float": ({"body": "7.0"}, INVALID, ["200", "7.0"]),
    "two-ids": ({"body": "7 8"}, INVALID, ["200", "7 8"]),
    "empty": ({"body": ""}, INVALID, ["200"]),
    "html": ({"body": "<html>busy</html>"}, INVALID, ["200", "<html>busy"]),
    "300-kB": ({"pad": 300_000}, INVALID, ["200", "65536"]),
    "redirect": ({"status": 302, "body": "", "headers": {"Location": "http://127.0.0.1:9/"}}, INVALID, ["302"]),
    "500": ({"status": 500, "body": "broken down"}, AWAY, ["500", "broken down"]),
    "401": ({"status": 401, "body": "who are you"}, INVALID, ["401", "who are you"]),
    "hangs": ({"delay_ms": 700}, AWAY, ["did not answer in time"]),
    "hangs-halfway": ({"delay_end_ms": 700}, AWAY, ["did not answer in time"]),
    "closes": ({"close": True}, AWAY, ["without an answer"]),
}
REFUSED_BODIES = json.loads((ROOT / "tests/vectors/tinyid.json").read_text())["refused"]
TINYID = {
    f"body-{nth}": ({"body": body}, INVALID if body else AWAY, ["200", body] if body else ["200", "token", "tiny_id_info"])
    for nth, body in enumerate(REFUSED_BODIES)
} | {case: LEAF[case] for case in ("age", "half-chunked", "no-framing", "html", "redirect", "500", "closes")}


def arm(source, tag, fault):
    if "leaf" in fault:
        source.do("leaf", segment=fault["leaf"], tag=tag)
    else:
        source.fault(fault, tag=tag)


def recover(source, tag):
    source.do("leaf", segment="on", tag=tag)
    source.do("clear", tag=tag)


def answered_wrongly(subject, case, table, language, source, options):
    """What is wrong with how a subject takes one wrong answer; none if nothing is."""
    fault, code, said = table[case]
    tag = f"{case}-{language}"
    source.do("tag", tag=tag, next=FIRST, grows=False)
    subject.open("a", *words(place(), servers=source.url, **BOUNDS, **options))
    arm(source, tag, fault)
    error = subject.refusal(tag, code, said)
    recover(source, tag)
    ids, text = subject.recovered("a", tag, 3), str(error)
    subject.do("close", "a")
    wrong = [] if error.code == code else [f"the code is {error.code}, not {code}"]
    wrong += [f"it does not say {word!r}" for word in said if word not in text]
    wrong += [] if source.url in text else ["it does not say the URL"]
    wrong += [] if len(text) < 1200 else [f"it is {len(text)} characters long"]
    if options["protocol"] == "leaf":
        wrong += [f"issued {an_id}, which was not given" for an_id in stray(ids, source.gave(tag))]
    elif min(ids) < FIRST:
        wrong.append(f"issued {ids}, below {FIRST}")
    return f"{language}, {case}: {', '.join(wrong)}: {text}" if wrong else None


def all_wrongly(table, shares, **options):
    """Every case in every language."""
    source = FakeServer()

    def some(language, cases):
        subject = Tags(language)
        told = [answered_wrongly(subject, case, table, language, source, options) for case in cases]
        subject.quit()
        return list(filter(None, told))

    work = [(language, [*table][nth::shares]) for language in LANGUAGES for nth in range(shares)]
    with ThreadPoolExecutor(len(work)) as pool:
        wrong = [line for lines in pool.map(lambda one: some(*one), work) for line in lines]
    assert not wrong, "\n".join(wrong)
    assert source.report()["nonces_repeated"] == 0, "a nonce was sent twice"


@test(f"leaf: {len(LEAF)} wrong answers in four languages: refused by name, nothing issued, recovered")
def _():
    all_wrongly(LEAF, 2, protocol="leaf")


@test(f"tinyid: {len(TINYID)} wrong answers in four languages: refused by name, nothing issued, recovered")
def _():
    all_wrongly(TINYID, 2, protocol="tinyid")


def each_language(action):
    with ThreadPoolExecutor(len(LANGUAGES)) as pool:
        return list(pool.map(action, LANGUAGES))


@test("tinyid: two databases, four languages, a wrong token: none twice, refused, recovered")
def _():
    source = FakeServer()
    source.do("tag", tag="order", step=50, delta=2)
    source.do("token", token="secret")

    def one(language):
        options = {"servers": source.url, "protocol": "tinyid"}
        subject, where = Tags(language), place()
        subject.open("a", *words(where, state="wrong", token="guessed", **options, **BOUNDS))
        error = subject.refusal("order", AWAY, ["token"])
        assert error.code == AWAY and "token" in str(error) and "guessed" not in str(error), f"{language}: {error}"
        subject.open("b", *words(where, token="secret", **options))
        ids = subject.next("b", "order", 500)
        subject.quit()
        return ids

    ids = each_language(one)
    assert_distinct(ids)
    assert {an_id % 2 for an_id in itertools.chain(*ids)} == {0, 1}, "all ids are of one database"
