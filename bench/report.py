"""The table of a bench run: every subject, and at the end the figures that have a goal with whether it is met."""

import json
import pathlib
import sys

LANGUAGES = ["rust", "c", "python", "node"]


def main(path):
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines() if line.strip()]
    subjects = [line for line in lines if "measure" not in line]
    goals = list(rows(figures(lines)))
    if subjects:
        print_table(
            ["language", "peer", "subject", "ns min", "ns median", "notes"],
            [[s["lang"], s["peer"], s["what"], text(s["ns_min"]), text(s["ns_median"]), s["notes"]] for s in subjects],
        )
    if goals:
        print()
        print_table(["subject", "figure", "floor", "ratio or share", "goal", "met"], goals)
        print(f"\nbench: {len(subjects)} subjects; goals: {sum(g[-1] == 'yes' for g in goals)} met, "
              f"{sum(g[-1] == 'no' for g in goals)} not met")


def figures(lines):
    """The best of each measure of each language: the largest share, the smallest time."""
    best = {}
    for line in lines:
        if "measure" not in line:
            continue
        key, pick = (line["lang"], line["measure"]), max if line["measure"] == "loop" else min
        old = best.get(key, (line["figure"], line["floor"]))
        best[key] = (pick(old[0], line["figure"]), min(old[1], line["floor"]))
    return best


def rows(best):
    for lang in LANGUAGES:
        if (lang, "call") in best:
            ns, floor = best[lang, "call"]
            base = {"rust": "clock read + atomic add", "c": "clock read + atomic add", "python": "pyo3 method -> int",
                    "node": "napi-rs closure -> BigInt"}[lang]
            goal = ("<= 1.3", verdict(ns <= 1.3 * floor)) if lang == "rust" else ("", "")
            yield [f"{lang}: one call of next", f"{ns:.1f} ns", f"{floor:.1f} ns ({base})", f"{ns / floor:.2f}", *goal]
    if ("c", "call") in best and ("rust", "call") in best:
        ns, floor = best["c", "call"][0], best["rust", "call"][0]
        yield ["c: next above Rust's", f"{ns - floor:.1f} ns", f"{floor:.1f} ns (Rust's next)", f"{ns / floor:.2f}",
               "<= 5 ns", verdict(ns - floor <= 5)]
    for lang in LANGUAGES:
        if (lang, "loop") in best:
            share = best[lang, "loop"][0]
            yield [f"{lang}: plain loop over next", f"{share * 4096:.0f} ids/ms", "4096 ids/ms", f"{share:.1%}",
                   ">= 97 %", verdict(share >= 0.97)]
    for lang in LANGUAGES:
        if (lang, "fill") in best:
            ns, floor = best[lang, "fill"]
            base = "copy" if lang in ("python", "node") else "write"
            yield [f"{lang}: fill of 1,000,000", f"{ns:.2f} ns/id", f"{floor:.2f} ns ({base})", f"{ns / floor:.1f}",
                   "<= 2 ns", verdict(ns <= 2)]
    for lang in LANGUAGES:
        for measure, most in [("threads before the first id", 0), ("threads while in use", 1),
                              ("threads with 1000 in use", 1), ("KiB a generator", 64)]:
            if (lang, measure) in best:
                figure = best[lang, measure][0]
                yield [f"{lang}: {measure}", f"{figure:.1f}" if most == 64 else f"{figure:.0f}", "", "", f"<= {most}",
                       verdict(figure <= most)]


def verdict(met):
    return "yes" if met else "no"


def text(ns):
    return "" if ns is None else f"{ns:.1f}"


def print_table(head, table):
    widths = [max(len(str(row[i])) for row in [head, *table]) for i in range(len(head))]
    for row in [head, ["-" * width for width in widths], *table]:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main(sys.argv[1])
