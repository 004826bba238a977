"""leafid's metrics and spans for OpenTelemetry, whose package opentelemetry-api is installed separately.

    from leafid.opentelemetry import Traced, instrument, traced_fetch

    instrument()                                    # metrics of all generators of this process
    order = Traced(ids.tag("order"))                # a span for each call that waits
    ids = leafid.Segments(fetch=traced_fetch(fetch))  # a span for each fetch
"""

import functools
import inspect
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from opentelemetry import metrics, trace
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer

from ._leafid import Error, Snowflake, Tag, __version__, refuse
from ._openmetrics import Family, families

__all__ = ["Traced", "instrument", "traced_fetch"]

# One reading serves all instruments of a collection.
_FRESH_S = 0.1
_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


class _Reading:
    """The families of this process, read at most once in a while."""

    def __init__(self) -> None:
        self._read_at = float("-inf")
        self._families: dict[str, Family] = {}

    def family(self, name: str) -> Family | None:
        if time.monotonic() - self._read_at > _FRESH_S:
            self._families = {family.name: family for family in families()}
            self._read_at = time.monotonic()
        return self._families.get(name)


def instrument(meter: Meter | None = None) -> None:
    """Report leafid's metrics to the meter, by default that of the global provider. Call it once.

    The names are those of Prometheus with dots and without the unit: `leafid.snowflake.ids`. A histogram is two
    counters, because this API has no histograms that are read: `leafid.segment.wait.count`, and
    `leafid.segment.wait.time` in seconds.
    """
    meter = meter or metrics.get_meter("leafid", __version__)
    reading = _Reading()

    def observed(family: str, end: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observe(_: CallbackOptions) -> Iterator[Observation]:
            found = reading.family(family)
            for sample in found.samples if found else ():
                if sample.name == family + end:
                    yield Observation(sample.value, sample.labels)

        return observe

    for name, kind, text, unit, _ in families():
        dotted = name.removesuffix(f"_{unit}" if unit else "").replace("_", ".", 2)
        unit = "s" if unit == "seconds" else "1"
        match kind:
            case "gauge":
                meter.create_observable_gauge(dotted, [observed(name, "")], unit, text)
            case "counter":
                meter.create_observable_counter(dotted, [observed(name, "_total")], unit, text)
            case "histogram":
                meter.create_observable_counter(f"{dotted}.count", [observed(name, "_count")], "1", text)
                meter.create_observable_counter(f"{dotted}.time", [observed(name, "_sum")], unit, text)


class Traced:
    """A snowflake or a tag whose calls leave a span `leafid.wait` if they last longer than `longer_than_ms`.

    A span begins when the call began, and is a child of the caller's span. A call that fails has one, too, with the
    error's code. All else is that of the snowflake or tag.
    """

    def __init__(self, ids: Snowflake | Tag, longer_than_ms: float = 1.0, tracer: Tracer | None = None) -> None:
        if not isinstance(longer_than_ms, float | int):
            refuse("longer_than_ms", longer_than_ms, "milliseconds, a number")
        self._ids = ids
        self._longer_than_ns = longer_than_ms * 1_000_000
        self._tracer = tracer or trace.get_tracer("leafid", __version__)
        self._attributes = {"leafid.tag": ids.name} if isinstance(ids, Tag) else {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ids, name)

    def __enter__(self) -> "Traced":
        # A tag has none, and says so.
        self.__getattr__("__enter__")()
        return self

    def __exit__(self, *error: object) -> None:
        self.__getattr__("__exit__")(*error)

    def __iter__(self) -> "Traced":
        return self

    def __next__(self) -> int:
        return self.next()

    def next(self, *args: Any, **options: Any) -> int:
        return self._timed("next", self._ids.next, args, options)

    def take(self, *args: Any, **options: Any) -> list[int]:
        return self._timed("take", self._ids.take, args, options)

    def next_str(self, *args: Any, **options: Any) -> str:
        return self._timed("next_str", self._ids.next_str, args, options)

    def take_strs(self, *args: Any, **options: Any) -> list[str]:
        return self._timed("take_strs", self._ids.take_strs, args, options)

    def fill(self, *args: Any, **options: Any) -> Any:
        return self._timed("fill", self._ids.fill, args, options)

    async def next_async(self, *args: Any, **options: Any) -> int:
        return await self._timed_async("next_async", self.__getattr__("next_async")(*args, **options))

    async def take_async(self, *args: Any, **options: Any) -> list[int]:
        return await self._timed_async("take_async", self.__getattr__("take_async")(*args, **options))

    def _timed(self, name: str, call: Callable[..., _T], args: tuple[Any, ...], options: dict[str, Any]) -> _T:
        begun = time.time_ns()
        try:
            made = call(*args, **options)
        except BaseException as error:
            self._note(name, begun, error)
            raise
        self._note(name, begun)
        return made

    async def _timed_async(self, name: str, call: Awaitable[_T]) -> _T:
        begun = time.time_ns()
        try:
            made = await call
        except BaseException as error:
            self._note(name, begun, error)
            raise
        self._note(name, begun)
        return made

    def _note(self, name: str, begun: int, error: BaseException | None = None) -> None:
        if error is not None or time.time_ns() - begun > self._longer_than_ns:
            attributes = {**self._attributes, "leafid.call": name}
            _end(self._tracer.start_span("leafid.wait", start_time=begun, attributes=attributes), error)


def traced_fetch(fetch: _F, tracer: Tracer | None = None) -> _F:
    """A `fetch` for segments that leaves a span `leafid.fetch` for each call, with the tag, the step and the error.

    leafid calls it on its own threads, so the span has no parent.
    """
    tracer = tracer or trace.get_tracer("leafid", __version__)

    @contextmanager
    def spanned(tag: str, step: int) -> Iterator[None]:
        attributes: dict[str, str | int] = {"leafid.tag": tag, "leafid.step": step}
        span = tracer.start_span("leafid.fetch", kind=SpanKind.CLIENT, attributes=attributes)
        error: BaseException | None = None
        try:
            with trace.use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False):
                yield
        except BaseException as caught:
            error = caught
            raise
        finally:
            _end(span, error)

    if inspect.iscoroutinefunction(fetch):

        @functools.wraps(fetch)
        async def fetched_async(tag: str, step: int, **more: Any) -> Any:
            with spanned(tag, step):
                return await fetch(tag, step, **more)

        return fetched_async  # type: ignore[return-value]

    @functools.wraps(fetch)
    def fetched(tag: str, step: int, **more: Any) -> Any:
        with spanned(tag, step):
            return fetch(tag, step, **more)

    return fetched  # type: ignore[return-value]


def _end(span: trace.Span, error: BaseException | None) -> None:
    if error is not None:
        span.record_exception(error)
        code = error.code if isinstance(error, Error) else type(error).__name__
        span.set_attribute("error.type", code)
        span.set_status(Status(StatusCode.ERROR, str(error)))
    span.end()
