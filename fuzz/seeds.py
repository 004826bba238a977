#!/usr/bin/env python3
"""Makes the seeds in build/fuzz/seeds from the real things: `seeds.py LEAFID`, as `cargo build -p leafid` leaves it.

They are files that leafid wrote, and the cases of tests/vectors, as the targets read their inputs; and inputs that once
failed.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from found import FOUND
from seed_values import ROOT, answers, c_calls, framing, layouts, number, options, seed


def slots(path: Path) -> list[bytes]:
    """The JSON of both slots, without checksums."""
    data = path.read_bytes()
    return [re.sub(rb',"crc32":"[0-9a-f]{8}"', b"", slot.rstrip(b" \n")) for slot in (data[:4096], data[4096:])]


def state_files(leafid: str, scratch: Path) -> None:
    for name, more in (("leaf", []), ("sonyflake", ["--layout", "sonyflake"]), ("narrow", ["--layout", "35|5|23"])):
        run = [leafid, "next", "-n", "3", "--worker", "7", "--name", name, "--state-dir", str(scratch), *more]
        if name == "narrow":
            run += ["--epoch-ms", "1767225600000"]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        if name == "sonyflake":
            subprocess.run(
                [leafid, "state", "reset", "7", "--confirm", "7", "--name", name, "--state-dir", str(scratch)],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        lines = b"\n".join(slots(scratch / name / "worker-7.state"))
        lines = re.sub(rb'"name":"[^"]*"', b'"name":"@"', lines)
        # Of no start of a machine: such a record would teach the clock.
        lines = re.sub(rb'"boot":"[^"]*"', b'"boot":""', lines)
        for how in (0, 1, 2, 4, 12, 16, 20):
            seed("state_files", f"{name}-{how}", bytes([1, how]) + number(4_500) + lines)
    seed("state_files", "damaged", bytes([1, 3, 0]) + lines)


def stored_files(leafid: str, scratch: Path, marks: Path) -> None:
    counters = scratch / "counters"
    for tag in ("order", "user"):
        subprocess.run(
            [leafid, "file", "create", str(counters), "--tag", tag, "--start", "1000"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    lines = b"\n".join(slots(counters / "tag-order.counter"))
    lines = re.sub(rb'"directory":"[^"]*"', b'"directory":"@"', lines)
    for how in (0, 1, 4, 12, 16):
        seed("stored_files", f"counter-{how}", bytes([4, 100, 0, how]) + number(9) + lines)
    seed("stored_files", "marker", bytes([5, 0, 0]) + b"\n".join(slots(counters / "leafid-file.marker")))
    for path in marks.glob("*.mark"):
        lines = b"\n".join(slots(path))
        spans = re.sub(rb'"spans":"[^"]*"', b'"spans":"1000,5;4,1;-7,2,3"', lines)
        kept = b',"kept":{"segments":[["1","5","1"]],"kept_ms":1,"written_ms":1,"machine":"m","device":1,"inode":1}}'
        for kind in (0, 1, 2):
            seed("stored_files", f"mark-{kind}", bytes([kind]) + number(100_000) + bytes([10, 1, 0, 0]) + lines)
            seed("stored_files", f"spans-{kind}", bytes([kind]) + number(1_006) + bytes([10, 1, 0, 0]) + spans)
        seed("stored_files", "kept", bytes([0, 9, 10, 1, 0, 0]) + lines.replace(b"}\n", kept + b"\n"))
    held = (
        '"held":{"from_ms":1,"until_ms":@until,"lease_ms":60000,"token":"t","ends_ms":@ends,"boot":"@boot",'
        f'"owner":"{0x5eed:032x}","written_ms":@now,"device":@device,"inode":@inode}}'
    )
    lease = (
        '{"leafid":"lease","format":1,"number":%d,"name":"fuzz","worker_id":7,"servers":["http://127.0.0.1:1"],'
        + held
        + "}"
    )
    for how in (0, 1, 4):
        seed("stored_files", f"lease-{how}", bytes([3, how, 9]) + f"{lease % 4}\n{lease % 5}".encode())


def main() -> int:
    leafid = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as left:
        programs = ROOT / "build" / "fuzz-target"
        program = next(programs.glob("*/release/stored_files"))
        one = Path(scratch) / "one"
        one.write_bytes(bytes([0, 9, 0, 1, 0, 0]) + b"{}")
        # It leaves a mark that leafid made.
        subprocess.run([program, one], env={**os.environ, "LEAFID_FUZZ_DIR": left}, check=True, capture_output=True)
        real = Path(scratch) / "marks"
        subprocess.run(["cp", "-r", f"{left}/marks", real], check=True)
        state_files(leafid, Path(scratch))
        stored_files(leafid, Path(scratch), real)
    for make in (answers, framing, layouts, options, c_calls):
        make()
    for (target, name), content in FOUND.items():
        seed(target, f"found-{name}", content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
