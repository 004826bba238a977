'use strict'

// The ids of a tag that this thread has taken and not issued: a short run, so that one id costs a read of an array. The
// id during whose take a prefetch is due is always the first of its run.

const native = require('./native.js')

/**
 * Another number in a forked child: what its parent had taken is not issued there. V8 leaves its heap out of such
 * children, so that no JavaScript runs there; other engines may not.
 */
const GENERATION = native.forkGeneration()
/** Where the addon writes a run, whose length the host decides. */
const scratch = new BigInt64Array(native.limits().longestRun)
/** An array that is this many times as long as its ids need is replaced. */
const TOO_LONG = 8
const NONE = new BigInt64Array(0)

class LocalIds {
  ids = NONE
  /** The next one, and the end; they are of the process that had this number. */
  at = 0
  end = 0
  generation = 0
  /** The end, while calls wait that come first. */
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

  /** Fills the array from `from` on; answers up to where. */
  takeInto(array, from, need) {
    const held = this.#copyInto(array, from)
    if (from + held === array.length) return array.length
    const rest = from + held === 0 ? array : array.subarray(from + held)
    return from + held + native.tagFillFromMemory(this.#handle, rest, need - held)
  }

  /** Fills the array by a call of `fill` for what is not in memory here: all of it, or nothing. */
  fill(array, fill) {
    const held = Math.min(this.#count(), array.length)
    if (held < array.length) fill(held === 0 ? array : array.subarray(held))
    this.#copyInto(array, 0, held)
  }

  /** Takes ids back, to be issued before all others; not after `close`, when none is issued any more. */
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

  /** Calls to come find nothing in memory, until `show`: others were there first. */
  hide() {
    this.show()
    this.#hidden = this.end
    this.end = this.at
  }

  show() {
    this.end = Math.max(this.end, this.#hidden)
    this.#hidden = 0
  }

  /** Gives what is left back to the addon. */
  giveBack() {
    this.show()
    if (this.#count() > 0) native.tagPutBack(this.#handle, this.ids.subarray(this.at, this.end))
    this.at = this.end = 0
  }

  close() {
    this.giveBack()
    this.#closed = true
  }

  /** What is left: `{ first, last, stride, count }`, or null. */
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

  /** In a forked child what was taken is the parent's. */
  #enter() {
    if (GENERATION[0] === 0) GENERATION[0] = native.nextGeneration()
    if (this.generation !== GENERATION[0]) {
      this.generation = GENERATION[0]
      this.at = this.end = this.#hidden = 0
    }
  }
}

module.exports = { LocalIds, GENERATION }
