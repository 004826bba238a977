"""The counters behind the tags."""

import random
import threading

LARGEST = 2**63 - 1
# How much of a range a client of tinyid may use before it asks for the next one, in per cent.
LOADING = 20


class Tag:
    def __init__(self, first):
        self.dials = {
            "next": first, "step": 1000, "stride": 1, "known": True, "heeds_after": True, "grows": True, "delta": 2,
            "remainder": None,
        }  # fmt: skip
        # The largest id given of each remainder, of tinyid.
        self.highest = {}
        # What was given last, as a cache before it would have it.
        self.last = None


class Counters:
    def __init__(self, first=1):
        self.first, self.lock, self.tags = first, threading.Lock(), {}
        # Whether tags that were never named are known.
        self.known = True

    def set(self, tag, dials):
        with self.lock:
            it = self.tags.get(tag) or Tag(self.first)
            for dial in dials:
                if dial not in it.dials:
                    raise ValueError(f"{dial} is no dial of a tag; there are {', '.join(it.dials)}")
            self.tags[tag] = it
            if "next" in dials or "delta" in dials:
                # Ids of another delta cross those given before: all its counters continue above the highest.
                it.dials["next"] = max(it.dials["next"], max(it.highest.values(), default=0) + 1)
                it.highest.clear()
            it.dials.update(dials)
            return it.dials["next"]

    def _of(self, tag):
        """The tag; None for one that is not known, which costs nothing here."""
        it = self.tags.get(tag)
        if it is None and self.known:
            it = self.tags[tag] = Tag(self.first)
        return it if it and it.dials["known"] else None

    def take(self, tag, wished, after, again=False):
        """(start, end, stride, the tag's own step) with `wished` ids, or None: unknown. `again` gives the last once
        more. The end may lie above what 64 bits hold: then the source is at its end, and that is an IndexError."""
        with self.lock:
            it = self._of(tag)
            if it is None:
                return None
            if again and it.last:
                return it.last
            start, stride, step = it.dials["next"], it.dials["stride"], it.dials["step"]
            if it.dials["heeds_after"] and start < after:
                start += -(-(after - start) // stride) * stride
            end = start + (wished or step) * stride
            if end > LARGEST:
                raise IndexError(f"the counter of {tag} is at its end: {start}")
            it.dials["next"] = end
            it.last = start, end, stride, step
            return it.last

    def grows(self, tag):
        with self.lock:
            it = self._of(tag)
            return bool(it and it.dials["grows"])

    def take_tinyid(self, tag):
        """(currentId, loadingId, maxId, delta, remainder) of one of its databases; None: unknown."""
        with self.lock:
            it = self._of(tag)
            if it is None:
                return None
            delta, step, remainder = it.dials["delta"], it.dials["step"], it.dials["remainder"]
            remainder = random.randrange(delta) if remainder is None else remainder
            current = it.highest.get(remainder, it.dials["next"] - 1)
            highest = current + step
            if highest > LARGEST:
                raise IndexError(f"the counter of {tag} is at its end: {current}")
            it.highest[remainder] = highest
            return current, current + step * LOADING // 100, highest, delta, remainder
