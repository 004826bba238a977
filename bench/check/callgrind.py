"""Reads callgrind's dumps: what leafid's own code cost, and how often it called anything else."""

import pathlib
import re


def counts(spoken, dumps, own):
    """The cost of one call of each path as (instructions, calls), of a run of a program that prints its loops.

    A loop of n calls and one of 2n differ by n calls. The cheapest of the rounds counts, which met no tick's end, and whose
    calls no other thread made: callgrind tells threads apart by what they cost, not by what they call.

    `own`: how the name of the object begins that is leafid's. A call out of it counts as one, whatever it costs there: how
    long the C library reads a clock or copies memory depends on the machine, and under valgrind its clock is another one.
    """
    loops = {}
    for line, dump in zip(spoken, dumps, strict=True):
        path, times = line.rsplit("\t", 1)
        loops.setdefault(path, {}).setdefault(int(times), []).append(cost(dump, own))
    return {path: difference(by_times) for path, by_times in loops.items()}


def difference(by_times):
    few, many = sorted(by_times)
    return tuple((min(after) - min(before)) / (many - few)
                 for before, after in zip(zip(*by_times[few]), zip(*by_times[many])))


def dumps_of(stem):
    """The files of the dumps of a run, in the order in which they were made; the one of its end, which is empty, left out."""
    numbered = ((re.fullmatch(re.escape(stem.name) + r"\.(\d+)", file.name), file) for file in stem.parent.iterdir())
    return [file for _, file in sorted((int(match[1]), file) for match, file in numbered if match)]


def cost(dump, own):
    """Instructions of the objects whose name begins with `own`, and calls out of them."""
    instructions = calls = 0
    here = there = ""
    inclusive = False
    for line in pathlib.Path(dump).read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and key == "ob":
            here = there = pathlib.PurePath(value).name
        elif equals and key == "cob":
            there = pathlib.PurePath(value).name
        elif equals and key == "calls":
            if here.startswith(own) and not there.startswith(own):
                calls += int(value.split()[0])
            # The next line is what the called function cost, which stands with that function.
            there, inclusive = here, True
        elif line[:1].isdigit():
            if here.startswith(own) and not inclusive:
                instructions += int(line.split()[1])
            inclusive = False
    return instructions, calls
