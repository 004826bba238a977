"""Requests of all spellings, and what a stock Leaf answers: leaf_requests.json."""

import json
import re
import urllib.parse
from pathlib import Path

import pytest
from servers import ROOT, Server, make_tag, until

FACTS = json.loads(Path(__file__).with_name("leaf_requests.json").read_text())
REPEATED = re.compile(r"<(.+?)\*(\d+)>")


def spelled(text):
    return REPEATED.sub(lambda found: found[1] * int(found[2]), text)


def requests_of(entries):
    """Method, target, headers, body, and how the request is written."""
    for entry in entries:
        line, *rest = [entry] if isinstance(entry, str) else entry
        headers, body = (*rest, None)[:2] if rest else ({}, None)
        methods, target = line.split(" ", 1)
        target = REPEATED.sub(lambda found: urllib.parse.quote(found[1]) * int(found[2]), target)
        many = {f"{name}-{at}": "1" for name, n in headers.items() if isinstance(n, int) for at in range(n)}
        headers = {**{name: value for name, value in headers.items() if isinstance(value, str)}, **many}
        for method in methods.split(","):
            yield method, target, headers, body and spelled(body), f"{method} {line.split(' ', 1)[1]}"


def test_a_leaf_s_requests_are_enough_and_its_differences_are_described():
    written = [request[4] for answer in FACTS["answers"].values() for request in requests_of(answer["requests"])]
    assert len(written) >= 160
    docs = (ROOT / "docs/SERVER.md").read_text()
    for reason, differences in FACTS["default"].items():
        assert f"| {reason} |" in docs, reason
        assert all(line in written for lines in differences.values() for line in lines), reason


@pytest.mark.parametrize("options", [["--strict-leaf"], []], ids=["strict", "default"])
def test_each_request_is_answered_as_by_a_leaf(file, options):
    # A part of a row's name before its dot is what a Leaf looks for, whatever rows there are.
    for row in map(spelled, FACTS["rows"]):
        if options or not row.startswith("shop."):
            make_tag(file.url, row, options=options)
    differences = {line: int(status) for reason in FACTS["default"].values() for status, lines in reason.items() for line in lines}
    with Server(file.url, *options) as server:
        client = server.client()
        until(lambda: client.get("/api/snowflake/get/x")[0] == 200, "it has a worker id")
        for answer in FACTS["answers"].values():
            for request in requests_of(answer["requests"]):
                check(client, request, answer, bool(options), {} if options else differences)


def check(client, request, answer, is_strict, differences):
    method, target, headers, body, written = request
    status, found, text = client.request(method, target, body, headers)
    assert status == differences.get(written, answer["status"]), (written, text)
    if written in differences:
        return
    if "body" in answer and not (method == "HEAD" or "snowflakeId=-1" in target and not is_strict):
        assert re.fullmatch(answer["body"], text), (written, text)
    if "type" in answer:
        assert found["content-type"] == answer["type"], written
    if "allow" in answer:
        assert found["allow"] == answer["allow"], written
    if "message" in answer:
        error = json.loads(text)
        assert error["message"] == answer["message"], written
        if is_strict:
            assert list(error) == ["timestamp", "status", "error", *["exception"] * ("exception" in answer), "message", "path"]
            assert error.get("exception") == answer.get("exception") and isinstance(error["timestamp"], int)
