'use strict'

// The results of user callbacks, in the form that the addon takes. Types are checked here, values by the host.

const { LeafidError, guarded, refuse } = require('./errors.js')
const native = require('./native.js')
const { isRecord } = require('./options.js')

const isText = value => typeof value === 'string'
const areTimes = value => Array.isArray(value) && value.every(Number.isSafeInteger)
const LEASE = {
  workerId: [Number.isSafeInteger, "an integer from 0 to the layout's largest worker id"],
  fromMs: [Number.isSafeInteger, 'Unix milliseconds, an integer'],
  untilMs: [Number.isSafeInteger, 'Unix milliseconds, an integer'],
  leaseMs: [Number.isSafeInteger, 'milliseconds, an integer, or none'],
  token: [isText, 'a string, or none'],
  peerTimesMs: [areTimes, 'an array of Unix milliseconds, as integers, or none'],
}

/** The fields of a lease that are there, read once each; `needed` must be. */
function fields(value, needed) {
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(LEASE, name)) {
      const names = Object.keys(LEASE).join(', ')
      guarded(() => native.refuse(JSON.stringify(name), 'an unknown field of a lease', names))
    }
  }
  const read = {}
  for (const [name, [fits, allowed]] of Object.entries(LEASE)) {
    const field = value[name]
    const absent = field === undefined || field === null
    if (absent ? needed.includes(name) : !fits(field)) refuse(name, field, allowed)
    if (!absent) read[name] = field
  }
  return read
}

const NOTHING = Object.freeze({})
const ID = "as the claim's answer an integer from 0 to the layout's largest worker id, or null when none is free"
const LEASE_OR_NULL = "as the source's answer a lease { workerId, fromMs, untilMs, leaseMs?, token?, peerTimesMs? }, or null when none is free"
const RENEWED = 'as the answer of renew { untilMs, leaseMs?, token? }, untilMs alone, or null for a lease that is lost'

/** The result of a function that claims. */
function workerId(value) {
  if (value === null || value === undefined) return NOTHING
  return Number.isSafeInteger(value) ? { workerId: value } : refuse('workerId', value, ID)
}

/** The result of an object's `claim`. */
function lease(value) {
  if (value === null || value === undefined) return NOTHING
  return isRecord(value) ? { lease: fields(value, ['workerId', 'fromMs', 'untilMs']) } : refuse('claim', value, LEASE_OR_NULL)
}

/** The result of `renew`. A forgotten `return` does not count as a loss. */
function renewal(value) {
  if (value === null) return NOTHING
  if (typeof value === 'number') return { renewal: fields({ untilMs: value }, ['untilMs']) }
  if (!isRecord(value)) return refuse('renew', value, RENEWED)
  const { workerId, untilMs, leaseMs, token } = fields(value, ['untilMs'])
  return { renewal: { workerId, untilMs, leaseMs, token } }
}

/** The value that was thrown, or that a promise was rejected with. A LeafidError keeps its code. */
function failure(error) {
  if (error instanceof LeafidError) {
    return { failed: error.message, code: error.code.slice('ERR_LEAFID_'.length).toLowerCase() }
  }
  let failed = 'it threw a value without a text'
  try {
    failed = String(error instanceof Error && error.message ? error.message : error)
  } catch {
    // An object without a prototype, or one whose toString throws.
  }
  return { failed }
}

module.exports = { failure, lease, renewal, workerId }
