'use strict'

// Checks the types of options for the addon: numbers are safe integers, text is text, no name is unknown.

const native = require('./native.js')
const readers = require('./readers.js')
const { refuse } = require('./refuse.js')

const { mostMs: MOST_MS } = native.limits()
const { headers, integer, isRecord, layoutFields, peerTimes, record, text, truth, worker } = readers

const ID = 'a bigint from 0 to 9223372036854775807n, its decimal digits as a string, or a number below 2^53'

/** An existing id as the addon takes it: a BigInt of 64 bits, or text. */
function existing(id, name) {
  if (typeof id === 'string') return id
  if (typeof id === 'bigint' && BigInt.asIntN(64, id) === id) return id
  if (Number.isSafeInteger(id)) return BigInt(id)
  return refuse(name, id, ID)
}

function layout(value, name) {
  if (typeof value === 'string') return value
  if (!isRecord(value)) refuse(name, value)
  return record(value, layoutFields)
}

const options = {
  worker,
  name: text,
  stateDir: text,
  layout,
  epochMs: integer,
  onClockBackwards: text,
  maxBackwardsMs: integer,
  onExhausted: text,
  randomStart: integer,
  timeoutMs: integer,
  persist: truth,
  sharedFs: truth,
  sharedGroup: truth,
  exclusiveRange: truth,
  noRecordWaitMs: integer,
  lazy: truth,
  clockSource: text,
  startAfter: existing,
  peerTimes,
  token: text,
  headers,
  caFile: text,
  requestTimeoutMs: integer,
  connectTimeoutMs: integer,
}

/** The options of a snowflake, with their types checked. The host checks the values. */
function snowflakeOptions(given) {
  if (given === undefined || given === null) return {}
  if (!isRecord(given)) refuse('options', given, 'an object of options: docs/OPTIONS.md')
  return record(given, options)
}

/** The layout argument of decode and compose. */
const layoutArgument = value => (value === undefined || value === null ? undefined : layout(value, 'layout'))

/** A duration of a call. */
function milliseconds(value, name) {
  return readers.integer(value, name) >= 1 && value <= MOST_MS ? value : refuse(name, value)
}

module.exports = { ...readers, existing, layoutArgument, milliseconds, snowflakeOptions }
