"""The dialect `range`: POST /api/segment/range/{tag}?step=1000&after=900&nonce=…

A dialect has a function `tag_of(request)`, which tells whose ids a request asks for, or None when it is another
dialect's, and one `answer(request, tag, control, duplicate)`, which gives an Answer and what was given, (start, end,
stride) or None. One that looks at tokens itself has CHECKS_TOKENS. A new dialect goes into DIALECTS of serving.py.
"""

from urllib.parse import unquote

from answers import Answer, refusal

PATH = "/api/segment/range/"


def tag_of(request):
    return unquote(request.path[len(PATH) :]) if request.path.startswith(PATH) else None


def answer(request, tag, control, duplicate):
    if request.method != "POST":
        return refusal(405, "invalid_argument", f"{request.method} is not POST"), None
    step, after = request.query.get("step", "0"), request.query.get("after", "0")
    if not step.isdecimal() or not after.isdecimal():
        return refusal(400, "invalid_argument", f"step={step} and after={after} are decimals"), None
    try:
        given = control.counters.take(tag, int(step), int(after), duplicate)
    except IndexError as end:
        return refusal(503, "segment_unavailable", str(end)), None
    if given is None:
        return refusal(404, "unknown_tag", f"there is no tag {tag}"), None
    start, end, stride, own = given
    nonce = request.query.get("nonce")
    value = {"tag": tag, "start": str(start), "end": str(end), "stride": stride, "step": own, "nonce": nonce}
    return Answer(200, value), (start, end, stride)
