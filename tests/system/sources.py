"""Sources that answer wrongly: the error names the URL, the status and what was said, no id of the answer is issued,
and the next right answer is used."""

from concurrent.futures import ThreadPoolExecutor

from harness import place, test
from servers import FakeServer
from subjects import LANGUAGES, Tags, words

HUGE = 10_000_000
INVALID, AWAY, UNKNOWN = "source_invalid", "segment_unavailable", "unknown_tag"

# What is answered, the code that the caller gets, and what its message says besides the URL.
WRONG = {
    "end-at-start": ({"answer": {"start": "7", "end": "7"}}, INVALID, ["200", "not above its start"]),
    "end-below-start": ({"answer": {"start": "7", "end": "6"}}, INVALID, ["200", "not above its start"]),
    "end-of-2^63": ({"answer": {"end": "9223372036854775808"}}, INVALID, ["200", "9223372036854775808"]),
    "start-below-0": ({"answer": {"start": "-5"}}, INVALID, ["200", "-5"]),
    "leading-zero": ({"answer": {"start": "007"}}, INVALID, ["200", "007"]),
    "number-for-text": ({"answer": {"start": 7}}, INVALID, ["200", '\\"start\\": 7']),
    "stride-of-0": ({"answer": {"stride": 0}}, INVALID, ["200", "stride"]),
    "no-end": ({"answer": {"end": None}}, INVALID, ["200", "end"]),
    "10-MB": ({"pad": HUGE}, INVALID, ["200", '{\\"tag\\"', "65536"]),
    "10-MB-chunked": ({"pad": HUGE // 20, "framing": "chunked"}, INVALID, ["200", '{\\"tag\\"', "65536"]),
    "half-a-body": ({"cut": "half"}, INVALID, ["200", '{\\"tag\\"', "ends before its end"]),
    "half-a-number": ({"cut": 30}, INVALID, ["200", '{\\"tag\\"']),
    "half-a-chunk-size": ({"cut": 1, "framing": "chunked"}, INVALID, ["200", "ends before its end"]),
    "no-last-chunk": ({"cut": -5, "framing": "chunked"}, INVALID, ["200", '{\\"tag\\"', "ends before its end"]),
    "no-framing": ({"framing": "none"}, INVALID, ["200", '{\\"tag\\"', "Content-Length"]),
    "short-length": ({"headers": {"Content-Length": "40"}}, INVALID, ["200", '{\\"tag\\"']),
    "html": ({"body": "<html>busy</html>"}, INVALID, ["200", "<html>busy"]),
    "digits": ({"body": "1001"}, INVALID, ["200", "1001"]),
    "list": ({"body": '["order","1","1001",1,1000,"x"]'}, INVALID, ["200", "order"]),
    "empty": ({"body": ""}, INVALID, ["200"]),
    "500": ({"status": 500, "body": "broken down"}, AWAY, ["500", "broken down"]),
    "503": ({"status": 503, "body": {"error": "segment_unavailable", "message": "full up"}}, AWAY, ["503", "full up"]),
    "404": ({"status": 404, "body": "no such page"}, INVALID, ["404", "no such page"]),
    "404-of-the-tag": ({"status": 404, "body": {"error": "unknown_tag", "message": "gone"}}, UNKNOWN, ["404", "gone"]),
    "401": ({"status": 401, "body": "who are you"}, INVALID, ["401", "who are you", "token"]),
    "redirect": ({"status": 302, "body": "", "headers": {"Location": "ELSEWHERE"}}, INVALID, ["302", "ELSEWHERE"]),
    "age": ({"headers": {"Age": "5"}}, INVALID, ["200", '{\\"tag\\"', "Age: "]),
    "nonce": ({"answer": {"nonce": "x"}}, INVALID, ["200", '{\\"tag\\"', "nonce"]),
    "no-nonce": ({"answer": {"nonce": None}}, INVALID, ["200", "nonce"]),
    "another-tag": ({"answer": {"tag": "another"}}, INVALID, ["200", "another"]),
    "hangs": ({"delay_ms": 3000}, AWAY, ["did not answer in time"]),
    "hangs-halfway": ({"delay_end_ms": 2000}, AWAY, ["did not answer in time"]),
    "closes": ({"close": True}, AWAY, ["without an answer"]),
    "resets": ({"reset": True}, AWAY, ["without an answer"]),
}

BOUNDS = {"timeout_ms": 500, "request_timeout_ms": 300}


def answered_wrongly(subject, case, source, elsewhere):
    """What is wrong with how a subject takes one wrong answer; none if nothing is."""
    fault, code, said = WRONG[case]
    aim = f"{elsewhere.url}/api/segment/range/{case}"
    fault = {**fault, "headers": {k: v.replace("ELSEWHERE", aim) for k, v in fault.get("headers", {}).items()}}
    subject.open("a", *words(place(), servers=source.url, **BOUNDS))
    source.fault(fault, tag=case)
    error = subject.refusal(case, code, [word.replace("ELSEWHERE", aim) for word in said])
    text, told = str(error), source.report()["tags"][case]
    source.do("clear", tag=case)
    # Where the server counted on, what it counted is lost; an answer may have been under way.
    above = int(told["last_end"] or 1)
    first = subject.recovered("a", case)[0]
    subject.do("close", "a")
    wrong = [] if error.code == code else [f"the code is {error.code}, not {code}"]
    wrong += [f"it does not say {word!r}" for word in said if word.replace("ELSEWHERE", aim) not in text]
    if f"{source.url}/api/segment/range/" not in text:
        wrong.append("it does not say the URL")
    if len(text) > 1200:
        wrong.append(f"it is {len(text)} characters long")
    if first < above or first % 1000 != 1:
        wrong.append(f"the next id is {first}, below {above}, or not where a segment starts")
    return f"{case}: {', '.join(wrong)}: {text}" if wrong else None


def some_wrongly(language, cases, source, elsewhere):
    subject = Tags(language)
    wrong = [answered_wrongly(subject, case, source, elsewhere) for case in cases]
    subject.quit()
    return list(filter(None, wrong))


for _language in LANGUAGES:

    @test(f"a source that answers wrongly in {len(WRONG)} ways, in {_language}")
    def _(language=_language):
        source, elsewhere = FakeServer(), FakeServer()
        shares = [[*WRONG][nth::8] for nth in range(8)]
        with ThreadPoolExecutor(len(shares)) as pool:
            told = pool.map(lambda cases: some_wrongly(language, cases, source, elsewhere), shares)
            wrong = [line for lines in told for line in lines]
        assert not wrong, "\n".join(wrong)
        assert elsewhere.report()["total"] == 0, "a redirect was followed"
        assert source.report()["nonces_repeated"] == 0, "a nonce was sent twice"
