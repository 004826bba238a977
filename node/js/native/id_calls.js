'use strict'

const { guarded } = require('./guard.js')
const native = require('./native.js')
const { existing, layout: read } = require('./option_rules.js')

const bitsOf = layout => (layout === undefined || layout === null ? undefined : read(layout, 'layout'))

function decoded(id, layout) {
  const bits = bitsOf(layout)
  return guarded(() => native.decode(id, bits))
}

function composed(timestampMs, workerId, sequence, layout) {
  const bits = bitsOf(layout)
  return guarded(() => native.compose(timestampMs, workerId, sequence, bits))
}

function firstAt(timestampMs, layout) {
  const bits = bitsOf(layout)
  return guarded(() => native.firstIdAt(timestampMs, bits))
}

function lastAt(timestampMs, layout) {
  const bits = bitsOf(layout)
  return guarded(() => native.lastIdAt(timestampMs, bits))
}

const formatted = (id, form) => guarded(() => native.formatId(id, form))
const parsed = (text, form) => guarded(() => native.parseId(text, form))

module.exports = { composed, decoded, existing, firstAt, formatted, lastAt, parsed }
