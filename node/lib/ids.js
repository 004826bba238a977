'use strict'

const { guarded } = require('./errors.js')
const native = require('./native.js')
const { existing, integer, layoutArgument, text: string } = require('./options.js')
const { Date } = require('./time.js')

function decode(id, layout) {
  const whole = existing(id, 'id')
  const bits = layoutArgument(layout)
  const { timestampMs, workerId, sequence } = guarded(() => native.decode(whole, bits))
  return { timestampMs, time: new Date(timestampMs), workerId, sequence }
}

function compose(timestampMs, workerId, sequence, layout) {
  const time = integer(timestampMs, 'timestampMs')
  const worker = integer(workerId, 'workerId')
  const number = integer(sequence, 'sequence')
  const bits = layoutArgument(layout)
  return guarded(() => native.compose(time, worker, number, bits))
}

function firstIdAt(timestamp, layout) {
  const time = milliseconds(timestamp)
  const bits = layoutArgument(layout)
  return guarded(() => native.firstIdAt(time, bits))
}

function lastIdAt(timestamp, layout) {
  const time = milliseconds(timestamp)
  const bits = layoutArgument(layout)
  return guarded(() => native.lastIdAt(time, bits))
}

function formatId(id, form) {
  const whole = existing(id, 'id')
  const name = string(form, 'form')
  return guarded(() => native.formatId(whole, name))
}

function parseId(text, form) {
  const given = string(text, 'text')
  const name = string(form, 'form')
  return guarded(() => native.parseId(given, name))
}

/** A time, in Unix milliseconds or as a Date. */
function milliseconds(timestamp) {
  return integer(typeof timestamp?.getTime === 'function' ? timestamp.getTime() : timestamp, 'timestampMs')
}

module.exports = { decode, compose, firstIdAt, lastIdAt, formatId, parseId }
