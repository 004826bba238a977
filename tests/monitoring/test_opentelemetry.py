"""Metrics and spans in the real SDK of OpenTelemetry."""

import asyncio
import time

import leafid
import pytest
from leafid.opentelemetry import Traced, instrument, traced_fetch
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode


@pytest.fixture
def tracing():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter, provider.get_tracer("test")


def slow(tag, step):
    time.sleep(0.03)
    slow.next += step
    return range(slow.next - step, slow.next)


slow.next = 1


def test_metrics_are_those_of_leafid(space):
    reader = InMemoryMetricReader()
    instrument(MeterProvider([reader]).get_meter("test"))
    with leafid.Snowflake(7, **space) as flake, leafid.Segments(fetch=slow, **space) as ids:
        flake.take(5_000)
        ids.tag("order").take(10)
        collected = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
        found = {}
        for metric in collected:
            for point in metric.data.data_points:
                if point.attributes.get("name") == space["name"]:
                    found[metric.name] = point
        assert found["leafid.snowflake.ids"].value == 5_000
        assert found["leafid.snowflake.ids"].attributes["worker_id"] == "7"
        assert found["leafid.snowflake.wait.count"].value >= 1
        assert found["leafid.segment.ids"].value == 10
        assert found["leafid.segment.fetch_outcomes"].attributes["outcome"] == "ok"
        assert found["leafid.segment.wait.time"].value >= 0.03
        assert found["leafid.snowflake.expires_at"].value == flake.stats().expires_at_ms / 1_000
    units = {metric.name: metric.unit for metric in collected}
    assert (units["leafid.segment.fetch.time"], units["leafid.segment.fetch.count"]) == ("s", "1")
    names = [metric.name for metric in collected]
    assert "leafid.clock.steps" in names and len(names) == len(set(names))


def test_calls_that_wait_leave_spans(space, tracing):
    exporter, tracer = tracing
    with leafid.Segments(fetch=traced_fetch(slow, tracer), prefetch=100, **space) as ids:
        order = Traced(ids.tag("order"), tracer=tracer)
        with tracer.start_as_current_span("request") as request:
            first = order.next()
        fetch, wait, parent = exporter.get_finished_spans()
        assert order.next() == first + 1 and order.name == "order"
        assert (fetch.name, wait.name, parent.name) == ("leafid.fetch", "leafid.wait", "request")
        assert fetch.kind == SpanKind.CLIENT and fetch.parent is None
        assert fetch.attributes == {"leafid.tag": "order", "leafid.step": 1_000}
        assert wait.parent.span_id == request.get_span_context().span_id
        assert wait.attributes == {"leafid.tag": "order", "leafid.call": "next"}
        assert wait.end_time - wait.start_time >= 30_000_000 and wait.status.status_code == StatusCode.UNSET
        exporter.clear()
        # The rest and a further segment.
        assert len(asyncio.run(order.take_async(1_500))) == 1_500
        assert [span.attributes.get("leafid.call") for span in exporter.get_finished_spans()][-1] == "take_async"


def test_failures_leave_spans_with_the_code(space, tracing):
    exporter, tracer = tracing

    async def fails(tag, step, *, after):
        raise OSError("away")

    with leafid.Segments(fetch=traced_fetch(fails, tracer), **space | {"timeout_ms": 100}) as ids:
        with pytest.raises(leafid.SegmentUnavailableError):
            Traced(ids.tag("order"), tracer=tracer).next()
        while "leafid.fetch" not in {span.name for span in exporter.get_finished_spans()}:
            time.sleep(0.001)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    for name, error in (("leafid.fetch", "OSError"), ("leafid.wait", "segment_unavailable")):
        assert spans[name].attributes["error.type"] == error
        assert spans[name].status.status_code == StatusCode.ERROR
        assert spans[name].events[0].name == "exception"


def test_a_snowflake_is_traced_and_stays_one(space, tracing):
    exporter, tracer = tracing
    with leafid.Snowflake(7, **space) as flake:
        flake.next()
        exporter.clear()
        traced = Traced(flake, longer_than_ms=10_000, tracer=tracer)
        ids = [traced.next(), next(iter(traced)), *traced.take(10)]
        assert ids == sorted(set(ids)) and traced.worker_id == 7
        assert exporter.get_finished_spans() == ()
        Traced(flake, longer_than_ms=0, tracer=tracer).next()
        assert exporter.get_finished_spans()[0].attributes == {"leafid.call": "next"}
        with pytest.raises(leafid.InvalidArgumentError, match="longer_than_ms is '1'"):
            Traced(flake, longer_than_ms="1")
        with traced as entered:
            assert entered.next() > ids[-1]
        with pytest.raises(leafid.ClosedError):
            flake.next()
