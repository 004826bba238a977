'use strict'

// Checks the types of options for the addon: numbers are safe integers, text is text, no name is unknown.

const { guarded, refuse } = require('./errors.js')
const native = require('./native.js')

/** The value as an integer that the addon's i64 holds exactly. */
function integer(value, name) {
  return Number.isSafeInteger(value) ? value : refuse(name, value)
}

function text(value, name) {
  return typeof value === 'string' ? value : refuse(name, value)
}

function truth(value, name) {
  return typeof value === 'boolean' ? value : refuse(name, value)
}

const ID = 'a bigint from 0 to 9223372036854775807n, its decimal digits as a string, or a number below 2^53'

/** An existing id as the addon takes it: a BigInt of 64 bits, or text. */
function existing(id, name) {
  if (typeof id === 'string') return id
  if (typeof id === 'bigint' && BigInt.asIntN(64, id) === id) return id
  if (Number.isSafeInteger(id)) return BigInt(id)
  return refuse(name, id, ID)
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

/** Refuses an unknown name; in quotes, as the user wrote it. */
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

const isText = value => typeof value === 'string'

const SOURCE = 'an object with the methods claim, renew and release, or a function for worker ids without leases'

function worker(value, name) {
  if (typeof value === 'string' || typeof value === 'function') return value
  if (isRecord(value) && 'claim' in value) {
    const missing = ['claim', 'renew', 'release'].filter(method => typeof value[method] !== 'function')
    if (missing.length > 0) guarded(() => native.refuse(name, `an object without ${missing.join(' and ')}`, SOURCE))
    return value
  }
  if (Array.isArray(value) && value.length > 0 && value.every(isText)) return [...value]
  if (!isRecord(value)) return integer(value, name)
  const { first, last } = record(value, rangeEnds, () => refuse(name, value))
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) refuse(name, value)
  return { first, last }
}

function headers(value, name) {
  const fits = isRecord(value) && Object.values(value).every(isText)
  return fits ? { ...value } : refuse(name, value, 'an object of strings by name')
}

const TIMES = 'a function that answers an array of Unix milliseconds, as integers, or a promise of it'

function peerTimes(value, name) {
  return typeof value === 'function' ? value : refuse(name, value, TIMES)
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
  if (!isRecord(given)) refuse('options', given, `an object with any of ${Object.keys(options).join(', ')}`)
  return record(given, options, unknownName(options))
}

/** The layout argument of decode and compose. */
const layoutArgument = value => (value === undefined || value === null ? undefined : layout(value, 'layout'))

module.exports = { existing, headers, integer, isRecord, isText, layoutArgument, record, snowflakeOptions, text, truth, unknownName }
