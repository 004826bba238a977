"""Turns the test vectors into C tables, and the header into calls with NULL: tables.py VECTORS_DIR OUT_DIR."""

import json
import re
import sys
from pathlib import Path

folder, out = Path(sys.argv[1]), Path(sys.argv[2])
vectors = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
written = {}


def text(value: str) -> str:
    """A C string of any bytes: octal escapes end after three digits, so that nothing runs into them."""
    return '"' + "".join(f"\\{byte:03o}" for byte in value.encode(errors="surrogateescape")) + '"'


def number(value) -> str:
    # C has no literal for INT64_MIN.
    return f"INT64_MIN + INT64_C({int(value) + 2**63})" if int(value) < 0 else f"INT64_C({int(value)})"


def hexadecimal(digits: str) -> str:
    return "{" + ", ".join(f"0x{byte:02x}" for byte in bytes.fromhex(digits.replace("-", ""))) + "}"


def layout(v) -> str:
    numbers = (str(v[name]) for name in ("epoch_ms", "tick_ms", "timestamp_bits", "worker_bits", "sequence_bits"))
    return f"{{{', '.join(numbers)}, LEAFID_ORDER_{v['order'].upper().replace('-', '_')}}}"


#: How a value is written, by the C type of its field. An int32_t is a text form.
WRITTEN = {
    "const char": text,
    "int64_t": number,
    "int32_t": lambda name: f"LEAFID_TEXT_FORM_{name.upper()}",
    "leafid_status": lambda code: f"LEAFID_{code.upper()}",
    "uint8_t": hexadecimal,
    "leafid_layout": layout,
    "bool": lambda value: str(value).lower(),
    "int": str,
    "size_t": str,
}


def table(file: str, name: str, fields: str, rows: list[dict]) -> None:
    """A table whose fields are called as the keys of its rows."""
    # An empty list would be a test that cannot fail.
    assert rows, name
    kinds = {}
    for kind, names in re.findall(r"(const char|\w+) ([^;]+)", fields):
        kinds.update(dict.fromkeys(re.findall(r"\b[a-z]\w*", names), WRITTEN[kind]))
    lines = (", ".join(kinds[key](row[key]) for key in kinds) for row in rows)
    content = "".join(f"    {{{line}}},\n" for line in lines)
    written[file] = written.get(file, "") + f"static const struct {{ {fields}; }} {name}[] = {{\n{content}}};\n"


