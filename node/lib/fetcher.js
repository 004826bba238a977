'use strict'

// The user's function that gives segments, as the segments that it was given to ask it: a few calls at a time, and while
// it fails hardly any, however many tags there are.

const { inspect } = require('node:util')
const { failure } = require('./answers.js')
const { LeafidError, SHOWN } = require('./errors.js')
const { isRecord } = require('./options.js')
const { clearTimeout, now, setTimeout } = require('./time.js')

/** Calls under way at first, and once it is seen to answer. */
const [FEW, MANY] = [4, 16]
/** A call that takes longer is no longer counted: other tags do not wait for it. */
const SLOW_MS = 1000
/** After so many failures in a row, of any tags, calls have failed as well that come within so many milliseconds. */
const [DOWN, RESTS_MS] = [3, 200]

const SEGMENT = 'allowed: { start, end, stride? } of bigints or safe integers below 2^63, with end exclusive, or null for a tag that it does not know'
const NOTHING = Object.freeze({})
const ENDS = ['start', 'end', 'stride']

const fits = value => (typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value))

/** What the user's function answered, as the addon takes it. */
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

class Fetcher {
  /** Why it failed last, by tag: `{ text, error }`. */
  failures = new Map()
  #fetch
  /** Those that wait to be called. */
  #queue = []
  #underWay = 0
  #most = FEW
  #failed = 0
  /** The last failure, and until when it is that of others. */
  #failure = null
  #restsUntil = 0

  constructor(fetch) {
    this.#fetch = fetch
  }

  /** Asks for a segment when it is time to: `{ tag, step, after, answer }`. Nothing is thrown; `answer` is called once. */
  ask(call) {
    this.#queue.push(call)
    this.#next()
  }

  #next() {
    while (this.#queue.length > 0) {
      if (this.#restsUntil > now()) this.#fail(this.#queue.shift())
      else if (this.#underWay < this.#most) this.#call(this.#queue.shift())
      else return
    }
  }

  async #call(call) {
    this.#underWay++
    let counted = true
    const done = () => {
      if (counted) this.#underWay--
      counted = false
    }
    const slow = setTimeout(() => {
      done()
      this.#next()
    }, SLOW_MS).unref()
    try {
      const answer = segment(await this.#fetch.call(undefined, call.tag, call.step, call.after))
      this.#failed = this.#restsUntil = 0
      this.#most = Math.min(this.#most + 1, MANY)
      this.failures.delete(call.tag)
      call.answer(answer)
    } catch (error) {
      this.#most = FEW
      this.#failure = { answer: failure(error), error, tag: call.tag }
      // With a code it is an answer to one question.
      this.#failed = this.#failure.answer.code === undefined ? this.#failed + 1 : 0
      if (this.#failed >= DOWN) this.#restsUntil = now() + RESTS_MS
      this.#fail(call)
    }
    clearTimeout(slow)
    done()
    this.#next()
  }

  #fail({ tag, answer }) {
    const { answer: last, error, tag: of } = this.#failure
    const instead = `it was not called, for it failed ${this.#failed} times in a row, last for the tag ${JSON.stringify(of)}: `
    const failed = of === tag ? last : { ...last, failed: instead + last.failed }
    this.failures.set(tag, { text: failed.failed, error })
    answer(failed)
  }
}

module.exports = { Fetcher }
