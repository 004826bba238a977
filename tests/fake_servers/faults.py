"""What a request is answered wrongly with.

    delay_ms        answer after this long, or once all is cleared
    hang            read the request and never answer, until it is cleared or the other side closes
    close           close without an answer; `reset` does it with a reset
    status, body    answer this; a body may be any text, or any JSON, which is then written as such
    headers         {"Age": "5", "Location": "…"}: further ones, or others for Content-Type; null leaves one out
    answer          {"nonce": "x", "end": "9223372036854775808", "stride": null}: fields changed in the right answer; null
                    leaves one out
    framing         "length", "chunked", or "none": the body ends where the connection does
    pad             fill the body up to this many bytes with blanks
    cut             send this many bytes of the body, then close; "half" is half of it
    delay_end_ms    wait this long before the last half of the body
    duplicate       answer with what was given last once more, as a cache does: that range, id, or lease; "first": a
                    call for a lease as the first of its kind was
    collapse        8: so many requests get the answer to the first, as of a proxy that makes one of them; fewer, once all is
                    cleared
    swap            answer this request as the next that is to be swapped, and that one as this
    keep_open       false: close after the answer, which does not say so
    retry           as a proxy that asks twice and drops the first answer: what that gave stays unused
    lost            do what was asked, and close without an answer
    other           "user": answer what a request for this other tag is answered
    late_other      {"tag": "user", "after_ms": 50}: this long after the right answer, send one for this other tag
                    on the same connection

For leases the tag of a request is "claim", "renew" or "release".
"""

import copy
import itertools
import threading
from concurrent.futures import Future, TimeoutError

KINDS = {
    "delay_ms", "hang", "close", "reset", "status", "body", "headers", "answer", "framing", "pad", "cut",
    "delay_end_ms", "duplicate", "collapse", "swap", "keep_open", "retry", "lost", "other",
    "late_other",
}  # fmt: skip


class Faults:
    def __init__(self):
        self.lock = threading.Lock()
        self.of = {}
        self.cleared = threading.Condition(self.lock)
        self.clearings = self.clearings_of_all = 0
        self.shared, self.left = {}, {}

    def collapsed(self, tag, count, ask):
        """What the first of so many requests is answered, once all of them have come, or all is cleared."""
        with self.lock:
            answered, numbers = shared = self.shared.setdefault(tag, (Future(), itertools.count()))
            number, begun = next(numbers), self.clearings_of_all
            if number == count - 1:
                del self.shared[tag]
                self.cleared.notify_all()
        if number == 0:
            try:
                answered.set_result(ask())
            except Exception as error:
                answered.set_exception(error)
        with self.lock:
            self.cleared.wait_for(lambda: self.shared.get(tag) is not shared or self.clearings_of_all != begun)
            if self.shared.get(tag) is shared:
                del self.shared[tag]
        answer, given = answered.result()
        return copy.copy(answer), given if number == 0 else None

    def swapped(self, tag, mine):
        """The answer of the other one of two requests; after some seconds without another its own."""
        with self.lock:
            other = self.left.pop(tag, None)
            if other is None:
                other = self.left[tag] = mine, Future()
        theirs, future = other
        if theirs is not mine:
            future.set_result(mine)
            return theirs
        try:
            return future.result(30)
        except TimeoutError:
            with self.lock:
                self.left.pop(tag, None)
            return mine

    def set(self, tag, fault, times=None, after=0):
        unknown = set(fault) - KINDS
        if unknown:
            raise ValueError(f"no such fault: {', '.join(sorted(unknown))}; there are {', '.join(sorted(KINDS))}")
        with self.lock:
            self.of[tag] = {"fault": fault, "times": times, "after": after}

    def clear(self, tag=None):
        with self.lock:
            if tag is None:
                self.of.clear()
                self.clearings_of_all += 1
            else:
                self.of.pop(tag, None)
            self.clearings += 1
            self.cleared.notify_all()

    def next(self, tag):
        """The fault of a request for this tag, which counts it. That of the tag goes before that of all."""
        with self.lock:
            for key in (tag, None):
                armed = self.of.get(key)
                if not armed:
                    continue
                if armed["after"] > 0:
                    armed["after"] -= 1
                    continue
                if armed["times"] is None:
                    return dict(armed["fault"])
                if armed["times"] > 0:
                    armed["times"] -= 1
                    return dict(armed["fault"])
            return {}

    def delay(self, seconds):
        """So long, or until all is cleared."""
        with self.lock:
            begun = self.clearings_of_all
            self.cleared.wait_for(lambda: self.clearings_of_all != begun, seconds)

    def hang(self, is_gone):
        """Until something is cleared, or `is_gone` says, asked now and then, that no caller waits."""
        with self.lock:
            begun = self.clearings
            while self.clearings == begun and not is_gone():
                self.cleared.wait(0.05)
