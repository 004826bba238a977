"""Turns the test vectors into C tables: tables.py VECTORS_DIR OUT_DIR."""

import json
import sys
from pathlib import Path

vectors, out = Path(sys.argv[1]), Path(sys.argv[2])
snowflake = json.loads((vectors / "snowflake.json").read_text())
text_forms = json.loads((vectors / "text_forms.json").read_text())
uuids = json.loads((vectors / "uuids.json").read_text())
public_ids = json.loads((vectors / "public_ids.json").read_text())
errors = json.loads((vectors / "errors.json").read_text())["errors"]
tags = json.loads((vectors / "tags.json").read_text())["cases"]


def text(value: str) -> str:
    """A C string of any bytes: octal escapes end after three digits, so that nothing runs into them."""
    return '"' + "".join(f"\\{byte:03o}" for byte in value.encode(errors="surrogateescape")) + '"'


def status(code: str) -> str:
    return "LEAFID_" + code.upper()


def hexadecimal(digits: str) -> str:
    return "{" + ", ".join(f"0x{byte:02x}" for byte in bytes.fromhex(digits)) + "}"


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
ranges = [
    f"{text(v['layout'])}, {number(v['timestamp_ms'])}, {number(v['first'])}, {number(v['last'])}"
    for v in snowflake["id_ranges"]
]
ranges_refused = [
    f"{text(v['layout'])}, {number(v['timestamp_ms'])}, {status(v['error'])}" for v in snowflake["id_ranges_refused"]
]
forms = {name: f"LEAFID_TEXT_FORM_{name.upper()}" for name in ("decimal", "base32", "base62", "uuid")}
formatted = [f"{number(v['id'])}, {forms[form]}, {text(v[form])}" for form in forms for v in text_forms["valid"]]
forms_refused = [f"{forms[v['form']]}, {text(v['text'])}, {text(v['message'])}" for v in text_forms["refused"]]
uuids_valid = [f"{number(v['id'])}, {hexadecimal(v['bytes'])}" for v in uuids["valid"]]
uuids_refused = [f"{hexadecimal(v['uuid'].replace('-', ''))}, {text(v['message'])}" for v in uuids["refused"]]


def minimal(id: str) -> str:
    # C has no literal for INT64_MIN.
    return f"INT64_MIN + {number(int(id) + 2**63)}" if int(id) < 0 else number(id)


public_valid = [
    f"{hexadecimal(v['key'])}, {len(v['key']) // 2}, {v['version']}, {number(v['id'])}, {number(v['public_id'])}, "
    f"{text(v['base32'])}, {text(v['base62'])}"
    for v in public_ids["valid"]
]
rotation_keys = [
    f"{hexadecimal(v['key'])}, {len(v['key']) // 2}, {v['version']}" for v in public_ids["rotation"]["keys"]
]
rotation_texts = [
    f"{number(v['id'])}, {v['version']}, {number(v['public_id'])}, {text(v['base32'])}, {text(v['base62'])}"
    for v in public_ids["rotation"]["texts"]
]
public_texts_refused = [
    f"{forms[v['form']]}, {text(v['text'])}, {text(v['message'])}" for v in public_ids["texts_refused"]
]
public_decrypt_refused = [
    f"{minimal(v['public_id'])}, {v['version']}, {text(v['message'])}" for v in public_ids["decrypt_refused"]
]
public_encrypt_refused = [f"{minimal(v['id'])}, {text(v['message'])}" for v in public_ids["ids_refused"]]
public_versions_refused = [f"INT64_C({v['version']}), {text(v['message'])}" for v in public_ids["versions_refused"]]
public_keys_refused = [f"{v['bytes']}, {text(v['message'])}" for v in public_ids["keys_refused"]]
public_hex_accepted = [
    f"{text(v['text'])}, {hexadecimal(v['same_as'])}, {len(v['same_as']) // 2}" for v in public_ids["hex_accepted"]
]
public_hex_refused = [text(v) for v in public_ids["hex_refused"]]
ids_refused = [minimal(id) for id in text_forms["format_refused"]]
refused_in_layout = [
    f"{text(v['layout'])}, {number(v['id'])}, {status(v['error'])}" for v in snowflake["decode_refused_in_layout"]
]
layout_texts = [
    f"{text(value)}, {status(code)}"
    for code, values in (
        ("ok", snowflake["layout_text"]["accepted"]),
        ("invalid_argument", snowflake["layout_text"]["refused"]),
    )
    for value in values
]
refused_text = [f"{text(v['id'])}, {status(v['error'])}" for v in snowflake["decode_refused"]]
table = [f"{v['number']}, {v['c']}, {text(v['c'])}, {text(v['code'])}, {str(v['retry']).lower()}" for v in errors]
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
    + rows("static const struct { const char *layout; int64_t timestamp_ms, first, last; } ranges[]", ranges)
    + rows(
        "static const struct { const char *layout; int64_t timestamp_ms; leafid_status error; } ranges_refused[]",
        ranges_refused,
    )
    + rows("static const struct { int64_t id; int32_t form; const char *text; } formatted[]", formatted)
    + rows("static const struct { int32_t form; const char *text, *message; } forms_refused[]", forms_refused)
    + rows("static const struct { int64_t id; } ids_refused[]", ids_refused)
)
(out / "uuids.inc").write_text(
    rows("static const struct { int64_t id; uint8_t uuid[16]; } uuids_valid[]", uuids_valid)
    + rows("static const struct { uint8_t uuid[16]; const char *message; } uuids_refused[]", uuids_refused)
)
(out / "public_ids.inc").write_text(
    rows(
        "static const struct { uint8_t key[32]; size_t length; int64_t version, id, public_id; "
        "const char *base32, *base62; } valid[]",
        public_valid,
    )
    + rows("static const struct { uint8_t key[32]; size_t length; int64_t version; } keys[]", rotation_keys)
    + rows(
        "static const struct { int64_t id, version, public_id; const char *base32, *base62; } texts[]", rotation_texts
    )
    + rows("static const struct { int32_t form; const char *text, *message; } texts_refused[]", public_texts_refused)
    + rows(
        "static const struct { int64_t public_id, version; const char *message; } decrypt_refused[]",
        public_decrypt_refused,
    )
    + rows("static const struct { int64_t id; const char *message; } encrypt_refused[]", public_encrypt_refused)
    + rows("static const struct { int64_t version; const char *message; } versions_refused[]", public_versions_refused)
    + rows("static const struct { size_t length; const char *message; } keys_refused[]", public_keys_refused)
    + rows(
        "static const struct { const char *text; uint8_t key[32]; size_t length; } hex_accepted[]", public_hex_accepted
    )
    + rows("static const struct { const char *text; } hex_refused[]", public_hex_refused)
)
(out / "errors.inc").write_text(
    rows(
        "static const struct { int number, constant; const char *c_name, *code; bool retry; } table[]",
        table,
    )
)
(out / "tags.inc").write_text(
    rows(
        "static const struct { const char *name, *path; bool refused; } tag_names[]",
        [f"{text(v['tag'])}, {text(v.get('path', ''))}, {str(v.get('refused', False)).lower()}" for v in tags],
    )
)

