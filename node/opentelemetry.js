'use strict'

// leafid's metrics and spans for OpenTelemetry, by its API package, which the application has.

const { metrics: api, trace, SpanKind, SpanStatusCode } = require('@opentelemetry/api')
const { families, reader } = require('./lib/metric_families.js')
const { refuse } = require('./lib/refuse.js')
const { version } = require('./package.json')

function instrument(meter = api.getMeter('leafid', version), metrics) {
  const read = reader(metrics)
  const observe = (instrument, family, end) => {
    instrument.addCallback(result => {
      for (const { name, labels, value } of read(family)?.samples ?? []) {
        if (name === family + end) result.observe(value, labels)
      }
    })
  }
  for (const { name, kind, help: description, unit: named } of families(metrics).values()) {
    const plain = named && name.endsWith(`_${named}`) ? name.slice(0, -named.length - 1) : name
    const dotted = plain.replace('_', '.').replace('_', '.')
    const unit = named === 'seconds' ? 's' : '1'
    if (kind === 'gauge') {
      observe(meter.createObservableGauge(dotted, { description, unit }), name, '')
    } else if (kind === 'counter') {
      observe(meter.createObservableCounter(dotted, { description, unit }), name, '_total')
    } else {
      observe(meter.createObservableCounter(`${dotted}.count`, { description, unit: '1' }), name, '_count')
      observe(meter.createObservableCounter(`${dotted}.time`, { description, unit }), name, '_sum')
    }
  }
}

function ended(span, error) {
  if (error !== undefined) {
    span.recordException(error)
    span.setAttribute('error.type', String(error?.code ?? error?.name ?? 'Error'))
    span.setStatus({ code: SpanStatusCode.ERROR, message: String(error?.message ?? error) })
  }
  span.end()
}

const CALLS = ['next', 'nextString', 'nextNumber', 'nextSync', 'take', 'takeStrings', 'takeSync', 'fill']

function traced(ids, { longerThanMs = 1, tracer = trace.getTracer('leafid', version) } = {}) {
  if (typeof longerThanMs !== 'number') refuse('longerThanMs', longerThanMs, 'milliseconds, a number')
  const tag = typeof ids.name === 'string' ? { 'leafid.tag': ids.name } : {}
  const note = (call, begun, startTime, error) => {
    if (error === undefined && performance.now() - begun <= longerThanMs) return
    ended(tracer.startSpan('leafid.wait', { startTime, attributes: { ...tag, 'leafid.call': call } }), error)
  }
  const timed = {}
  for (const call of CALLS.filter(call => typeof ids[call] === 'function')) {
    const method = ids[call]
    timed[call] = (...args) => {
      const [begun, startTime] = [performance.now(), Date.now()]
      let made
      try {
        made = method(...args)
      } catch (error) {
        note(call, begun, startTime, error)
        throw error
      }
      if (!(made instanceof Promise)) {
        note(call, begun, startTime)
        return made
      }
      return made.then(
        value => {
          note(call, begun, startTime)
          return value
        },
        error => {
          note(call, begun, startTime, error)
          throw error
        },
      )
    }
  }
  if (ids[Symbol.iterator]) {
    timed[Symbol.iterator] = function* iterator() {
      for (;;) yield timed.next()
    }
  }
  if (ids[Symbol.asyncIterator]) {
    timed[Symbol.asyncIterator] = async function* iterator() {
      for (;;) yield timed.next()
    }
  }
  // All else is that of the original, whose methods are bound, but for those that a symbol names.
  const get = (target, key) => {
    const value = Reflect.get(target, key, target)
    return timed[key] ?? (typeof key === 'symbol' && typeof value === 'function' ? value.bind(target) : value)
  }
  return new Proxy(ids, { get })
}

function tracedFetch(fetch, { tracer = trace.getTracer('leafid', version) } = {}) {
  return (tag, step, ...more) => {
    const attributes = { 'leafid.tag': tag, 'leafid.step': step }
    return tracer.startActiveSpan('leafid.fetch', { kind: SpanKind.CLIENT, attributes }, async span => {
      try {
        const answer = await fetch(tag, step, ...more)
        ended(span)
        return answer
      } catch (error) {
        ended(span, error)
        throw error
      }
    })
  }
}

module.exports = { instrument, traced, tracedFetch }
