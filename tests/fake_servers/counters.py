"""The counters behind the tags, in the database."""

import random

LARGEST = 2**63 - 1
DIALS = ("next", "step", "stride", "known", "heeds_after", "grows", "delta", "remainder")
# How much of a range a client of tinyid may use before it asks for the next one, in per cent.
LOADING = 20


class Counters:
    def __init__(self, database):
        self.database = database
        # Whether tags that were never named are known: of this process alone.
        self.known = True
        # What was given last: of this process alone, as a cache before it would have it.
        self.last = {}

    def set(self, tag, dials):
        for dial in dials:
            if dial not in DIALS:
                raise ValueError(f"{dial} is no dial of a tag; there are {', '.join(DIALS)}")
        with self.database.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO tags (tag) VALUES (?)", [tag])
            if "next" in dials or "delta" in dials:
                # Ids of another delta cross those given before: all its counters continue above the highest.
                highest = "SELECT coalesce(max(highest), 0) FROM tinyid WHERE tag = ?"
                connection.execute(f"UPDATE tags SET next = max(next, ({highest}) + 1) WHERE tag = ?", [tag, tag])
                connection.execute("DELETE FROM tinyid WHERE tag = ?", [tag])
            for dial, value in dials.items():
                connection.execute(f"UPDATE tags SET {dial} = ? WHERE tag = ?", [value, tag])

    def _of(self, connection, tag):
        """The tag's row; None for one that is not known, which costs nothing here."""
        row = connection.execute("SELECT * FROM tags WHERE tag = ?", [tag]).fetchone()
        if row is None and self.known:
            connection.execute("INSERT INTO tags (tag) VALUES (?)", [tag])
            return connection.execute("SELECT * FROM tags WHERE tag = ?", [tag]).fetchone()
        return row if row and row["known"] else None

    def take(self, tag, wished, after, again=False):
        """(start, end, stride, the tag's own step) with `wished` ids, or None: unknown. `again` gives the last once
        more. The end may lie above what 64 bits hold: then the source is at its end, and that is an IndexError."""
        with self.database.transaction() as connection:
            it = self._of(connection, tag)
            if it is None:
                return None
            if again and tag in self.last:
                return self.last[tag]
            start, stride = it["next"], it["stride"]
            if it["heeds_after"] and start < after:
                start += -(-(after - start) // stride) * stride
            end = start + (wished or it["step"]) * stride
            if end > LARGEST:
                raise IndexError(f"the counter of {tag} is at its end: {start}")
            connection.execute("UPDATE tags SET next = ? WHERE tag = ?", [end, tag])
        self.last[tag] = (start, end, stride, it["step"])
        return self.last[tag]

    def grows(self, tag):
        with self.database.transaction() as connection:
            it = self._of(connection, tag)
            return bool(it and it["grows"])

    def take_tinyid(self, tag):
        """(currentId, loadingId, maxId, delta, remainder) of one of its databases; None: unknown."""
        with self.database.transaction() as connection:
            it = self._of(connection, tag)
            if it is None:
                return None
            remainder = random.randrange(it["delta"]) if it["remainder"] is None else it["remainder"]
            key = [tag, remainder]
            row = connection.execute("SELECT highest FROM tinyid WHERE tag = ? AND remainder = ?", key).fetchone()
            current = row["highest"] if row else it["next"] - 1
            highest = current + it["step"]
            if highest > LARGEST:
                raise IndexError(f"the counter of {tag} is at its end: {current}")
            connection.execute("INSERT OR REPLACE INTO tinyid VALUES (?, ?, ?)", [*key, highest])
        return current, current + it["step"] * LOADING // 100, highest, it["delta"], remainder
