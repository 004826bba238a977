"""The text of leafid.metrics(), read into families of samples."""

import re
from typing import NamedTuple

from ._leafid import metrics

_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
_SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? (\S+)")
_ESCAPED = re.compile(r"\\(.)")


class Sample(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float


class Family(NamedTuple):
    """All samples of one metric. `kind` is counter, gauge or histogram; the name has its unit, but no `_total`."""

    name: str
    kind: str
    help: str
    unit: str
    samples: list[Sample]


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], text)


def families() -> list[Family]:
    """The metrics of this process, also those without a sample."""
    known: dict[str, Family] = {}
    last: Family | None = None
    # Label values hold no line feed: it is escaped.
    for line in metrics().split("\n"):
        if line.startswith("# ") and line != "# EOF":
            what, name, value = line[2:].split(" ", 2)
            last = known.setdefault(name, Family(name, "gauge", "", "", []))
            match what:
                case "HELP":
                    last = last._replace(help=value)
                case "TYPE":
                    last = last._replace(kind=value)
                case "UNIT":
                    last = last._replace(unit=value)
            known[name] = last
        elif line and line != "# EOF" and last is not None:
            parts = _SAMPLE.fullmatch(line)
            assert parts, line
            name, labels, value = parts.groups()
            found = {label: _unescaped(text) for label, text in _LABEL.findall(labels or "")}
            last.samples.append(Sample(name, found, float(value)))
    return list(known.values())
