"""Seeds from the cases of tests/vectors and from what is written here, as the targets read their inputs."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "build" / "fuzz" / "seeds"
VECTORS = {path.stem: json.loads(path.read_text()) for path in (ROOT / "tests" / "vectors").glob("*.json")}
NONCE = "0123456789abcdef0123456789abcdef"
#: What each option is of, and its name, in the order of the table.
OPTIONS = re.findall(r'row\(\s*(\w+),\s*"(\w+)"', (ROOT / "core" / "src" / "options" / "table.rs").read_text())


def seed(target: str, name: str, content: bytes) -> None:
    (SEEDS / target).mkdir(parents=True, exist_ok=True)
    (SEEDS / target / f"seed-{name}").write_bytes(content)


def text(value: str) -> bytes:
    return bytes([len(value.encode())]) + value.encode()


def number(value: int) -> bytes:
    return bytes([value]) if 0 <= value < 200 else b"\xff" + value.to_bytes(8, "little", signed=True)


def packed(*parts: bytes | str | int) -> bytes:
    """Texts, numbers, and bytes as they are."""
    return b"".join({str: text, int: number}.get(type(part), bytes)(part) for part in parts)


def of_options(of: str, values: dict[str, tuple[bytes | str | int, ...]]) -> bytes:
    """Options by their places in the table, each with its value."""
    names = [name for kind, name in OPTIONS if kind in (of, "Both")]
    return b"".join(packed(bytes([names.index(name)]), *value) for name, value in values.items())


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
        names = ("epoch_ms", "tick_ms", "timestamp_bits", "worker_bits", "sequence_bits")
        fields = [2, *(int(layout[name]) for name in names), bytes([layout["order"] == "sequence-worker"])]
        parts = [int(case["timestamp_ms"]), case["worker_id"], case["sequence"], int(case["id"])]
        run = bytes([0, 210, 1, 0, 3, 50, 7, 2, 0, 100, 4, 4, 7, 30, 1, 5, 4, 0, 40, 4, 2, 1, 60, 7, 39, 3, 0])
        seed("layouts", f"{at}", packed(case["id"], *fields, 3, *parts, run))
        seed("layouts", f"end-{at}", packed("", *fields, at % 2, at, run))
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
    seed("options", "environment", b"\x060-31\n/srv/a\n/srv/b:/srv/c")
    snowflakes = {
        "flake": {"worker": (2, "0-31"), "name": ("orders",), "state_dir": ("/srv/state",), "layout": ("41|10|12",),
                  "max_backwards_ms": (4_000,), "random_start": (5,), "timeout_ms": (500,), "start_after": (1 << 40,),
                  "clock_source": (1,), "peer_times": (), "lazy": (1,)},
        "leased": {"worker": (3, 1, "http://ids:1"), "token": ("secret",), "headers": (1, "X-A", "b"),
                   "request_timeout_ms": (900,), "connect_timeout_ms": (90,)},
    }  # fmt: skip
    segments = {
        "servers": {"servers": (2, "http://leaf-1:8080", "http://leaf-2:8080"), "protocol": (2,), "step": (1_000,),
                    "prefetch": (16,), "connections": (4,), "headers": (2, "A", "b", "C", "d")},
        "blocks": {"servers": (1, "http://leaf"), "protocol": (0,), "block_size": (100,), "prewarm": (1, "order-x100")},
        "callback": {"fetch": (), "step": (20,), "timeout_ms": (99,), "prewarm": (2, "order", "user"),
                     "ordered_source": (1,), "persist": (1,), "keep_unused": (1,)},
        "files": {"servers": (1, "file:/srv/ids"), "tags": (1, "order", 1, 1_000), "create": (1,)},
    }  # fmt: skip
    for kind, of, seeds in ((b"\x02", "Snowflake", snowflakes), (b"\x04", "Segments", segments)):
        for name, values in seeds.items():
            seed("options", name, kind + of_options(of, values))
    for at, run in enumerate(VECTORS["cli"]["runs"][:12]):
        seed("options", f"cli-{at}", b"\x07" + "\t".join(run["arguments"]).encode() + b"\n" + run["stdin"].encode())


def c_calls() -> None:
    """A generator and its ids; segments of a callback, and of a file: source, and their ids; wrong things between."""
    flake = "010000000005 010004000000" + 3 * " 010005000000"
    flake += " 01000500000220 01000500000309 010007000002ff40 00000000000000"
    closed = " 010007000000 010005000000 010007000001"
    callback = " 0403000002 0403030000 040305000000" + 4 * " 04030700000500"
    callback += " 040a070000050409 04080700000501"
    file = " 0400000001 0400030000 040005000001 0400070000050430 04000a000000 04000700000500"
    calls = {
        "flake": flake + closed,
        "callback": callback,
        "file": file,
        "leased": "010000000000 010201050016 010204000000 010205000000",
        "claimed": "010000000000 010201050015 010201050014 010204000000 010205000000",
        "values": "0000e101290a0c000000e20506 0000 000000000000 010710",
        "both": flake + callback + file + closed,
    }
    for name, content in calls.items():
        seed("c_calls", name, bytes.fromhex(content))
