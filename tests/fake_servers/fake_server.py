#!/usr/bin/env python3
"""Sources of segments and a server of leases that misbehave on command. The standard library only, loopback only.

    fake_server.py [--port 0] [--seconds 600] [--certificate FILE --key FILE] [--first 1] [--leaf-worker-id 0]
                [--pool 32] [--lease-ms 30000] [--threshold-ms 10000]

It speaks `range` (range_dialect.py), Leaf (leaf_dialect.py), tinyid (tinyid_dialect.py), and the leases of worker ids
(lease_dialect.py, leases.py), all on one port. It prints two lines, and ends when its standard input closes or after
`--seconds`:

    listening 40123        the port of the protocols
    control 40124          the port that answers the control path alone, also while the other one is dead

Counters and leases are in memory, and gone with the program. Two of these programs, one of which begins far above the
other (`--first`), are two nodes of one Leaf to a client. Where servers share a database, tests use leafid-server.

It obeys commands, each a JSON object. They go, one or a list of them, as the body of a POST to /control
(on either port; the second one never speaks TLS), or as lines on standard input, each answered by one line of JSON on
standard output. A GET of /control is {"do": "report"}.

    {"do": "fault", "fault": {"status": 500}, "tag": "order", "times": 2, "after": 1}
        How requests are answered wrongly: `tag` limits it to one (else all), `times` to this many of them (else until it
        is cleared), `after` lets this many pass before. A later one for the same tag replaces it. What a fault can hold
        stands in faults.py and README.md: delay_ms, hang, close, reset, status, body, headers, answer, framing, pad,
        cut, delay_end_ms, duplicate, collapse, swap, keep_open, retry, lost, other, late_other. The tag of a request
        for a lease is "claim", "renew" or "release".
    {"do": "clear", "tag": "order"}
        Answer rightly again; without a tag: all of them, and what hangs is let go.
    {"do": "tag", "tag": "order", "next": 1, "step": 5000, "stride": 1, "known": true, "heeds_after": true,
     "grows": true, "delta": 2, "remainder": null}
        What is given here only changes; answers {"next"}. `next` sets the counter, back as well; `step` is the source's
        own, which raises the step of those who follow it; an unknown tag is answered as the dialect does; a tag that
        does not heed `after` gives what its counter says. A tag that was never named starts at `--first` with step
        1000. `range` and Leaf share a tag's counter. A node of Leaf doubles the step of its ranges from the third one
        on, unless `grows` is false; it drops what it holds of a tag when this command comes to it. For tinyid `delta`
        is the number of databases, each with a counter of its own; `remainder` is the one that answers, null draws one
        for each request.
    {"do": "tags", "known": false}
        Whether tags that were never named are known (they are, at first), to this program.
    {"do": "leaf", "segment": "off", "snowflake": "on", "tag": "order"}
        What Leaf's modes are: "on"; "off", which answers 0 for ever; or -1, -2, -3, the number of an error. For one tag
        alone, or all.
    {"do": "given", "tag": "order", "mode": "segment"}
        All ids that this node of Leaf ever gave for the tag, whatever became of the answers:
        {"given": [["1", "1001", 1], ["3001", "3500", 1]]}, runs of start, end (not included) and stride. In mode
        "snowflake" those of all tags.
    {"do": "pool", "size": 32, "lease_ms": 30000, "threshold_ms": 10000, "clock_offset_ms": 0}
        The worker ids of each name, from 0 on; how long a lease lasts without a renewal; by how much a span may end
        later than that; and by how much the server's clock is ahead of the true one. What is given here only changes.
    {"do": "leases", "name": "default"}
        The table, of one name or all: {"leases": [{"name", "worker_id", "token", "from", "until", "lease_ends",
        "instance", "renewals", "held", "clock_ahead"}], "server_time", "floor"}. Who renews with such a token is a
        clone.
    {"do": "spans"}
        All spans that were ever given: {"spans": [[name, worker_id, from, until], …]}.
    {"do": "doubt"}
        Take the table for an old copy: see leases.py.
    {"do": "token", "token": "secret"}
        Answer 401 without `Authorization: Bearer secret`, and tinyid an empty body without it in the form; null
        ends it.
    {"do": "dead", "how": "refused"}
        Close the port and its connections; `"hangs"` leaves connects unanswered; `null` is back again.
    {"do": "forget"}
        Begin the report again.
    {"do": "report", "requests": 100}
        What was seen; `requests` bounds the list of the latest ones (1000). See report.py.
"""

import argparse
import json
import os
import sys
import threading

from control import Control
from counters import Counters
from faults import Faults
from leaf_node import Node
from leases import Leases
from report import Report
from serving import Listener


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--port", type=int, default=0, help="of the protocols; 0 is a free one")
    words.add_argument("--seconds", type=float, default=600, help="how long it lives at most")
    words.add_argument("--connections", type=int, default=1024, help="how many it holds at most; others wait")
    words.add_argument("--certificate", help="PEM: speak TLS with it")
    words.add_argument("--key", help="PEM: the key of the certificate")
    words.add_argument("--first", type=int, default=1, help="the first id of a tag, unless a command sets it")
    words.add_argument("--leaf-worker-id", type=int, default=0, help="of this node's snowflake, 0 to 1023")
    words.add_argument("--pool", type=int, default=32, help="how many worker ids a name has to lease")
    words.add_argument("--lease-ms", type=int, default=30_000, help="how long a lease lasts without a renewal")
    words.add_argument("--threshold-ms", type=int, default=10_000, help="by how much a span may end after that")
    options = words.parse_args()
    if not 0 <= options.leaf_worker_id <= 1023:
        words.error(f"--leaf-worker-id is {options.leaf_worker_id}, not 0 to 1023")

    threading.Timer(options.seconds, os._exit, [0]).start()
    counters = Counters(options.first)
    leases = Leases(options.pool, options.lease_ms, options.threshold_ms)
    control = Control(Faults(), counters, Report(), Node(counters, options.leaf_worker_id), leases)
    listener = Listener(
        control, options.port, connections=options.connections, tls=(options.certificate, options.key)
    )
    control.listener = listener
    beside = Listener(control, 0, connections=64, only_control=True)
    say(f"listening {listener.port}")
    say(f"control {beside.port}")
    for line in sys.stdin:
        if line.strip():
            say(json.dumps(control.obey(line)))
    os._exit(0)


def say(line):
    print(line, flush=True)


if __name__ == "__main__":
    main()
