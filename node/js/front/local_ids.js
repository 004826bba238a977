// The ids of a tag that this thread has taken and not issued: a run, so that one id costs a read of an array. A
// prefetch starts only with the first id of a run.

import { generation, isCurrent } from './generation.js'

/** An array that is this many times as long as its ids need is replaced. */
const TOO_LONG = 8
const NONE = new BigInt64Array(0)

export class LocalIds {
  ids = NONE
  /** The next one, and the end, in the process of this generation. */
  at = 0
  end = 0
  generation = 0
  /** The end, while earlier calls wait. */
  #hidden = 0
  #closed = false
  #tag

  /** `tag` is that of tag_waits.js. */
  constructor(tag) {
    this.#tag = tag
  }

  /** The next id; undefined when none is in memory: then a segment is fetched, for `need` ids. */
  take(need) {
    return this.at < this.end && isCurrent(this.generation) ? this.ids[this.at++] : this.refill(need)
  }

  /** As `take`, when the run is used up. */
  refill(need) {
    this.#enter()
    const run = this.#tag.run(need)
    if (run === null) return undefined
    const first = run[0]
    if (run.length > 1) {
      this.#hold(run)
      this.at = 1
    }
    return first
  }

  /** Fills the array from `from` on, and returns where the ids end. */
  takeInto(array, from, need) {
    const held = this.#copyInto(array, from)
    const at = from + held
    if (at === array.length) return at
    try {
      return this.#tag.fillFromMemory(array, at, need - held)
    } catch (error) {
      // The ids so far are issued. The next call gets the error.
      if (held > 0) return at
      throw error
    }
  }

  /** Fills all of the array, by a call of the tag for the ids that are not in memory here; or throws, and takes none. */
  fill(array) {
    const held = Math.min(this.#count(), array.length)
    if (held < array.length) this.#tag.fill(held === 0 ? array : array.subarray(held))
    this.#copyInto(array, 0, held)
  }

  /** Takes ids back, which are issued before all others. After `close` it does nothing. */
  unshift(ids) {
    if (this.#closed) return
    this.#enter()
    this.show()
    const rest = this.#rest()
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

  /** Puts the unused ids back into the core. */
  giveBack() {
    this.show()
    if (this.#count() > 0) this.#tag.putBack(this.#rest())
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
    return isCurrent(this.generation) ? Math.max(this.end, this.#hidden) - this.at : 0
  }

  #rest() {
    return this.ids.subarray(this.at, this.at + this.#count())
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
