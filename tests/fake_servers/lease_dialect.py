"""Leases of worker ids: POST /api/worker/claim, /api/worker/renew, /api/worker/release, with a JSON object each.

    claim   {"name", "instance", "now", "until"?}              200 {"instance", "worker_id", "from", "until",
                                                                    "lease_ms", "server_time", "peer_times", "token"}
    renew   {"worker_id", "token", "until", "nonce"?, "name"?} 200 {"nonce"?, "until", "lease_ms", "token"}
    release {"worker_id", "token", "until", "name"?}           204

An answer repeats `instance` or `nonce` of its request. Errors: {"error", "message"} with 400 invalid_argument, 401, 409 worker_in_use (a claim) and worker_lost. The tag of a
request, in faults and reports, is `claim`, `renew` or `release`. The rules are described in leases.py.
"""

import json

from answers import Answer, refusal
from leases import Refused

PATH = "/api/worker/"
ACTIONS = ("claim", "renew", "release")
LARGEST = 2**53

first, last = {}, {}


def tag_of(request):
    _, found, action = request.path.partition(PATH)
    return action if found and action in ACTIONS else None


def answer(request, action, control, duplicate):
    known = first if duplicate == "first" else last
    if duplicate and action in known:
        return Answer(*known[action]), None
    try:
        if request.method != "POST":
            raise Refused(405, "invalid_argument", f"{request.method} is not POST")
        status, value = DO[action](control.leases, parse(request.body))
    except Refused as refused:
        return refusal(refused.status, refused.error, str(refused)), None
    last[action] = status, value
    first.setdefault(action, last[action])
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
    instance = text(words, "instance")
    return 200, {"instance": instance, **leases.claim(text(words, "name"), instance, now, until)}


def key(words):
    return text(words, "name", "default"), number(words, "worker_id"), text(words, "token"), number(words, "until")


def renew(leases, words):
    # Clients of other tests send none.
    echo = {"nonce": text(words, "nonce")} if "nonce" in words else {}
    return 200, {**echo, **leases.renew(*key(words))}


def release(leases, words):
    return 204, leases.release(*key(words))


DO = {"claim": claim, "renew": renew, "release": release}
