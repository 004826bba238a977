"""A picture of lines, dots and text that reads on light and dark pages alike: it brings its own ground, and both palettes."""

import math
from xml.sax.saxutils import escape

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
# Ground, text, faint text, grid, leafid, floor, then the peers.
LIGHT = ["#ffffff", "#1f2328", "#59636e", "#d9dee3", "#0a7d33", "#6e7781",
         "#0969da", "#bc4c00", "#8250df", "#bf3989", "#cf222e", "#1b7c83"]  # fmt: skip
DARK = ["#0d1117", "#f0f6fc", "#9aa4af", "#30363d", "#3fb950", "#9198a1",
        "#58a6ff", "#f0883e", "#bc8cff", "#f778ba", "#ff7b72", "#39c5cf"]  # fmt: skip
NAMES = ["ground", "ink", "faint", "grid", "ours", "floor", "p0", "p1", "p2", "p3", "p4", "p5"]


def style():
    def palette(colours):
        rules = []
        for name, colour in zip(NAMES, colours):
            rules.append(f".f-{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}")
        return "".join(rules)

    base = f"text{{font-family:{FONT};font-size:12px}}.title{{font-size:15px;font-weight:600}}.bold{{font-weight:600}}"
    dark = f"@media (prefers-color-scheme:dark){{{palette(DARK)}}}"
    return f"<style>{base}{palette(LIGHT)}{dark}</style>"


def width_of(text, size=12):
    """About as wide as a browser draws it; rather too much."""
    return len(text) * size * 0.58


def shortened(text, room, size=12):
    most = int(room / (size * 0.58))
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


class Svg:
    def __init__(self, width, height, title, about):
        self.width, self.height, self.parts = width, height, []
        self.parts.append(f"<title>{escape(title)}</title><desc>{escape(about)}</desc>")
        self.parts.append(style())
        self.parts.append(f'<rect class="f-ground" width="{width}" height="{height}" rx="8"/>')
        self.text(16, 26, title, bold="title")
        self.text(16, 45, about, "faint")

    def text(self, x, y, text, colour="ink", anchor="start", bold=""):
        self.parts.append(
            f'<text class="f-{colour} {bold}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def line(self, x1, y1, x2, y2, colour="grid", width=1, dash=""):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line class="s-{colour}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width}"{dash}/>'
        )

    def path(self, points, colour, width=2, dash=""):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(
            f'<polyline class="s-{colour}" points="{text}" fill="none" stroke-width="{width}" stroke-linejoin="round"{dash}/>'
        )

    def dot(self, x, y, colour, r=4.5, hollow=False):
        look = f'class="f-ground s-{colour}" stroke-width="2"' if hollow else f'class="f-{colour}"'
        self.parts.append(f'<circle {look} cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>')

    def __str__(self):
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}">'
        return "\n".join([head, *self.parts, "</svg>\n"])


class Log:
    """A logarithmic axis from `low` to `high`, drawn between two places."""

    def __init__(self, low, high, start, end):
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value):
        value = min(max(value, self.low), self.high)
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, room):
        """1, 2 and 5 of each ten where each has `room`; else 1 and 3, or 1 alone."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for steps in ((1, 2, 5), (1, 3), (1,)):
            ticks = [step * 10.0**ten for ten in range(first, last + 1) for step in steps]
            ticks = [tick for tick in ticks if self.low * 0.999 <= tick <= self.high * 1.001]
            places = [self(tick) for tick in ticks]
            if all(abs(b - a) >= room for a, b in zip(places, places[1:])):
                break
        return ticks


def plain(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def apart(places, room, low):
    """Places moved as little as needed for each to be `room` below the one above, and the first not above `low`."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups = []  # [indexes, the place of the first]
    for i in order:
        groups.append([[i], max(places[i], low)])
        while len(groups) > 1 and groups[-1][1] < groups[-2][1] + room * len(groups[-2][0]):
            members = groups[-2][0] + groups.pop()[0]
            # So that the members' distances from where they belong add up to nothing.
            first = sum(places[member] - at * room for at, member in enumerate(members)) / len(members)
            groups[-1] = [members, max(first, low)]
    moved = [0.0] * len(places)
    for members, first in groups:
        for at, member in enumerate(members):
            moved[member] = first + at * room
    return moved
