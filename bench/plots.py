"""The plots of a bench run, as SVG.

    python3 bench/plots.py build/bench build/bench/plots
"""

import pathlib
import sys

import goals
from results import LANGUAGES, call_costs, read
from svg import Log, Svg, apart, plain, shortened, width_of

NAMES = {"rust": "Rust", "c": "C", "python": "Python", "node": "Node"}
# Floors that stand among the peers, by language: those of these measures.
FLOORS = {
    "rust": ("call", "coarse", "tag"),
    "c": ("call", "tag"),
    "python": ("call", "tag"),
    "node": ("call", "call_closure", "tag_sync"),
}
PERCENTILES = [("p50", "50 %"), ("p99", "99 %"), ("p99_9", "99.9 %"), ("p99_99", "99.99 %"), ("max", "longest")]
WIDTH = 900


def main(source, target):
    subjects, measures = read(source)
    target = pathlib.Path(target)
    target.mkdir(parents=True, exist_ok=True)
    # leafid/wasm has no peers beside it.
    for lang in LANGUAGES[:-1]:
        write(target / f"cost-{lang}.svg", cost(lang, subjects, measures))
    write(target / "threads.svg", threads(subjects))
    write(target / "tail.svg", tail(measures))


def write(path, picture):
    """What was not measured keeps the plot that it had."""
    if picture is not None:
        path.write_text(str(picture))
        print(path)


def cost(lang, subjects, measures):
    """One dot for each way to an id, the cheapest first."""
    rows = [(line["ns_median"], line["peer"], line["what"], line.get("dups"), line.get("checked"))
            for line in call_costs(subjects, lang)]  # fmt: skip
    if not rows:
        return None
    for row in goals.ROWS:
        if row.measure in FLOORS[lang] and (lang, row.measure) in measures:
            rows.append((measures[lang, row.measure]["floor"], "floor", row.floors.get(lang, row.floors.get("")), None, None))
    rows.sort()
    left, right, top, step = 390, WIDTH - 190, 66, 21
    bottom = top + step * len(rows)
    svg = Svg(WIDTH, bottom + 52, f"Cost of one id in {NAMES[lang]}",
              "Median time of one call on one thread, waits for a tick left out where it can be; less is better")  # fmt: skip
    axis = Log(rows[0][0] * 0.8, rows[-1][0] * 1.25, left, right)
    for tick in axis.ticks(46):
        svg.line(axis(tick), top, axis(tick), bottom)
        svg.text(axis(tick), bottom + 17, plain(tick), "faint", "middle")
    svg.text((left + right) / 2, bottom + 38, "nanoseconds for an id (logarithmic)", "faint", "middle")
    for at, (ns, peer, what, dups, checked) in enumerate(rows):
        y = top + step * (at + 0.5)
        colour = {"leafid": "ours", "floor": "floor"}.get(peer, "p0")
        svg.line(left, y, axis(ns), y, colour, 1.5, "2 4" if peer == "floor" else "")
        svg.dot(axis(ns), y, colour, hollow=peer == "floor")
        label = shortened(f"{peer}: {what}", left - 34)
        svg.text(left - 10, y + 4, label, "ours" if peer == "leafid" else "ink", "end", "bold" if peer == "leafid" else "")
        value = f"{ns:,.1f}" if ns < 1000 else f"{ns:,.0f}"
        svg.text(axis(ns) + 10, y + 4, value)
        if dups:
            svg.text(axis(ns) + 16 + width_of(value), y + 4, f"{dups / checked:.0%} duplicates" if dups * 100 > checked else "duplicates", "p4")
    return svg