options = json.loads((vectors / "options.json").read_text())
#: Options by the types of C. Flags and words are numbers with names of their own; all others are numbers.
TEXTS = {"worker", "name", "state_dir", "layout", "token", "ca_file"}
FLAGS = {"persist", "shared_fs", "shared_group", "exclusive_range", "lazy", "adaptive", "create", "keep_unused",
         "ordered_source"}  # fmt: skip
WORDS = {"on_clock_backwards", "on_exhausted", "clock_source", "protocol"}
OTHERS = {"servers", "headers", "prewarm", "tags", "fetch", "peer_times"}


def setting(name: str, value) -> str | None:
    """The setter and its arguments for a value of a type that the option has in C."""
    if type(value) is str and name in TEXTS:
        return f"set_{name}, {text(value)}"
    if type(value) is str and name == "servers":
        return f"add_server, {text(value)}"
    if type(value) is bool and name in FLAGS:
        return f"set_{name}, {int(value)}"
    if type(value) is int and name not in TEXTS | FLAGS | WORDS | OTHERS:
        return f"set_{name}, {minimal(value)}"
    if type(value) is int and name == "worker":
        return f"set_worker_id, {minimal(value)}"
    if type(value) is dict and name == "headers" and all(type(part) is str for part in value.values()):
        return f"add_header, {', '.join(text(part) for pair in value.items() for part in pair)}"
    return None


def only_in_c(name: str):
    """Settings that are refused, of values that no vector has, and what is said."""
    if name in FLAGS | WORDS:
        yield from ((f"{name} is {value}", f"set_{name}, {value}") for value in (-1, 2 if name in FLAGS else 99))
    elif name not in OTHERS:
        # The largest number is an id.
        extremes = (-(2**63),) if name == "start_after" else (-(2**63), 2**63 - 1)
        yield from ((f"{name} is {value}", setting(name, value)) for value in extremes)
    if name in TEXTS:
        shown = "a value that is not shown" if name == "token" else '"a\ufffd", which is not UTF-8'
        yield f"{name} is {shown}", setting(name, "a\udcff")


calls = []
for row in options["options"]:
    macro = "SEGMENTS" if row["of"] == "segments" else "SNOWFLAKE"
    macro += "_OF_NO_SERVER" if row["option"] == "servers" else ""
    worker = text(row.get("with", {}).get("worker", "7"))
    said = row.get("message", f"{row['option']} is ")
    tries = [(said, setting(row["option"], value), kind) for kind in ("bad", "good") for value in row[kind]]
    tries += [(said, set_so, "bad") for said, set_so in only_in_c(row["option"])]
    calls += [
        f"{macro}({text(said)}, {worker}, {str(kind == 'good').lower()}, {set_so});\n"
        for said, set_so, kind in tries
        if set_so
    ]
assert len(calls) > 200
(out / "option_calls.inc").write_text("".join(calls))
(out / "option_variables.inc").write_text(
    rows(
        "static const struct { const char *name, *value; bool right; } variables[]",
        [
            f"{text(row['variable'])}, {text(value)}, {str(kind == 'good').lower()}"
            for row in options["environment"]
            for kind in ("bad", "good")
            for value in row[kind]
        ],
    )
)
