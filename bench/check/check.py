"""Compares what the hot paths cost with what bench/instructions.toml says. `make bench OF=check` runs it.

check.py BUILD           fails where a path is heavier
check.py BUILD --update  writes the file
"""

import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import tomllib

from callgrind import counts, dumps_of

COMMITTED = pathlib.Path(__file__).parent.parent / "instructions.toml"
HEAD = """\
# What one call of each hot path costs: instructions of leafid's own code with its loop, and calls that leave it, for the
# C library. Written by `make bench OF=check UPDATE=1`, compared by `make bench OF=check`.
"""
# By how much a path is heavier, in instructions and in calls out of it. The same toolchain makes the same code of it, but
# for a register that what changed elsewhere places otherwise. At least so much, for a short path; a call out may cost
# anything, and counts.
SAME, LEAST = (0.01, 0), (1, 0.05)
# Another toolchain makes other code of the same source.
OTHER = (0.25, 0.25)
# The program of each language, and the object in it that is leafid's.
PROGRAMS = {
    "rust": ("leafid-bench-check", "leafid-bench-check"),
    "c": ("check-c", "libleafid.so"),
}


def main(build, update):
    figures = {lang: counted(build, *PROGRAMS[lang]) for lang in PROGRAMS}
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    committed = tomllib.loads(COMMITTED.read_text()) if COMMITTED.exists() else {}
    machine = platform.machine()
    if update:
        committed[machine] = {"rustc": compiler, **figures}
        COMMITTED.write_text(written(committed))
        return print(f"bench-check: wrote {sum(map(len, figures.values()))} paths to bench/{COMMITTED.name}")
    known = committed.get(machine)
    if known is None:
        return print(f"bench-check: skipped: no figures of {machine} are committed; UPDATE=1 writes them")
    shares = SAME
    if known["rustc"] != compiler:
        shares = OTHER
        print(f"bench-check: counted with {compiler}, committed of {known['rustc']}: {OTHER[0]:.0%} more are let pass")
    sys.exit(compare(figures, known, shares))


def counted(build, program, own):
    """What one call of each path of a program costs."""
    with tempfile.TemporaryDirectory(dir=build, prefix="check-") as folder:
        stem = pathlib.Path(folder, "dump")
        options = ["--tool=callgrind", "--quiet", f"--callgrind-out-file={stem}", "--zero-before=settled",
                   "--toggle-collect=counted", "--dump-after=counted", "--compress-strings=no", "--compress-pos=no"]
        ran = subprocess.run(["valgrind", *options, build / program], stdout=subprocess.PIPE, text=True, check=True,
                             env=os.environ | {"BENCH_STATE": folder})
        return counts(ran.stdout.splitlines(), dumps_of(stem), own)


def compare(figures, known, shares):
    """Prints each path beside its committed figure; 1 if one is heavier, else 0."""
    heavier, lighter, strange = [], [], []
    for lang in PROGRAMS:
        now, then = figures[lang], known.get(lang, {})
        for path in now | then:
            name = f"{lang}: {path}"
            if path not in now or path not in then:
                strange.append(name)
                print(f"{name:46}  {'not committed' if path in now else 'committed, not counted any more'}")
                continue
            verdict = judged(now[path], then[path], shares)
            {"heavier": heavier, "lighter": lighter}.get(verdict, []).append(name)
            print(f"{name:46}  {told(now[path]):>28}  committed {told(then[path]):>28}  {verdict}")
    if lighter:
        print(f"lighter, so that their figures can be lowered by `make bench OF=check UPDATE=1`: {'; '.join(lighter)}")
    if heavier or strange:
        print(f"bench-check: FAILED: heavier: {'; '.join(heavier) or 'none'}; unlike the committed paths: "
              f"{'; '.join(strange) or 'none'}. If it has to be, `make bench OF=check UPDATE=1` writes it down")
        return 1
    print(f"bench-check: {sum(map(len, figures.values()))} paths, none heavier than committed")
    return 0


def judged(now, then, shares):
    slack = [max(least, share * cost) for least, share, cost in zip(LEAST, shares, then)]
    if any(new > old + more for new, old, more in zip(now, then, slack)):
        return "heavier"
    return "lighter" if any(new < old - less for new, old, less in zip(now, then, slack)) else ""


def told(cost):
    return f"{cost[0]:.1f} instructions, {cost[1]:g} calls"


def written(committed):
    lines = [HEAD]
    for machine in sorted(committed):
        lines.append(f'[{machine}]\nrustc = "{committed[machine]["rustc"]}"\n')
        for lang in PROGRAMS:
            paths = committed[machine][lang]
            lines.append("\n".join([f"[{machine}.{lang}]", *(f'"{path}" = [{cost[0]:g}, {cost[1]:g}]'
                                                              for path, cost in paths.items()), ""]))
    return "\n".join(lines)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), "--update" in sys.argv[2:])
