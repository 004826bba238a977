"""A server of segments in a few lines: leafid's protocol `range` over a table of counters.

python range_server.py DATABASE PORT TAG...

Of two ranges it never gives the same number: each is taken from the table in a transaction, so it may be killed at any
time. It is meant to be read; it knows no token and no TLS.
"""

import http.server
import json
import sys
import urllib.parse

from database_segments import Counters

PATH = "/api/segment/range/"
# How many ids a request gets that leaves the choice to the server.
STEP = 10_000


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        tag = urllib.parse.unquote(url.path.removeprefix(PATH))
        query = dict(urllib.parse.parse_qsl(url.query))
        step = int(query.get("step", 0)) or STEP
        ids = self.server.counters.fetch(tag, step, after=int(query.get("after", 0)))
        if ids is None:
            return self.answer(404, {"error": "unknown_tag", "message": f"there is no tag {tag}"})
        # Numbers of 64 bits are written as text: not every reader of JSON keeps all their digits.
        segment = {"start": str(ids.start), "end": str(ids.stop), "stride": 1}
        self.answer(200, {"tag": tag, **segment, "step": STEP, "nonce": query["nonce"]})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main(database, port, *tags):
    with http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler) as server:
        server.daemon_threads = True
        server.counters = Counters(database, tags)
        print(server.server_port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