def threads(subjects):
    """One line for each generator: what all threads make together."""
    series = {}
    for line in subjects:
        if line["kind"] == "threads" and line["ns_median"]:
            series.setdefault((line["peer"], line["what"]), []).append((line["threads"], 1e3 / line["ns_median"]))
    if not series:
        return None
    left, right, top, bottom = 64, WIDTH - 270, 84, 490
    counts = sorted({count for points in series.values() for count, _ in points})
    values = [value for points in series.values() for _, value in points]
    svg = Svg(WIDTH, bottom + 54, "Ids from 1 to 64 threads in Rust",
              "All threads together, on the machine of docs/PERFORMANCE.md; more is better")  # fmt: skip
    across = Log(counts[0], max(counts[-1], counts[0] * 2), left, right)
    up = Log(min(values) * 0.8, max(values) * 1.25, bottom, top)
    grid(svg, left, right, up)
    svg.text(left, top - 12, "million ids a second (logarithmic)", "faint")
    for count in counts:
        svg.line(across(count), top, across(count), bottom)
        svg.text(across(count), bottom + 18, str(count), "faint", "middle")
    svg.text((left + right) / 2, bottom + 40, "threads", "faint", "middle")
    colours, lines = iter([f"p{n % 6}" for n in range(60)]), []
    dashes = iter(["2 4", "8 4"] * 30)
    ours = iter(["", "8 4", "2 4", "12 3 2 3"] * 15)
    for (peer, what), points in series.items():
        kind = peer if peer in ("leafid", "floor") else ""
        colour = {"leafid": "ours", "floor": "floor"}.get(kind) or next(colours)
        dash = next(ours) if kind == "leafid" else next(dashes) if kind == "floor" else ""
        lines.append((f"{peer}: {what}", colour, dash, [(across(count), up(value)) for count, value in sorted(points)]))
    labelled(svg, lines, right, 220)
    return svg


def tail(measures):
    """Percentiles of the time of one call while the source is slow, and of an empty loop at the same pace."""
    lines = []
    left, right, top, bottom = 64, WIDTH - 220, 84, 440
    series = []
    for lang, colour in (("rust", "ours"), ("python", "p0"), ("node", "p1")):
        found = [(name, measures.get((lang, f"tail_{name}"))) for name, _ in PERCENTILES]
        if all(measure for _, measure in found):
            series.append((f"{NAMES[lang]}: next", colour, "", [measure["figure"] for _, measure in found]))
            series.append((f"{NAMES[lang]}: empty loop", colour, "4 4", [measure["floor"] for _, measure in found]))
    if not series:
        return None
    # What is below the clock's step is drawn at it.
    values = [max(value, 0.01) for _, _, _, points in series for value in points]
    svg = Svg(WIDTH, bottom + 54, "Time of one next while the source is slow",
              "The source answers in 200 ms and fails one time in five; the empty loop is the machine's own noise")  # fmt: skip
    up = Log(min(values) * 0.7, max(values) * 1.4, bottom, top)
    grid(svg, left, right, up)
    svg.text(left, top - 12, "microseconds (logarithmic)", "faint")
    places = [left + 40 + at * (right - left - 80) / (len(PERCENTILES) - 1) for at in range(len(PERCENTILES))]
    for place, (_, name) in zip(places, PERCENTILES):
        svg.line(place, top, place, bottom)
        svg.text(place, bottom + 18, name, "faint", "middle")
    svg.text((left + right) / 2, bottom + 40, "share of the calls that are at least as fast", "faint", "middle")
    for name, colour, dash, points in series:
        lines.append((name, colour, dash, [(x, up(max(value, 0.01))) for x, value in zip(places, points)]))
    labelled(svg, lines, right, 180)
    return svg


def grid(svg, left, right, up):
    for tick in up.ticks(22):
        svg.line(left, up(tick), right, up(tick))
        svg.text(left - 8, up(tick) + 4, plain(tick), "faint", "end")


def labelled(svg, lines, right, room):
    """Lines with dots, each with its name at its end."""
    for _, colour, dash, points in lines:
        svg.path(points, colour, 2, dash)
        for x, y in points:
            svg.dot(x, y, colour, 3)
    ends = [points[-1] for *_, points in lines]
    for (name, colour, dash, _), (x, y), place in zip(lines, ends, apart([y for _, y in ends], 17, 84)):
        svg.line(x + 5, y, right + 18, place, colour, 1)
        svg.line(right + 18, place, right + 40, place, colour, 2, dash)
        svg.text(right + 46, place + 4, shortened(name, room), colour)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
