'use strict'

// The user callback that fetches segments, and its results in the form that the addon takes. The host decides when it
// is called, and for which tags.

const { inspect } = require('node:util')
const { LeafidError, SHOWN } = require('./errors.js')
const { failure } = require('./failure.js')
const { isRecord } = require('./options.js')

const SEGMENT = 'allowed: { start, end, stride? } of bigints or safe integers below 2^63, with end exclusive, or null for a tag that it does not know'
const NOTHING = Object.freeze({})
const ENDS = ['start', 'end', 'stride']

const fits = value => (typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value))

function segment(value) {
  if (value === null || value === undefined) return NOTHING
  const read = {}
  const known = isRecord(value) && Object.keys(value).every(name => ENDS.includes(name))
  if (known) for (const name of ENDS) read[name] = value[name] ?? (name === 'stride' ? 1 : undefined)
  if (!known || !ENDS.every(name => fits(read[name]))) {
    throw new LeafidError('ERR_LEAFID_SOURCE_INVALID', `fetch answered ${inspect(value, SHOWN)}; ${SEGMENT}`)
  }
  return { start: BigInt(read.start), end: BigInt(read.end), stride: BigInt(read.stride) }
}

class UserFetch {
  #fetch
  /** The last failure, by tag: `{ text, error }`. */
  #failures = new Map()
  /** Likewise, of any tag: also the reason for other tags while the source is down. */
  #last = null

  constructor(fetch) {
    this.#fetch = fetch
  }

  /** Calls the user callback. It throws nothing, and calls `answer` once. */
  async ask({ tag, step, after }, answer) {
    let answered
    try {
      answered = segment(await this.#fetch.call(undefined, tag, step, after))
      this.#failures.delete(tag)
    } catch (error) {
      answered = failure(error)
      this.#last = { text: answered.failed, error }
      this.#failures.set(tag, this.#last)
    }
    answer(answered)
  }

  /** The failure whose text ends this message, if there is one. */
  failureIn(message, tag) {
    const failures = [this.#failures.get(tag), this.#last]
    return failures.find(failure => failure && String(message).endsWith(failure.text))
  }
}

module.exports = { UserFetch }
