"""The dialect `tinyid`: POST /tinyid/id/nextSegmentIdSimple with bizType and token, in the query or as a form.

The answer is `currentId,loadingId,maxId,delta,remainder` as text: the ids are those x with currentId < x <= maxId and
x mod delta = remainder. It comes from one of `delta` databases (2), drawn for each request, each with a counter of its
own. Whatever goes wrong is, as with the real one, 200 with an empty body: a wrong token, an unknown bizType, a counter
at its end. POST /tinyid/id/nextSegmentId says in JSON which of these it is, and gives ids where it is none.
"""

from urllib.parse import parse_qsl

from answers import Answer

PATH = "/tinyid/id/nextSegmentIdSimple"
FULL = "/tinyid/id/nextSegmentId"
CHECKS_TOKENS = True
TEXT = {"Content-Type": "text/plain;charset=UTF-8"}

last = {}


def words(request):
    """The query's go before the form's, as in a servlet."""
    form = "form-urlencoded" in request.headers.get("content-type", "")
    body = request.body.decode("utf-8", "replace") if form else ""
    return {**dict(parse_qsl(body, keep_blank_values=True)), **request.query}


def tag_of(request):
    return words(request).get("bizType", "") if request.path.endswith((PATH, FULL)) else None


def answer(request, tag, control, duplicate):
    says_why = request.path.endswith(FULL)

    def nothing(code, message):
        why = {"data": None, "code": code, "message": message}
        return (Answer(200, why) if says_why else Answer(200, "", TEXT)), None

    if control.token and words(request).get("token") != control.token or not tag:
        return nothing(5, "token is error")
    if not (duplicate and tag in last):
        try:
            taken = control.counters.take_tinyid(tag)
        except IndexError:
            return nothing(6, "get next segmentId conflict")
        if taken is None:
            return nothing(6, f"can not find biztype:{tag}")
        last[tag] = taken
    current, _, highest, delta, remainder = last[tag]
    if says_why:
        data = {"maxId": highest, "loadingId": last[tag][1], "currentId": current, "delta": delta,
                "remainder": remainder}  # fmt: skip
        return Answer(200, {"data": data, "code": 200, "message": ""}), None
    first = current + 1 + (remainder - current - 1) % delta
    return Answer(200, ",".join(map(str, last[tag])), TEXT), (first, highest + 1, delta)
