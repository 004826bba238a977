"""Seeds from the cases of tests/vectors and from what is written here, as the targets read their inputs."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "build" / "fuzz" / "seeds"
VECTORS = {path.stem: json.loads(path.read_text()) for path in (ROOT / "tests" / "vectors").glob("*.json")}
NONCE = "0123456789abcdef0123456789abcdef"


def seed(target: str, name: str, content: bytes) -> None:
    (SEEDS / target).mkdir(parents=True, exist_ok=True)
    (SEEDS / target / f"seed-{name}").write_bytes(content)


def text(value: str) -> bytes:
    return bytes([len(value.encode())]) + value.encode()


def number(value: int) -> bytes:
    return bytes([value]) if 0 <= value < 200 else b"\xff" + value.to_bytes(8, "little", signed=True)


def answers() -> None:
    body = {"tag": "order-x100", "start": "1001", "end": "2001", "stride": 1, "step": 1000, "nonce": NONCE}
    leaf = {
        "timestamp": 1,
        "status": 500,
        "error": "Internal Server Error",
        "path": "/",
        "message": "Get ID failed, because of Result{id=-2, status=EXCEPTION}",
    }
    lease = {
        "instance": NONCE,
        "worker_id": 3,
        "from": 1_600_000_000_000,
        "until": 1_600_000_060_000,
        "lease_ms": 60_000,
        "server_time": 1_600_000_000_000,
        "peer_times": [1, 2],
        "token": "secret",
    }
    renewal = {"nonce": NONCE, "until": 1_600_000_060_000, "lease_ms": 60_000, "token": "secret"}
    refusal = {"error": "worker_in_use", "message": "none is free"}
    bodies = [
        (0, 0, body),
        (0, 0, {**body, "stride": 3, "step": None}),
        (0, 8, {"error": "unknown_tag", "message": "no"}),
        (2, 10, leaf),
        (4, 10, leaf),
        (6, 0, lease),
        (7, 0, renewal),
        (6, 9, refusal),
        (7, 9, refusal),
    ]
    for at, (kind, status, value) in enumerate(bodies):
        seed("answers", f"json-{at}", bytes([kind, status]) + json.dumps(value).encode())
    for kind in (0, 6, 7):
        # The byte 1 stands for very many.
        seed(
            "answers",
            f"long-{kind}",
            bytes([kind, 0]) + json.dumps({**body, **lease, "stride": "@", "until": "@"}).replace("@", "\1").encode(),
        )
    for at, digits in enumerate(("1001", "0", "01", "9223372036854775807", "92233720368547758")):
        for kind in (2, 3, 4):
            seed("answers", f"digits-{at}-{kind}", bytes([kind, 0]) + digits.encode())
    tinyid = [case["body"] for case in VECTORS["tinyid"]["cases"]] + VECTORS["tinyid"]["refused"]
    for at, line in enumerate(tinyid):
        seed("answers", f"tinyid-{at}", bytes([5, 0]) + line.encode())


def framing() -> None:
    ok = "HTTP/1.1 200 OK\r\n"
    for at, answer in enumerate(
        (
            f"{ok}Content-Length: 4\r\n\r\n1001",
            f"{ok}Content-Length: 3\r\n\r\n1001",
            f"{ok}content-length: 5\r\n\r\n1001",
            f"{ok}Transfer-Encoding: chunked\r\n\r\n2\r\n10\r\n2;x=y\r\n01\r\n0\r\n\r\n",
            f"{ok}Transfer-Encoding: chunked\r\n\r\n2\r\n10\r\n002\r\n01\r\n0\r\n\r\n",
            f"{ok}Transfer-Encoding: chunked\r\n\r\n4\r\n1001\r\n0\r\nAge: 1\r\n\r\n1",
            f"{ok}\r\n1001",
            f"{ok}Content-Length: 4\r\nContent-Length: 3\r\n\r\n1001",
            f"{ok}Age: 0\r\nContent-Length: 4\r\n\r\n1001",
            f"{ok}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n1001",
            f"{ok}Content-Length: +4\r\n\r\n1001",
            f"HTTP/1.1 100 Continue\r\n\r\n{ok}Content-Length: 4\r\n\r\n1001",
            "HTTP/1.0 200 OK\nContent-Length: 4\n\n1001",
            "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
            f"{ok}Content-Length: 4\r\n\r\n1001{ok}Content-Length: 4\r\n\r\n1001",
            f"{ok}Content-Length: 99999\r\n\r\n1001",
        )
    ):
        seed("framing", f"{at}", bytes([at % 2]) + answer.encode())
    seed("framing", "tinyid", b"\x02" + f"{ok}Content-Length: 11\r\n\r\n1,3,11,1,0".encode().replace(b"11\r", b"10\r"))


def layouts() -> None:
    for at, case in enumerate(VECTORS["snowflake"]["valid"][::3][:16]):
        layout = VECTORS["snowflake"]["layouts"][case["layout"]]
        fields = [
            int(layout[name]) for name in ("epoch_ms", "tick_ms", "timestamp_bits", "worker_bits", "sequence_bits")
        ]
        parts = [int(case["timestamp_ms"]), case["worker_id"], case["sequence"], int(case["id"])]
        order = bytes([layout["order"] == "sequence-worker"])
        run = bytes([0, 210, 1, 0, 3, 50, 7, 2, 0, 100, 4, 4, 7, 30, 1, 5, 4, 0, 40, 4, 2, 1, 60, 7, 39, 3, 0])
        seed(
            "layouts",
            f"{at}",
            text(case["id"])
            + b"\x02"
            + b"".join(map(number, fields))
            + order
            + b"\x03"
            + b"".join(map(number, parts))
            + run,
        )
        seed(
            "layouts",
            f"end-{at}",
            text("") + b"\x02" + b"".join(map(number, fields)) + order + bytes([at % 2, at]) + run,
        )
    for at, layout in enumerate(VECTORS["snowflake"]["layout_text"]["accepted"]):
        seed("layouts", f"text-{at}", b"\x010\x00" + text(layout))


def options() -> None:
    for at, line in enumerate(
        ("7\nx", "0-31\nx", "orders*8\norders-3.orders.svc", "hostname:orders\n", "orders\norders-07")
    ):
        seed("options", f"worker-{at}", b"\x00" + line.encode())
    urls = (
        "http://127.0.0.1:80",
        "https://[::1]:8443/a/",
        "http://127.1",
        "HTTPS://ids_1.example.com/a%20b/",
        "http://a@b",
    )
    for at, url in enumerate(urls):
        seed("options", f"url-{at}", b"\x01" + url.encode())
    flake = (
        b"\x02\x00\x02"
        + text("0-31")
        + b"\x01"
        + text("orders")
        + b"\x02"
        + text("/srv/state")
        + b"\x03"
        + text("41|10|12")
        + b"\x06"
        + number(4_000)
        + b"\x08\x05\x09"
        + number(500)
        + b"\x0d"
        + number(1 << 40)
    )
    leased = (
        b"\x02\x00\x03\x01"
        + text("http://ids:1")
        + b"\x0e"
        + text("secret")
        + b"\x0f"
        + text("X-A")
        + text("b")
        + b"\x10"
        + number(900)
        + number(90)
    )
    servers = (
        b"\x04\x00\x02"
        + text("http://leaf-1:8080")
        + text("http://leaf-2:8080")
        + b"\x02"
        + text("range")
        + b"\x03"
        + number(1_000)
        + b"\x04\x10\x08\x04\x0b"
        + text("A")
        + text("b")
        + text("C")
        + text("d")
    )
    blocks = b"\x04\x00\x01" + text("http://leaf") + b"\x02" + text("leaf") + b"\x09\x64\x10\x01" + text("order-x100")
    callback = b"\x04\x01\x03\x14\x05\x63\x10\x02" + text("order") + text("user") + b"\x11\x01\x0e\x01\x01"
    environment = b"\x06" + b"0-31\n/srv/a\n/srv/b:/srv/c"
    for name, content in (
        ("flake", flake),
        ("leased", leased),
        ("servers", servers),
        ("blocks", blocks),
        ("callback", callback),
        ("environment", environment),
    ):
        seed("options", name, content)
    for at, run in enumerate(VECTORS["cli"]["runs"][:12]):
        seed("options", f"cli-{at}", b"\x07" + "\t".join(run["arguments"]).encode() + b"\n" + run["stdin"].encode())


def c_calls() -> None:
    """A generator and its ids; segments of a callback, and of a file: source, and their ids; wrong things between."""
    flake = (
        b"\x01\x00\x00\x00\x00\x05"
        + b"\x01\x00\x04\x00\x00\x00"
        + b"\x01\x00\x05\x00\x00\x00" * 3
        + b"\x01\x00\x05\x00\x00\x02\x20"
        + b"\x01\x00\x05\x00\x00\x03\x09"
        + b"\x01\x00\x07\x00\x00\x02\xff\x40"
        + b"\0" * 7
    )
    closed = b"\x01\x00\x07\x00\x00\x00" + b"\x01\x00\x05\x00\x00\x00" + b"\x01\x00\x07\x00\x00\x01"
    callback = (
        b"\x04\x03\x00\x00\x02"
        + b"\x04\x03\x03\x00\x00"
        + b"\x04\x03\x05\x00\x00\x00"
        + b"\x04\x03\x07\x00\x00\x05\x00" * 4
        + b"\x04\x0a\x07\x00\x00\x05\x04\x09"
        + b"\x04\x08\x07\x00\x00\x05\x01"
    )
    file = (
        b"\x04\x00\x00\x00\x01"
        + b"\x04\x00\x03\x00\x00"
        + b"\x04\x00\x05\x00\x00\x01"
        + b"\x04\x00\x07\x00\x00\x05\x04\x30"
        + b"\x04\x00\x0a\x00\x00\x00"
        + b"\x04\x00\x07\x00\x00\x05\x00"
    )
    leased = (
        b"\x01\x00\x00\x00\x00\x00"
        + b"\x01\x02\x01\x05\x00\x16"
        + b"\x01\x02\x04\x00\x00\x00"
        + b"\x01\x02\x05\x00\x00\x00"
    )
    claimed = (
        b"\x01\x00\x00\x00\x00\x00"
        + b"\x01\x02\x01\x05\x00\x15"
        + b"\x01\x02\x01\x05\x00\x14"
        + b"\x01\x02\x04\x00\x00\x00"
        + b"\x01\x02\x05\x00\x00\x00"
    )
    values = b"\x00\x00\xe1\x01\x29\x0a\x0c\x00\x00\x00\xe2\x05\x06" + b"\x00\x00" + b"\x00" * 6 + b"\x01\x07\x10"
    for name, content in (
        ("flake", flake + closed),
        ("callback", callback),
        ("file", file),
        ("leased", leased),
        ("claimed", claimed),
        ("values", values),
        ("both", flake + callback + file + closed),
    ):
        seed("c_calls", name, content)
