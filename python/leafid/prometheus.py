"""leafid's metrics for prometheus_client, which is installed separately.

In one process:

    from prometheus_client import REGISTRY
    from leafid.prometheus import Collector

    REGISTRY.register(Collector())

With several processes, as under gunicorn, each one calls `publish()`, and the one that is scraped collects them all:

    registry = prometheus_client.CollectorRegistry()
    prometheus_client.multiprocess.MultiProcessCollector(registry)
    registry.register(MultiProcessCollector())
"""

import atexit
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.registry import Collector as _Collector

from ._openmetrics import Family, Sample, families

__all__ = ["Collector", "MultiProcessCollector", "publish"]

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# The gauges of a process that has not published for so long are left out.
_GONE_S = 30
# Of several processes; the largest is shown of other gauges.
_SUMMED = {"leafid_segment_left", "leafid_segment_waiting", "leafid_snowflake_handles"}


def _metric(family: Family) -> Metric:
    # prometheus_client knows the unit by the name, and appends it if it is given.
    metric = Metric(family.name, family.help, family.kind)
    for sample in family.samples:
        metric.add_sample(sample.name, sample.labels, sample.value)
    return metric


class Collector(_Collector):
    """Collects the metrics of this process. It reads memory only, and does not wait."""

    def collect(self) -> Iterable[Metric]:
        return [_metric(family) for family in families()]


def _directory(path: str | os.PathLike[str] | None) -> Path:
    found = path if path is not None else os.environ.get(_VARIABLE)
    if not found:
        raise ValueError(f"path is None; allowed: a directory, or None with {_VARIABLE} set")
    return Path(found)


class _Publisher:
    """Writes the metrics of this process to a file, again and again."""

    def __init__(self, directory: Path, interval_s: float) -> None:
        self._directory, self._interval_s = directory, interval_s
        self._name()
        self.write()
        self._start()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self.write)

    def _begin(self) -> None:
        self._name()
        self._start()

    def _name(self) -> None:
        self._lock = threading.Lock()
        # Not by the process id alone, which another process may get later.
        self._path = self._directory / f"leafid_{os.getpid()}_{time.time_ns()}.json"
        self._kept: dict[str, Family] = {}

    def _start(self) -> None:
        threading.Thread(target=self._run, name="leafid-publish", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                self.write()
            except OSError:
                # The directory is away or full: the next time may be better.
                pass
            time.sleep(self._interval_s)

    def write(self) -> None:
        with self._lock:
            for family in families():
                before = self._kept.get(family.name)
                if before is not None and family.kind != "gauge":
                    # What was counted stays, also after a generator was closed.
                    now = {(sample.name, *sample.labels.items()) for sample in family.samples}
                    gone = [each for each in before.samples if (each.name, *each.labels.items()) not in now]
                    family.samples.extend(gone)
                self._kept[family.name] = family
            # A reader sees all of it or the last one.
            new = self._path.with_suffix(".new")
            new.write_text(json.dumps(list(self._kept.values())))
            new.replace(self._path)


def publish(path: str | os.PathLike[str] | None = None, interval_s: float = 5.0) -> None:
    """Publish the metrics of this process, and of those that it forks, for `MultiProcessCollector`.

    A thread writes a small file every `interval_s` seconds (0.1 to 10), and at the exit, into the directory `path`, by
    default PROMETHEUS_MULTIPROC_DIR. Empty that directory when the server starts, as prometheus_client asks for. Call
    it once, in the parent or in each worker. Errors: ValueError, and OSError if the directory cannot be written.
    """
    if isinstance(interval_s, str) or not 0.1 <= interval_s <= 10:
        raise ValueError(f"interval_s is {interval_s!r}; allowed: 0.1 to 10")
    _Publisher(_directory(path), interval_s)


class MultiProcessCollector(_Collector):
    """Collects what all processes have published.

    Counters and histograms are summed, with those of processes that have ended. Gauges are those of running processes:
    ids in memory, waiting calls and handles are summed, of all others the largest is shown.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._directory = _directory(path)

    def collect(self) -> Iterable[Metric]:
        merged: dict[str, tuple[Family, dict[tuple[object, ...], Sample]]] = {}
        for path in sorted(self._directory.glob("leafid_*_*.json")):
            for family in _published(path):
                whole, samples = merged.setdefault(family.name, (family, {}))
                for sample in family.samples:
                    key = (sample.name, *sorted(sample.labels.items()))
                    before = samples.get(key)
                    if before is not None:
                        summed = whole.kind != "gauge" or whole.name in _SUMMED
                        value = before.value + sample.value if summed else max(before.value, sample.value)
                        sample = sample._replace(value=value)
                    samples[key] = sample
        return [_metric(family._replace(samples=list(samples.values()))) for family, samples in merged.values()]


def _published(path: Path) -> Iterator[Family]:
    try:
        lives = time.time() - path.stat().st_mtime < _GONE_S
        content = json.loads(path.read_text())
    except FileNotFoundError:
        # The directory was emptied.
        return
    for name, kind, text, unit, samples in content:
        family = Family(name, kind, text, unit, [Sample(*sample) for sample in samples])
        if family.kind != "gauge" or lives:
            yield family
