// The results of user callbacks. Types are checked here, values by the core.

import { fault } from './errors.js'
import { isRecord, isText } from './readers.js'
import { inspected, refuse, refuseText } from './refuse.js'

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
      refuseText(JSON.stringify(name), 'an unknown field of a lease', Object.keys(LEASE).join(', '))
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

const ID = "as the claim's answer an integer from 0 to the layout's largest worker id, or null when none is free"
const LEASE_OR_NULL =
  "as the source's answer a lease { workerId, fromMs, untilMs, leaseMs?, token?, peerTimesMs? }, or null when none " +
  "is free"
const RENEWED = 'as the answer of renew { untilMs, leaseMs?, token? }, untilMs alone, or null for a lease that is lost'
const TIMES = 'as its answer an array of Unix milliseconds, as integers'

/** The result of a function that claims: a worker id, or null. */
export function workerId(value) {
  if (value === null || value === undefined) return null
  return Number.isSafeInteger(value) ? value : refuse('workerId', value, ID)
}

/** The result of an object's `claim`: a lease, or null. */
export function lease(value) {
  if (value === null || value === undefined) return null
  return isRecord(value) ? fields(value, ['workerId', 'fromMs', 'untilMs']) : refuse('claim', value, LEASE_OR_NULL)
}

/** The result of `renew`: a renewal, or null. A forgotten `return` does not count as a loss. */
export function renewal(value) {
  if (value === null) return null
  if (typeof value === 'number') return fields({ untilMs: value }, ['untilMs'])
  return isRecord(value) ? fields(value, ['untilMs']) : refuse('renew', value, RENEWED)
}

/** The readings of peers' clocks that the callback returned. */
export const times = value => (areTimes(value) ? value : refuse('peerTimes', value, TIMES))

const SEGMENT = 'allowed: { start, end, stride? } of bigints or safe integers, or null for an unknown tag'
const ENDS = ['start', 'end', 'stride']

const fits = value => (typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value))

/** The result of a function that fetches: `{ start, end, stride }` of bigints, or null for an unknown tag. */
export function segment(value) {
  if (value === null || value === undefined) return null
  const read = {}
  const known = isRecord(value) && Object.keys(value).every(name => ENDS.includes(name))
  if (known) for (const name of ENDS) read[name] = value[name] ?? (name === 'stride' ? 1 : undefined)
  if (!known || !ENDS.every(name => fits(read[name]))) {
    throw fault('source_invalid', `fetch answered ${inspected(value)}; ${SEGMENT}`)
  }
  return { start: BigInt(read.start), end: BigInt(read.end), stride: BigInt(read.stride) }
}
