"""Takes ids with leases of a recipe, as a host of its own: take_leases.py RECIPE IDS END SECONDS NUMBER."""

import os
import random
import sys
import time
from types import SimpleNamespace

import leafid
from made import made

leases = made(sys.argv[1])
ids, end, deadline, number = sys.argv[2], sys.argv[3], time.monotonic() + float(sys.argv[4]), sys.argv[5]
SPAN_MS = 2_000
# Of a hundred ids, between a claim and a release.
ROUNDS = [int(rounds) for rounds in os.environ.get("TAKE_ROUNDS", "1,5,200").split(",")]


class Short:
    """The calls of the recipe, with short spans: so there are many renewals."""

    renew, release = leases.renew, leases.release

    def claim(self, request):
        until_ms = request.now_ms + SPAN_MS
        return leases.claim(SimpleNamespace(instance=request.instance, now_ms=request.now_ms, until_ms=until_ms))


def more():
    return not os.path.exists(end) and time.monotonic() < deadline


with open(ids, "a") as out:
    while more():
        try:
            host = {"name": f"host-{number}", "state_dir": f"{ids}-state"}
            with leafid.Snowflake(Short(), random_start=0, **host) as flake:
                for _ in range(random.choice(ROUNDS)):
                    out.write("".join(f"{id}\n" for id in flake.take(100)))
                    out.flush()
                    time.sleep(0.01)
                    if not more():
                        break
        except leafid.Error as error:
            if not error.can_retry:
                raise
            print(error, file=sys.stderr)
            time.sleep(0.05)
