// leafid in the real SDK of OpenTelemetry.

import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Segments, Snowflake } from 'leafid'
import * as wasm from 'leafid/wasm'

const { instrument, traced, tracedFetch } = createRequire(import.meta.url)('leafid/opentelemetry')
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
let number = 0
const space = () => ({ name: `o${process.pid}-${number++}`, stateDir: mkdtempSync(join(tmpdir(), 'leafid-')), timeoutMs: 60_000 })

function tracing() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  return { exporter, tracer: provider.getTracer('test') }
}

function slow() {
  let next = 1
  return async (_, step) => {
    await new Promise(done => setTimeout(done, 30))
    next += step
    return { start: next - step, end: next }
  }
}

test('metrics are those of leafid', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  instrument(new MeterProvider({ readers: [reader] }).getMeter('test'))
  const options = space()
  const flake = new Snowflake({ worker: 7, ...options })
  const ids = new Segments({ fetch: slow(), ...options })
  flake.take(100)
  await ids.tag('order').take(10)
  const { resourceMetrics, errors } = await reader.collect()
  assert.deepEqual(errors, [])
  const metrics = resourceMetrics.scopeMetrics[0].metrics
  const point = name => {
    const metric = metrics.find(metric => metric.descriptor.name === name)
    return metric.dataPoints.find(({ attributes }) => attributes.name === options.name)
  }
  assert.equal(point('leafid.snowflake.ids').value, 100)
  assert.equal(point('leafid.snowflake.ids').attributes.worker_id, '7')
  assert.equal(point('leafid.segment.ids').value, 10)
  assert.equal(point('leafid.segment.fetch_outcomes').attributes.outcome, 'ok')
  assert.ok(point('leafid.segment.wait.time').value >= 0.03)
  assert.equal(point('leafid.segment.wait.count').value, 1)
  assert.equal(point('leafid.snowflake.expires_at').value, flake.stats().expiresAtMs / 1000)
  const units = Object.fromEntries(metrics.map(({ descriptor }) => [descriptor.name, descriptor.unit]))
  assert.deepEqual([units['leafid.segment.fetch.time'], units['leafid.segment.fetch.count']], ['s', '1'])
  flake.close()
  await ids.close()
})

test('metrics of leafid/wasm', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  instrument(new MeterProvider({ readers: [reader] }).getMeter('test'), wasm.metrics)
  const flake = new wasm.Snowflake({ worker: 7, name: space().name, persist: false })
  flake.take(100)
  const { resourceMetrics } = await reader.collect()
  const ids = resourceMetrics.scopeMetrics[0].metrics.find(({ descriptor }) => descriptor.name === 'leafid.snowflake.ids')
  const { name, stateDir: state_dir, layout } = flake.stats()
  assert.deepEqual(ids.dataPoints.map(({ value, attributes }) => [value, attributes]), [
    [100, { name, worker_id: '7', state_dir, layout }],
  ])
  flake.close()
})

test('calls that wait leave spans', async () => {
  const { exporter, tracer } = tracing()
  const ids = new Segments({ fetch: tracedFetch(slow(), { tracer }), prefetch: 100, ...space() })
  const order = traced(ids.tag('order'), { tracer })
  assert.equal(order.name, 'order')
  const request = tracer.startSpan('request')
  const first = await context.with(trace.setSpan(context.active(), request), () => order.next())
  assert.equal(await order.next(), first + 1n)
  request.end()
  const [fetch, wait] = exporter.getFinishedSpans()
  assert.deepEqual([fetch.name, fetch.kind, wait.name], ['leafid.fetch', SpanKind.CLIENT, 'leafid.wait'])
  assert.deepEqual(fetch.attributes, { 'leafid.tag': 'order', 'leafid.step': 1000 })
  assert.deepEqual(wait.attributes, { 'leafid.tag': 'order', 'leafid.call': 'next' })
  assert.equal(wait.parentSpanContext.spanId, request.spanContext().spanId)
  assert.ok(wait.duration[0] + wait.duration[1] / 1e9 >= 0.025, `${wait.duration}`)
  // A call in which the machine stood still for a millisecond is a wait, too.
  const waits = exporter.getFinishedSpans().filter(({ name }) => name === 'leafid.wait').slice(1)
  assert.ok(waits.every(({ duration }) => duration[0] + duration[1] / 1e9 > 0.0009))
  assert.equal(exporter.getFinishedSpans().length, 3 + waits.length)
  await ids.close()
})

test('what is traced can be iterated and disposed of as the original', async () => {
  const { exporter, tracer } = tracing()
  const options = space()
  const [flake, ids] = [new Snowflake({ worker: 7, ...options }), new Segments({ fetch: slow(), ...options })]
  const [numbers, order] = [traced(flake, { tracer, longerThanMs: -1 }), traced(ids.tag('order'), { tracer })]
  for (const id of numbers) {
    assert.ok(id < numbers.next())
    break
  }
  for await (const id of order) {
    assert.equal(id, 1n)
    break
  }
  const calls = exporter.getFinishedSpans().map(({ attributes }) => [attributes['leafid.tag'], attributes['leafid.call']])
  assert.deepEqual(calls, [[undefined, 'next'], [undefined, 'next'], ['order', 'next']])
  assert.ok(numbers instanceof Snowflake && numbers.workerId === 7)
  assert.throws(() => traced(flake, { longerThanMs: '1' }), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  numbers[Symbol.dispose ?? 'close']()
  assert.throws(flake.next, { code: 'ERR_LEAFID_CLOSED' })
  ids.close()
})

test('failures leave spans with the code', async () => {
  const { exporter, tracer } = tracing()
  const fails = tracedFetch(() => Promise.reject(new RangeError('away')), { tracer })
  const ids = new Segments({ ...space(), fetch: fails, timeoutMs: 100 })
  const order = traced(ids.tag('order'), { tracer })
  await assert.rejects(order.next(), { code: 'ERR_LEAFID_SEGMENT_UNAVAILABLE' })
  while (!exporter.getFinishedSpans().some(({ name }) => name === 'leafid.fetch')) await new Promise(done => setTimeout(done, 1))
  const spans = Object.fromEntries(exporter.getFinishedSpans().map(span => [span.name, span]))
  assert.equal(spans['leafid.fetch'].attributes['error.type'], 'RangeError')
  assert.equal(spans['leafid.wait'].attributes['error.type'], 'ERR_LEAFID_SEGMENT_UNAVAILABLE')
  for (const { status, events } of Object.values(spans)) {
    assert.deepEqual([status.code, events[0].name], [SpanStatusCode.ERROR, 'exception'])
  }
  assert.throws(() => order.takeSync(-1), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  assert.equal(exporter.getFinishedSpans().at(-1).attributes['leafid.call'], 'takeSync')
  await ids.close()
})

test('a snowflake is traced and stays one', () => {
  const { exporter, tracer } = tracing()
  const flake = new Snowflake({ worker: 7, ...space() })
  flake.next()
  const { next, take, layout } = traced(flake, { longerThanMs: 10_000, tracer })
  assert.ok(next() < next())
  assert.equal(take(10).length, 10)
  assert.equal(layout, flake.layout)
  assert.equal(exporter.getFinishedSpans().length, 0)
  traced(flake, { longerThanMs: -1, tracer }).next()
  assert.deepEqual(exporter.getFinishedSpans()[0].attributes, { 'leafid.call': 'next' })
  flake.close()
})
