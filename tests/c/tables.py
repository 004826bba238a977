"""Turns the test vectors into C tables: tables.py VECTORS_DIR OUT_DIR."""

import json
import sys
from pathlib import Path

vectors, out = Path(sys.argv[1]), Path(sys.argv[2])
snowflake = json.loads((vectors / "snowflake.json").read_text())
errors = json.loads((vectors / "errors.json").read_text())["errors"]


def text(value: str) -> str:
    """A C string of any bytes: octal escapes end after three digits, so that nothing runs into them."""
    return '"' + "".join(f"\\{byte:03o}" for byte in value.encode()) + '"'


def status(code: str) -> str:
    return "LEAFID_" + code.upper()


def number(value) -> str:
    return f"INT64_C({int(value)})"


def rows(head: str, lines: list[str]) -> str:
    # An empty list would be a test that cannot fail.
    assert lines, head
    return head + " = {\n" + "".join(f"    {{{line}}},\n" for line in lines) + "};\n"


orders = {
    "worker-sequence": "LEAFID_ORDER_WORKER_SEQUENCE",
    "sequence-worker": "LEAFID_ORDER_SEQUENCE_WORKER",
}
layouts = [
    f"{text(name)}, {{{number(v['epoch_ms'])}, {number(v['tick_ms'])}, {v['timestamp_bits']}, {v['worker_bits']}, "
    f"{v['sequence_bits']}, {orders[v['order']]}}}"
    for name, v in snowflake["layouts"].items()
]
valid = [
    f"{text(v['layout'])}, {number(v['timestamp_ms'])}, {v['worker_id']}, {v['sequence']}, {number(v['id'])}, "
    f"{text(v['id'])}"
    for v in snowflake["valid"]
]
refused = [
    f"{text(v['layout'])}, {number(v['timestamp_ms'])}, {v['worker_id']}, {v['sequence']}, {status(v['error'])}"
    for v in snowflake["refused"]
]
accepted_text = [
    f"{text(v['text'])}, {number(v['timestamp_ms'])}, {v['worker_id']}, {v['sequence']}"
    for v in snowflake["decode_accepted_text"]
]
floors = [
    f"{text(v['layout'])}, {number(v['timestamp_ms'])}, {v['worker_id']}, {v['sequence']}, {number(v['id'])}, "
    f"{number(v['floored_ms'])}"
    for v in snowflake["compose_floors"]
]
refused_in_layout = [
    f"{text(v['layout'])}, {number(v['id'])}, {status(v['error'])}" for v in snowflake["decode_refused_in_layout"]
]
layout_texts = [
    f"{text(value)}, {status(code)}"
    for code, values in (("ok", snowflake["layout_text"]["accepted"]),
                         ("invalid_argument", snowflake["layout_text"]["refused"]))
    for value in values
]
refused_text = [f"{text(v['id'])}, {status(v['error'])}" for v in snowflake["decode_refused"]]
table = [
    f"{v['number']}, {v['c']}, {text(v['c'])}, {text(v['code'])}, {str(v['retry']).lower()}" for v in errors
]

(out / "vectors.inc").write_text(
    rows("static const struct { const char *name; leafid_layout layout; } layouts[]", layouts)
    + rows(
        "static const struct { const char *layout; int64_t timestamp_ms, worker_id, sequence, id; "
        "const char *text; } valid[]",
        valid,
    )
    + rows(
        "static const struct { const char *layout; int64_t timestamp_ms, worker_id, sequence; "
        "leafid_status error; } refused[]",
        refused,
    )
    + rows(
        "static const struct { const char *text; int64_t timestamp_ms, worker_id, sequence; } accepted_text[]",
        accepted_text,
    )
    + rows("static const struct { const char *text; leafid_status error; } refused_text[]", refused_text)
    + rows(
        "static const struct { const char *layout; int64_t timestamp_ms, worker_id, sequence, id, floored_ms; } floors[]",
        floors,
    )
    + rows(
        "static const struct { const char *layout; int64_t id; leafid_status error; } refused_in_layout[]",
        refused_in_layout,
    )
    + rows("static const struct { const char *text; leafid_status status; } layout_texts[]", layout_texts)
)
(out / "errors.inc").write_text(
    rows(
        "static const struct { int number, constant; const char *c_name, *code; bool retry; } table[]",
        table,
    )
)
