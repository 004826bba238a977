"""The dialect of an unmodified Leaf: GET /api/segment/get/{tag} and GET /api/snowflake/get/{tag}.

200 with one bare decimal; 0 for ever from a mode that is switched off. Every failure is 500 with the JSON of Spring,
whose message is `Result{id=-2, status=EXCEPTION}`, chunked, and the connection is closed. Spring takes what follows the
last dot of a path for the ending of a file's name: the tag `a.b` is `a`. It knows no tag with a slash, and an encoded
one is refused.
"""

import re
import time
from urllib.parse import unquote

from answers import Answer
from leaf_node import LeafError

MODES = {"/api/segment/get/": "segment", "/api/snowflake/get/": "snowflake"}
TEXT = {"Content-Type": "text/plain;charset=UTF-8"}
JSON = {"Content-Type": "application/json;charset=UTF-8"}
ERRORS = {404: ("Not Found", "No message available"), 500: ("Internal Server Error", None)}

PLAIN = re.compile(rb"/api/(segment|snowflake)/get/([A-Za-z0-9_-]+)")
MOST_KNOWN = 10_000
known = {}


def split(request):
    """(mode, the tag as it stands in the path), or None."""
    for path, mode in MODES.items():
        before, found, raw = request.path.partition(path)
        if found:
            return mode, raw
    return None


def tag_of(request):
    found = split(request)
    if not found:
        return None
    tag = unquote(found[1])
    # With the ending goes the dot before it.
    return tag.rpartition(".")[0] if "." in tag else tag


def answer(request, tag, control, duplicate):
    mode, raw = split(request)
    if "%2f" in raw.lower():
        return Answer(400, "", keep_open=False, headers={"Connection": "close"}), None
    if "/" in raw or not tag:
        return spring(404, request), None
    try:
        number = control.node.next(mode, tag, duplicate)
    except LeafError as error:
        return spring(500, request, str(error)), None
    return Answer(200, str(number), TEXT), (number, number + 1, 1) if number else None


def spring(status, request, message=None):
    error, usual = ERRORS[status]
    value = {"timestamp": int(time.time() * 1000), "status": status, "error": error, "message": message or usual,
             "path": request.path}  # fmt: skip
    # Tomcat closes after a 500, and not after a 404.
    goes_on = status == 404
    headers = JSON if goes_on else {**JSON, "Connection": "close"}
    return Answer(status, value, headers, framing="chunked", keep_open=goes_on, separators=(",", ":"))


def answer_plainly(head, connection, control):
    """The bytes of the right answer to the plainest of requests, where no command could make it another;
    else None, and nothing was done. This is the short way for tests of many ids."""
    if control.faults.of or control.token or control.node.dials:
        return None
    path = head[4 : head.find(b" ", 4)].partition(b"?")[0]
    found = known.get(path)
    if found is None:
        plain = PLAIN.fullmatch(path)
        if not head.startswith(b"GET ") or not plain or len(known) >= MOST_KNOWN:
            return None
        found = known[path] = (plain[1].decode(), plain[2].decode())
    if head[:4] != b"GET " or b"ontent-" in head:
        return None
    mode, tag = found
    try:
        number = control.node.next(mode, tag)
    except LeafError:
        return None
    control.report.note(connection, tag, head, number)
    text = b"%d" % number
    return (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain;charset=UTF-8\r\nContent-Length: %d\r\n\r\n%s"
            % (len(text), text))  # fmt: skip
