"""What reaches the kernel: how a span is made durable, how often, and by how many threads."""

import itertools
import re
import time

from endings import in_use
from harness import need, place, record, test, wait_for
from subjects import Serve

# A span of 3 s is renewed at its half. Fewer are written by a machine that stands.
MOST_A_SECOND = 4.0


def whole(lines):
    """The calls that strace wrote: it breaks the line of one that another thread's comes in the middle of."""
    calls, broken = [], {}
    for line in lines:
        pid = line.split()[0]
        if " resumed>" in line and pid in broken:
            calls[broken.pop(pid)] += line.partition(" resumed>")[2]
            continue
        if line.endswith("<unfinished ...>"):
            broken[pid] = len(calls)
        calls.append(line.removesuffix("<unfinished ...>"))
    return calls


@test("a renewal writes its file in place and syncs it; the file is never renamed, unlinked or cut")
def _():
    where = place()
    strace = need("strace", "strace")
    first = Serve().open("a", *where.options(worker=1))
    first.do("next", "a")
    first.quit()
    inode = where.file(1).stat().st_ino
    trace = where.dir / "trace"
    calls = (
        "openat,open,creat,rename,renameat,renameat2,link,linkat,unlink,unlinkat,truncate,ftruncate,fallocate,flock,"
    )
    calls += "fcntl,pwrite64,write,writev,pwritev,fsync,fdatasync,close,mmap"
    subject = Serve(before=[strace, "-f", "-y", "-o", trace, "-e", f"trace={calls}"])
    subject.do("open", "a", *where.options(worker=1))
    subject.until_renewed("a", 3)
    subject.do("close", "a")
    subject.quit()
    lines = whole(trace.read_text().splitlines())
    file = str(where.file(1))
    mine = [line for line in lines if file in line]
    assert mine, "no call on the state file was seen"
    forbidden = "rename|link|unlink|truncate|fallocate|creat|O_CREAT|O_TRUNC|F_SETLK|LOCK_UN|MAP_SHARED"
    bad = [line for line in mine if re.search(forbidden, line)]
    assert not bad, bad[:5]
    # The host lock of a worker id goes with its holder.
    others = [line for line in lines if "/run/lock/leafid-" not in line]
    assert not [line for line in others if "unlink" in line or "rename" in line], "something was renamed or unlinked"
    writes = [n for n, line in enumerate(mine) if "pwrite64(" in line]
    # The opening, the renewals, the close.
    assert len(writes) >= 5, f"{len(writes)} writes"
    offsets = []
    for n in writes:
        written = re.search(r", (\d+), (\d+) *\)\s+= (\d+)", mine[n])
        assert written and written[1] == written[3] == "4096", mine[n]
        offsets.append(int(written[2]))
        assert "fdatasync(" in mine[n + 1] and mine[n + 1].rstrip().endswith("= 0"), mine[n : n + 2]
    assert all(a != b and {a, b} == {0, 4096} for a, b in itertools.pairwise(offsets)), f"slots {offsets}"
    assert where.file(1).stat().st_ino == inode, "the file was replaced"
    return f"{len(writes)} writes, slots in turn"


@test("no thread before the first id, one in use, one write in a second or two, none of both when idle", long=True)
def _():
    where = place()
    subject = Serve().open("a", *where.options(worker=1))
    subject.do("open", "b", *where.options(worker=2))
    wait_for(lambda: subject.threads() == 1, "the end of the threads of the opening")
    subject.run("b", 10)
    in_use(subject, 2)
    before, begun = record(where.file(1))["number"], time.monotonic()
    subject.run("a", 9_500)
    rate = (record(where.file(1))["number"] - before) / (time.monotonic() - begun)
    assert 0 < rate <= MOST_A_SECOND, f"{rate} writes a second while in use"
    idle = time.monotonic()
    wait_for(lambda: subject.threads() == 1, "the end of the thread of an idle generator")
    took = time.monotonic() - idle
    before = record(where.file(1))["number"]
    time.sleep(6)
    assert record(where.file(1))["number"] == before, "written while idle"
    _, slowest, _, _ = subject.run("a", 100)
    in_use(subject, 2)
    subject.do("close", "a")
    assert subject.threads() <= 2
    subject.do("close", "b")
    wait_for(lambda: subject.threads() == 1, "the end of the thread of closed generators")
    return f"{rate:.2f} writes a second, thread gone {took:.0f} s after the last id, first id then {slowest} us"
