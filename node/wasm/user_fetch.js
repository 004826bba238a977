// The user callback that fetches segments, and its results.

import { fault, shown } from './errors.js'
import { isRecord } from './options.js'
import { failure, outside } from './user_calls.js'

const SEGMENT =
  'allowed: { start, end, stride? } of bigints or safe integers below 2^63, with end exclusive, or null for a tag ' +
  'that it does not know'
const ENDS = ['start', 'end', 'stride']

const fits = value => (typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value))

/** A record with its fields; only a plain object's are read again. */
function inspected(value) {
  if (!isRecord(value)) return shown(value)
  const properties = Object.entries(Object.getOwnPropertyDescriptors(value))
  const fields = properties.map(([name, { value }]) => `${name}: ${shown(value)}`)
  return `{ ${fields.slice(0, 8).join(', ')} }`
}

/** `[start, end, stride]`, or null for an unknown tag. */
function segment(value) {
  if (value === null || value === undefined) return null
  const read = {}
  const known = isRecord(value) && Object.keys(value).every(name => ENDS.includes(name))
  if (known) for (const name of ENDS) read[name] = value[name] ?? (name === 'stride' ? 1 : undefined)
  if (!known || !ENDS.every(name => fits(read[name]))) {
    throw fault('source_invalid', `fetch answered ${inspected(value)}; ${SEGMENT}`)
  }
  return ENDS.map(name => BigInt(read[name]))
}

/** Asks the user callback for a segment of a tag; rejected with a LeafidError. */
export async function askUser(fetch, tag, step, after) {
  try {
    return segment(await outside(() => fetch.call(undefined, tag, step, after)))
  } catch (error) {
    throw failure(error, 'segment_unavailable', 'the fetch of a segment')
  }
}
