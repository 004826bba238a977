import contextlib
import sqlite3

import leafid


class Counters:
    """Gives ranges of the counters in a table that all hosts share."""

    def __init__(self, path, tags):
        self.path = path
        with self.transaction() as db:
            db.execute("CREATE TABLE IF NOT EXISTS leaf_alloc (biz_tag TEXT PRIMARY KEY, max_id INTEGER NOT NULL)")
            db.executemany("INSERT OR IGNORE INTO leaf_alloc VALUES (?, 1)", [(tag,) for tag in tags])

    def fetch(self, tag, step, *, after):
        take = "UPDATE leaf_alloc SET max_id = max(max_id, ?) + ? WHERE biz_tag = ?"
        with self.transaction() as db:
            if db.execute(take, [after, step, tag]).rowcount != 1:
                return None  # no such tag
            (end,) = db.execute("SELECT max_id FROM leaf_alloc WHERE biz_tag = ?", [tag]).fetchone()
        return range(end - step, end)  # committed by now

    @contextlib.contextmanager
    def transaction(self):
        """A connection for each call: calls come from leafid's threads, and after forks."""
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")


if __name__ == "__main__":
    counters = Counters("numbers.db", ["order"])
    with leafid.Segments(fetch=counters.fetch, name="orders") as segments:
        order = segments.tag("order")
        print(f"order number {order.next()}, then {order.take(3)}")
