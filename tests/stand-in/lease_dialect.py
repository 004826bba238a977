"""Leases of worker ids: POST /api/worker/claim, /api/worker/renew, /api/worker/release, with a JSON object each.

    claim   {"name", "instance", "now", "until"?}           200 {"worker_id", "from", "until", "lease_ms",
                                                                 "server_time", "peer_times", "token"}
    renew   {"worker_id", "token", "until", "name"?}        200 {"until", "lease_ms", "token"}
    release {"worker_id", "token", "until", "name"?}        204

Errors: {"error", "message"} with 400 invalid_argument, 401, 409 worker_in_use (a claim) and worker_lost. The tag of a
request, in faults and reports, is `claim`, `renew` or `release`. The rules are told in leases.py.
"""

import json

from answers import Answer, refusal
from leases import Refused

PATH = "/api/worker/"
DEEDS = ("claim", "renew", "release")
LARGEST = 2**53

last = {}


def tag_of(request):
    _, found, deed = request.path.partition(PATH)
    return deed if found and deed in DEEDS else None


def answer(request, deed, control, duplicate):
    if duplicate and deed in last:
        return Answer(*last[deed]), None
    try:
        if request.method != "POST":
            raise Refused(405, "invalid_argument", f"{request.method} is not POST")
        status, value = DO[deed](control.leases, parse(request.body))
    except Refused as refused:
        return refusal(refused.status, refused.error, str(refused)), None
    last[deed] = status, value
    return Answer(status, value), None


def parse(body):
    try:
        words = json.loads(body)
    except ValueError as error:
        raise Refused(400, "invalid_argument", f"the body is no JSON: {error}") from None
    if not isinstance(words, dict):
        raise Refused(400, "invalid_argument", "the body is no JSON object")
    return words


def number(words, name, default=None):
    value = words.get(name, default)
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise Refused(400, "invalid_argument", f"{name} is {value!r}, which is no whole number from 0 to 2^53")
    return value


def text(words, name, default=None):
    value = words.get(name, default)
    if not isinstance(value, str) or not 0 < len(value) <= 256:
        raise Refused(400, "invalid_argument", f"{name} is {value!r}, which is no text of 1 to 256 characters")
    return value


def claim(leases, words):
    now = number(words, "now")
    until = number(words, "until", now + leases.lease_ms)
    return 200, leases.claim(text(words, "name"), text(words, "instance"), now, until)


def key(words):
    return text(words, "name", "default"), number(words, "worker_id"), text(words, "token"), number(words, "until")


def renew(leases, words):
    return 200, leases.renew(*key(words))


def release(leases, words):
    return 204, leases.release(*key(words))


DO = {"claim": claim, "renew": renew, "release": release}
