"""The tables of a bench run: every subject, and the figures that have a goal with whether it is met.

    python3 bench/report.py build/bench
    python3 bench/report.py build/bench --markdown   the figures alone, for docs/PERFORMANCE.md
"""

import sys

import goals
from limits import times
from results import LANGUAGES, call_costs, read


FIGURES = ["language", "subject", "figure", "min", "floor", "min", "is", "ratio", "goal", "met"]


def main(folder, markdown=False):
    subjects, measures = read(folder)
    if markdown:
        for row in [FIGURES, ["---"] * len(FIGURES), *measured(measures), *across(measures), *ahead(subjects)]:
            print(f"| {' | '.join(row)} |")
        return
    if subjects:
        print_table(
            ["language", "peer", "version", "subject", "kind", "ns median", "min", "cpu", "duplicates", "notes"],
            list(map(subject_row, subjects)),
        )
    rows = [*measured(measures), *across(measures), *ahead(subjects)]
    if rows:
        print("\nFigures, medians, each beside its floor in the same run")
        print_table(FIGURES, rows)
    plain = list(unknown(measures))
    if plain:
        print("\nOther measures")
        print_table(["language", "measure", "figure", "floor", "ratio"], plain)
    print()
    print(*duplicates(subjects), sep="\n")
    met = [row[-1] for row in rows]
    print(f"bench: {len(subjects)} subjects; goals: {met.count('yes')} met, {met.count('no')} not met, "
          f"{met.count('noise')} not to be told on this machine")


def subject_row(line):
    dups = "" if line.get("dups") is None else f"{line['dups']:,} of {line['checked']:,}"
    return [line["lang"], line["peer"], line["version"], line["what"], line["kind"], number(line["ns_median"]),
            number(line["ns_min"]), number(line.get("cpu_ns")), dups, line["notes"]]


def measured(measures):
    for row in goals.ROWS:
        for lang in LANGUAGES:
            if (lang, row.measure) in measures:
                measure = measures[lang, row.measure]
                floor = row.floors.get(lang, row.floors.get(""))
                yield goal_row(lang, row.what, row.unit, measure, floor, row.goals.get(lang, row.goals.get("")))


def across(measures):
    for lang, other, name, what, goal in goals.ACROSS:
        if (lang, name) in measures and (other, name) in measures:
            mine, theirs = measures[lang, name], measures[other, name]
            pair = dict(figure=mine["figure"], floor=theirs["figure"], ratio=mine["figure"] / theirs["figure"],
                        figure_min=mine["figure_min"], floor_min=theirs["figure_min"])
            yield goal_row(lang, what, "ns", pair, f"{other}: the same", goal)


def ahead(subjects):
    """Beside the cheapest of the peers that it is to be ahead of."""
    for one in goals.AHEAD:
        if one.kind:
            lines = [line for line in subjects if (line["lang"], line["kind"]) == (one.lang, one.kind) and line["ns_median"]]
        else:
            lines = call_costs(subjects, one.lang)
        ours = [line for line in lines if line["peer"] == "leafid" and line["what"] == one.what]
        peers = [line for line in lines if line["peer"] in one.peers]
        if not ours or not peers:
            continue
        ours, best = ours[0], min(peers, key=lambda line: line["ns_median"])
        pair = dict(figure=ours["ns_median"], floor=best["ns_median"], ratio=ours["ns_median"] / best["ns_median"],
                    figure_min=ours["ns_min"], floor_min=best["ns_min"])
        is_floor = f"{best['peer']}, best of {len(set(line['peer'] for line in peers))} {one.among}"
        if len(one.peers) == 1:
            is_floor = one.among
        if best.get("dups"):
            is_floor += f", {best['dups']:,} duplicates"
        what = one.what + (f" [{one.kind}]" if one.kind else "")
        row = goal_row(one.lang, what, "ns", pair, is_floor, times(1) if one.goal else None)
        yield [*row[:-2], "ahead" if one.goal else "", row[-1]]


def goal_row(lang, what, unit, measure, floor, goal):
    def shown(value):
        if value is None:
            return ""
        if unit == "share":
            return f"{value:.1%}"
        return f"{number(value)} {unit}".rstrip()

    def bare(value):
        return "" if unit == "share" else number(value)

    met = goal.met(measure) if goal else ""
    verdict = {True: "yes", False: "no", None: "noise", "": ""}[met]
    has_floor = floor is not None
    return [lang, what, shown(measure["figure"]), bare(measure["figure_min"]),
            shown(measure["floor"]) if has_floor else "", bare(measure["floor_min"]) if has_floor else "",
            floor or "", number(measure["ratio"], 2) if has_floor else "", str(goal or ""), verdict]


def unknown(measures):
    known = {row.measure for row in goals.ROWS}
    for (lang, name), measure in measures.items():
        if name not in known:
            yield [lang, name, number(measure["figure"]), number(measure["floor"]), number(measure["ratio"], 2)]


def duplicates(subjects):
    """One line for leafid, and one for each peer that repeated an id."""
    ours = [line for line in subjects if line["peer"] == "leafid" and line.get("dups") is not None]
    if ours:
        yield f"leafid: {sum(line['dups'] for line in ours):,} duplicates in {sum(line['checked'] for line in ours):,} ids"
    for line in subjects:
        if line.get("dups") and line["peer"] != "leafid":
            yield (f"{line['peer']} ({line['lang']}), {line['what']} [{line['kind']}]: "
                   f"{line['dups']:,} duplicates in {line['checked']:,} ids")


def number(value, digits=None):
    if value is None:
        return ""
    if digits is None:
        digits = 2 if abs(value) < 10 and value != int(value) else 1 if value != int(value) else 0
    return f"{value:,.{digits}f}"


def print_table(head, table):
    widths = [max(len(str(row[i])) for row in [head, *table]) for i in range(len(head))]
    for row in [head, ["-" * width for width in widths], *table]:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main(sys.argv[1], "--markdown" in sys.argv)
