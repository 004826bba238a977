// A tag of the module's supply: its ids in memory, and how its calls wait. However many they are, the module sees one
// wait. See wait_queue.js.

import { LeafidError } from './errors.js'
import { EMPTY, wasm } from './module.js'
import { elapsed } from './time.js'

/** The most ids of one call of the module. */
const AT_ONCE = 4096

export class TagWaits {
  #supply
  #number

  /** It lives as long as the supply: it must not hold the segments. */
  constructor(supply, name) {
    this.#supply = supply
    this.name = name
    this.#number = wasm().call('supply_tag', supply.handle, name)
  }

  /**
   * A run of ids that are issued one by one, as a view to copy; null if none are in memory: then a fetch for `need` ids is
   * asked for. Throws what the source says of the tag if no fetch is due.
   */
  run(need) {
    return this.#taken(0, need)
  }

  /** Fills the array from `from` on with ids in memory; returns where they end. */
  fillFromMemory(array, from, need) {
    let at = from
    while (at < array.length) {
      let ids
      try {
        ids = this.#taken(Math.min(array.length - at, AT_ONCE), Math.max(need - (at - from), 1))
      } catch (error) {
        // The ids so far are issued. The next call gets the error.
        if (at > from) break
        throw error
      }
      if (ids === null) break
      array.set(ids, at)
      at += ids.length
    }
    return at
  }

  #taken(most, need) {
    const count = this.#took((exports, supply, tag) => exports.supply_run(supply, tag, most, need, elapsed()))
    return count === EMPTY ? null : wasm().ids(count)
  }

  /** What an export returned that takes ids. */
  #took(call) {
    const module = wasm()
    const supply = this.#supply
    let count = EMPTY
    try {
      count = module.checked(call(module.exports, supply.handle, this.#number))
    } catch (error) {
      throw this.explain(module.trapped(error))
    } finally {
      if (count === EMPTY || module.number() === 1) supply.soon()
    }
    return count
  }

  /** Fills all of the array with ids in memory, or throws `would_block`, and takes none. */
  fill(array) {
    const module = wasm()
    let count = this.#took((exports, supply, tag) => exports.supply_take(supply, tag, array.length, elapsed()))
    for (let at = 0; ; count = module.call('supply_taken', this.#supply.handle)) {
      array.set(module.ids(count), at)
      at += count
      if (at === array.length) return
    }
  }

  /** As a call that cannot wait finds it: throws `would_block`, if no id came meanwhile. */
  nextAfterAWait() {
    const one = new BigInt64Array(1)
    this.fill(one)
    return one[0]
  }

  /** What is left is never issued. */
  putBack() {}

  #call(name, ...given) {
    try {
      return wasm().call(name, this.#supply.handle, this.#number, ...given, elapsed())
    } catch (error) {
      throw this.explain(error)
    }
  }

  poll() {
    const mayHave = this.#call('supply_wait', true)
    this.#supply.soon()
    return mayHave === 1
  }

  waits(queue) {
    this.#supply.waits(this.#number, queue)
  }

  rests() {
    if (!this.#supply.rests(this.#number)) return
    this.#call('supply_wait', false)
    this.#supply.soon()
  }

  /** The error for one call. If the user's function failed, what it threw is the cause. */
  explain(error) {
    if (!(error instanceof LeafidError)) return error
    const one = new LeafidError(error.code, error.message)
    const theirs = this.#supply.userFetch?.failureIn(error.message, this.name)
    if (theirs) one.cause = theirs.error
    else if ('cause' in error) one.cause = error.cause
    return one
  }

  late(timeoutMs) {
    try {
      return this.#call('supply_late', timeoutMs)
    } catch (error) {
      return error
    }
  }

  stats() {
    return this.state().stats
  }

  /** The state in the form of `stats`, without what calls hold; and how often its fetches had each outcome. */
  state() {
    const module = wasm()
    const count = this.#call('supply_tag_stats')
    const [left, ids, step, fetching, fetches, failures, waits, waiting] = module.numbers(8)
    const segments = [...module.ids(3 * count)]
    const [current, next] = [0, 3].map(at => {
      const [start, end, stride] = segments.slice(at)
      return start === undefined ? null : { start, end, stride }
    })
    const [lastError, ...texts] = module.list()
    const outcomes = texts.flatMap((outcome, at) => (at % 2 ? [] : [[outcome, Number(texts[at + 1])]]))
    const stats = {
      tag: this.name, current, next, left, ids, step, fetching: fetching === 1, fetches, failures, waits, waiting, lastError,
    }
    return { stats, outcomes }
  }
}
