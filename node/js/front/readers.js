// Reads options: their types are checked here, their values by the core. Numbers are safe integers, text is text, no
// name is unknown.

import { mostMs } from './limits.js'
import { refuse, refuseText, refuseUnknown } from './refuse.js'

/** Also no Map and no Headers: what they hold is no property, and would be left out. */
export const isRecord = value => typeof value === 'object' && value !== null && !(Symbol.iterator in value)
export const isText = value => typeof value === 'string'

/** The value as an integer that an i64 and an f64 hold exactly. */
export const integer = (value, name, allowed) => (Number.isSafeInteger(value) ? value : refuse(name, value, allowed))
export const text = (value, name, allowed) => (isText(value) ? value : refuse(name, value, allowed))
export const truth = (value, name) => (typeof value === 'boolean' ? value : refuse(name, value))

/** A duration. */
export const milliseconds = (value, name) =>
  integer(value, name) >= 1 && value <= mostMs ? value : refuse(name, value)

/** Reads the known names of `given` once each. `undefined` and `null` stand for the default. */
export function record(given, readers, unknown = unknownName(readers)) {
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

const unknownName = readers => name => refuseUnknown(name, Object.keys(readers).join(', '))

/** The fields of a layout. */
export const layoutFields = {
  timestampBits: integer,
  workerBits: integer,
  sequenceBits: integer,
  epochMs: integer,
  tickMs: integer,
  order: text,
}

const rangeEnds = { first: value => value, last: value => value }
const SOURCE = 'an object with the methods claim, renew and release, or a function for worker ids without leases'

/** A worker id, text, URLs, `{ first, last }`, a function, or an object that leases. */
export function worker(value, name) {
  if (isText(value) || typeof value === 'function') return value
  if (isRecord(value) && 'claim' in value) {
    const missing = ['claim', 'renew', 'release'].filter(method => typeof value[method] !== 'function')
    return missing.length > 0 ? refuseText(name, `an object without ${missing.join(' and ')}`, SOURCE) : value
  }
  if (Array.isArray(value) && value.length > 0 && value.every(isText)) return [...value]
  if (!isRecord(value)) return integer(value, name)
  const { first, last } = record(value, rangeEnds, () => refuse(name, value))
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) refuse(name, value)
  return { first, last }
}

export function headers(value, name) {
  const fits = isRecord(value) && Object.values(value).every(isText)
  return fits ? { ...value } : refuse(name, value, 'an object of strings by name')
}

const TIMES = 'a function that answers an array of Unix milliseconds, as integers, or a promise of it'

export const peerTimes = (value, name) => (typeof value === 'function' ? value : refuse(name, value, TIMES))