def with_length(rows: list[dict]) -> list[dict]:
    return [{**row, "length": len(row["key"]) // 2} for row in rows]


of = vectors["snowflake"]
parts = "const char *layout; int64_t timestamp_ms, worker_id, sequence"
table("vectors", "layouts", "const char *name; leafid_layout layout",
      [{"name": name, "layout": v} for name, v in of["layouts"].items()])  # fmt: skip
table("vectors", "valid", f"{parts}, id; const char *text", [{**v, "text": v["id"]} for v in of["valid"]])
table("vectors", "refused", f"{parts}; leafid_status error", of["refused"])
table("vectors", "accepted_text", parts.replace("layout", "text"), of["decode_accepted_text"])
table("vectors", "refused_text", "const char *id; leafid_status error", of["decode_refused"])
table("vectors", "floors", f"{parts}, id, floored_ms", of["compose_floors"])
table("vectors", "refused_in_layout", "const char *layout; int64_t id; leafid_status error",
      of["decode_refused_in_layout"])  # fmt: skip
table("vectors", "layout_texts", "const char *text; leafid_status status",
      [{"text": v, "status": status} for status, key in (("ok", "accepted"), ("invalid_argument", "refused"))
       for v in of["layout_text"][key]])  # fmt: skip
table("vectors", "ranges", "const char *layout; int64_t timestamp_ms, first, last", of["id_ranges"])
table("vectors", "ranges_refused", "const char *layout; int64_t timestamp_ms; leafid_status error",
      of["id_ranges_refused"])  # fmt: skip
of = vectors["text_forms"]
table("vectors", "formatted", "int64_t id; int32_t form; const char *text",
      [{"id": v["id"], "form": form, "text": v[form]} for form in ("decimal", "base32", "base62", "uuid")
       for v in of["valid"]])  # fmt: skip
table("vectors", "forms_refused", "int32_t form; const char *text, *message", of["refused"])
table("vectors", "ids_refused", "int64_t id", [{"id": id} for id in of["format_refused"]])
of = vectors["uuids"]
table("uuids", "uuids_valid", "int64_t id; uint8_t bytes[16]", of["valid"])
table("uuids", "uuids_refused", "uint8_t uuid[16]; const char *message", of["refused"])
of = vectors["public_ids"]
key = "uint8_t key[32]; size_t length"
table("public_ids", "valid", f"{key}; int64_t version, id, public_id; const char *base32, *base62",
      with_length(of["valid"]))  # fmt: skip
table("public_ids", "keys", f"{key}; int64_t version", with_length(of["rotation"]["keys"]))
table("public_ids", "texts", "int64_t id, version, public_id; const char *base32, *base62", of["rotation"]["texts"])
table("public_ids", "texts_refused", "int32_t form; const char *text, *message", of["texts_refused"])
table("public_ids", "decrypt_refused", "int64_t public_id, version; const char *message", of["decrypt_refused"])
table("public_ids", "encrypt_refused", "int64_t id; const char *message", of["ids_refused"])
table("public_ids", "versions_refused", "int64_t version; const char *message", of["versions_refused"])
table("public_ids", "keys_refused", "size_t bytes; const char *message", of["keys_refused"])
table("public_ids", "hex_accepted", f"const char *text; {key}",
      with_length([{"text": v["text"], "key": v["same_as"]} for v in of["hex_accepted"]]))  # fmt: skip
table("public_ids", "hex_refused", "const char *text", [{"text": v} for v in of["hex_refused"]])
table("errors", "table", "int number, c; const char *code; bool retry", vectors["errors"]["errors"])
table("tags", "tag_names", "const char *tag, *path; bool refused",
      [{"path": "", "refused": False, **v} for v in vectors["tags"]["cases"]])  # fmt: skip
table("option_variables", "variables", "const char *variable, *value; bool right",
      [{**row, "value": value, "right": kind == "good"} for row in vectors["options"]["environment"]
       for kind in ("bad", "good") for value in row[kind]])  # fmt: skip
for file, content in written.items():
    (out / f"{file}.inc").write_text(content)

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
        return f"set_{name}, {number(value)}"
    if type(value) is int and name == "worker":
        return f"set_worker_id, {number(value)}"
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
for row in vectors["options"]["options"]:
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

#: A value for a parameter, by its type. A handle is called as its parameter; what is written to is `room`.
SAMPLES = {
    "int64_t": "1", "int32_t": "1", "size_t": "16", "void *": "NULL", "leafid_free_fn": "NULL", "const char *": '"1"',
    "const leafid_layout *": "&layout", "const leafid_worker_leases *": "&no_leases", "leafid_claim_fn": "no_id",
    "leafid_peer_times_fn": "no_times", "leafid_fetch_fn": "counter_fetch", "leafid_log_fn": "NULL",
}  # fmt: skip
HANDLE = r"(const )?leafid_(snowflake|segments|tag|public_ids)(_options)? \*"
#: What may be NULL, with the function before it where others of the name may not.
MAY_BE_NULL = {"layout", "needed", "user_data", "free_user_data", "callback", "leafid_snowflake_open options"}
#: What an error calls a parameter.
SAID = {
    "ask": "peer_times", "path": "ca_file", "server": "servers", "value": "headers",
    "leafid_layout_parse text": "layout", "leafid_decode_text text": "id",
    "leafid_snowflake_options_add_header name": "headers", "leafid_segments_options_add_header name": "headers",
}  # fmt: skip


def null_calls(prototype: tuple[str, str]):
    """A call for each pointer of a function that may not be NULL, the others valid."""
    function, parameters = prototype
    named = re.findall(r"([^,]*?) ?(\w+)(?:,\s*|$)", parameters.replace("struct ", ""))
    samples = [SAMPLES.get(kind) or (name if re.fullmatch(HANDLE, kind) else "room") for kind, name in named]
    for at, (kind, name) in enumerate(named):
        full = f"{function} {name}"
        is_free = MAY_BE_NULL & {name, full} and "_options_set_layout" not in function
        if kind.endswith(("*", "_fn")) and not is_free:
            given = ", ".join([*samples[:at], "NULL", *samples[at + 1 :]])
            yield f'REFUSES_NULL("{SAID.get(full, SAID.get(name, name))}", {function}({given}));\n'


header = (Path(__file__).parents[2] / "include/leafid.h").read_text()
prototypes = re.findall(r"^(?:LEAFID_MUST_USE )?leafid_status (leafid_\w+)\(([^;]*)\);", header, re.M)
calls = {True: [], False: []}
for prototype in prototypes:
    calls[prototype[0].startswith(("leafid_segments", "leafid_tag"))] += null_calls(prototype)
assert len(calls[True]) > 50 and len(calls[False]) > 80
(out / "null_calls.inc").write_text("".join(calls[False]))
(out / "segment_null_calls.inc").write_text("".join(calls[True]))
