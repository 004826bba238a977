"""Takes ids of a recipe until the file END exists or the time is over: take_segments.py RECIPE IDS END SECONDS."""

import os
import sys
import time

import leafid
from made import made

fetch = made(sys.argv[1])
ids, end, deadline = sys.argv[2], sys.argv[3], time.monotonic() + float(sys.argv[4])

with open(ids, "a") as out, leafid.Segments(fetch=fetch, persist=False, step=10, adaptive=False) as segments:
    order = segments.tag("order")
    while not os.path.exists(end) and time.monotonic() < deadline:
        try:
            taken = order.take(10)
        except leafid.Error as error:
            if not error.can_retry:
                raise
            print(error, file=sys.stderr)
            time.sleep(0.05)
            continue
        out.write("".join(f"{id}\n" for id in taken))
        out.flush()
