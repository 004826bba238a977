"""The lines of a bench run, which lie in one file for each language."""

import json
import pathlib
from statistics import median

LANGUAGES = ["rust", "c", "python", "node", "wasm"]
# Kinds of subject that say what one call costs.
CALLS = ("sustained", "burst")


def read(folder):
    """All lines: (subjects, measures). A measure stands under its language and name, medians of its rounds."""
    subjects, rounds = [], {}
    for lang in LANGUAGES:
        path = pathlib.Path(folder) / f"{lang}.jsonl"
        text = path.read_text() if path.exists() else ""
        for line in map(json.loads, filter(str.strip, text.splitlines())):
            if "measure" in line:
                rounds.setdefault((line["lang"], line["measure"]), []).append(line)
            else:
                subjects.append(line)
    return subjects, {key: merged(lines) for key, lines in rounds.items()}


def merged(lines):
    """Several rounds of one measure as one: the median of medians, the smallest of minima."""

    def of(name, pick):
        values = [line[name] for line in lines if line.get(name) is not None]
        return pick(values) if values else None

    measure = {name: of(name, median) for name in ("figure", "floor", "ratio")}
    measure |= {name: of(name, min) for name in ("figure_min", "floor_min")}
    if measure["ratio"] is None and measure["floor"]:
        measure["ratio"] = measure["figure"] / measure["floor"]
    return measure


def call_costs(subjects, lang):
    """The subjects of a language that say what one call costs: of one that is measured both ways the cheaper one."""
    best = {}
    for line in subjects:
        if line["lang"] != lang or line["kind"] not in CALLS or line["ns_median"] is None:
            continue
        key = line["peer"], line["what"]
        if key not in best or line["ns_median"] < best[key]["ns_median"]:
            best[key] = line
    return list(best.values())
