'use strict'

// From what a user writes to what the addon takes: numbers are safe integers, text is text, nothing is unknown.

const { guarded, refuse } = require('./errors.js')
const native = require('./native.js')

/** The value as an integer that the addon's i64 holds exactly. */
function integer(value, name) {
  return Number.isSafeInteger(value) ? value : refuse(name, value)
}

function text(value, name) {
  return typeof value === 'string' ? value : refuse(name, value)
}

const isRecord = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads the known names of `given` once each. `undefined` and `null` stand for the default. */
function record(given, readers, unknown) {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(readers, name)) unknown(name)
  }
  const read = {}
  for (const [name, reader] of Object.entries(readers)) {
    const value = given[name]
    if (value !== undefined && value !== null) read[name] = reader(value, name)
  }
  return read
}

/** Refuses a name that is none of ours; in quotes, as the user wrote it. */
const unknownName = readers => name =>
  guarded(() => native.refuse(JSON.stringify(name), 'an unknown option', Object.keys(readers).join(', ')))

const layoutFields = {
  timestampBits: integer,
  workerBits: integer,
  sequenceBits: integer,
  epochMs: integer,
  tickMs: integer,
  order: text,
}

function layout(value, name) {
  if (typeof value === 'string') return value
  if (!isRecord(value)) refuse(name, value)
  return record(value, layoutFields, unknownName(layoutFields))
}

const rangeEnds = { first: value => value, last: value => value }

function worker(value, name) {
  if (typeof value === 'string') return value
  if (!isRecord(value)) return integer(value, name)
  const { first, last } = record(value, rangeEnds, () => refuse(name, value))
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) refuse(name, value)
  return { first, last }
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
}

/** The options of a snowflake, checked for kind; their values are the host's to check. */
function snowflakeOptions(given) {
  if (given === undefined || given === null) return {}
  if (!isRecord(given)) refuse('options', given, `an object with any of ${Object.keys(options).join(', ')}`)
  return record(given, options, unknownName(options))
}

/** The layout argument of decode and compose. */
const layoutArgument = value => (value === undefined || value === null ? undefined : layout(value, 'layout'))

module.exports = { integer, layoutArgument, snowflakeOptions }
