'use strict'

// The ids of a tag that this thread has taken and not issued: a run, so that one id costs a read of an array. A
// prefetch starts only with the first id of a run.

const { GENERATION, generation } = require('./generation.js')
const native = require('./native.js')

/** Where the addon writes a run, whose length the host decides. */
const scratch = new BigInt64Array(native.limits().longestRun)
/** An array that is this many times as long as its ids need is replaced. */
const TOO_LONG = 8
const NONE = new BigInt64Array(0)

class LocalIds {
  ids = NONE
  /** The next one, and the end, in the process of this generation. */
  at = 0
  end = 0
  generation = 0
  /** The end, while earlier calls wait. */
  #hidden = 0
  #closed = false
  #handle

  constructor(handle) {
    this.#handle = handle
  }

  /** The next id; undefined when none is in memory: then a segment is fetched, for `need` ids. */
  take(need) {
    return this.at < this.end && GENERATION[0] === this.generation ? this.ids[this.at++] : this.refill(need)
  }

  /** As `take`, when the run is used up. */
  refill(need) {
    this.#enter()
    const taken = native.tagRun(this.#handle, scratch, need)
    if (taken === 0) return undefined
    const first = scratch[0]
    if (taken > 1) this.#hold(scratch.subarray(1, taken))
    return first
  }

  /** Fills the array from `from` on, and returns where the ids end. */
  takeInto(array, from, need) {
    const held = this.#copyInto(array, from)
    if (from + held === array.length) return array.length
    const rest = from + held === 0 ? array : array.subarray(from + held)
    return from + held + native.tagFillFromMemory(this.#handle, rest, need - held)
  }

  /** Fills the array, by a call of `fill` for the ids that are not in memory here: all of it, or nothing. */
  fill(array, fill) {
    const held = Math.min(this.#count(), array.length)
    if (held < array.length) fill(held === 0 ? array : array.subarray(held))
    this.#copyInto(array, 0, held)
  }

  /** Takes ids back, which are issued before all others. After `close` it does nothing. */
  unshift(ids) {
    if (this.#closed) return
    this.#enter()
    this.show()
    const rest = this.ids.subarray(this.at, this.at + this.#count())
    const all = new BigInt64Array(ids.length + rest.length)
    all.set(ids)
    all.set(rest, ids.length)
    this.#hold(all)
  }

  /** Hides the ids from later calls until `show`, because other calls came first. */
  hide() {
    this.show()
    this.#hidden = this.end
    this.end = this.at
  }

  show() {
    this.end = Math.max(this.end, this.#hidden)
    this.#hidden = 0
  }

  /** Puts the unused ids back into the addon. */
  giveBack() {
    this.show()
    if (this.#count() > 0) native.tagPutBack(this.#handle, this.ids.subarray(this.at, this.end))
    this.at = this.end = 0
  }

  close() {
    this.giveBack()
    this.#closed = true
  }

  /** The unused ids: `{ first, last, stride, count }`, or null. */
  rest() {
    const count = this.#count()
    if (count === 0) return null
    const [first, last] = [this.ids[this.at], this.ids[this.at + count - 1]]
    return { first, last, stride: count > 1 ? this.ids[this.at + 1] - first : 1n, count }
  }

  #count() {
    return GENERATION[0] === this.generation ? Math.max(this.end, this.#hidden) - this.at : 0
  }

  #copyInto(array, from, most = array.length - from) {
    const count = Math.min(this.#count(), most)
    if (count > 0) array.set(this.ids.subarray(this.at, this.at + count), from)
    this.at += count
    return count
  }

  #hold(ids) {
    if (this.ids.length < ids.length || this.ids.length > ids.length * TOO_LONG) this.ids = new BigInt64Array(ids.length)
    this.ids.set(ids)
    this.at = 0
    this.end = ids.length
  }

  /** Drops the parent's ids in a forked child. */
  #enter() {
    const current = generation()
    if (this.generation !== current) {
      this.generation = current
      this.at = this.end = this.#hidden = 0
    }
  }
}

module.exports = { LocalIds }
