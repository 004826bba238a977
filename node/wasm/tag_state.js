// The ids of a tag in memory: its buffer, the segments that wait for room in it, and the state of its fetches.

import { nameOf } from './errors.js'
import { EMPTY, wasm } from './module.js'
import { elapsed } from './time.js'

/** The most ids of one call of the module. */
const AT_ONCE = 4096

const called = call => (module, buffer, most) => {
  try {
    return module.checked(call(module.exports, buffer, most))
  } catch (error) {
    throw module.trapped(error)
  }
}
/** The ways to take ids: a run that is issued one by one, and many at once. */
const RUN = called((exports, buffer) => exports.buffer_run(buffer, elapsed()))
const RESERVE = called((exports, buffer, most) => exports.buffer_reserve(buffer, most, 0))

export class TagState {
  /** Its last fetch's error, and whether the source refuses the tag until somebody changes something. */
  error = null
  isRefused = false
  /** When the source was asked, while it is asked. */
  askedAt = null
  /** When its back-off ends, if a timer waits for that. */
  wakesAt = null
  /** Whether calls wait for ids. */
  isWaiting = () => false
  /** Called when something changed for which calls wait. */
  changed = () => {}
  #stock
  /** The number of ids from the source, and the largest number of issued ones that was told. */
  #received = 0
  #issued = 0
  /** How often fetches failed, by the error's code; null if none did. */
  #failures = null
  /** There are at least this many ids in memory. */
  #least = 0
  /** The number of fetches that had begun when the wait of the first call began: their errors may be too old for it. */
  #begun = null

  /** `settings.stock`: `{ most, adaptive }` of a source that gives one id at a time, or null. */
  constructor(number, name, fetcher) {
    const module = wasm()
    const { firstStep, adaptive, prefetch, stock } = fetcher.settings
    this.number = number
    this.name = name
    this.fetcher = fetcher
    this.buffer = module.call('buffer_new')
    this.pending = module.call('pending_new')
    this.fetch = module.call('fetch_new', firstStep, adaptive)
    this.prefetch = prefetch
    this.#stock = stock
  }

  /** Ends it. Its ids are never issued. */
  close() {
    const handles = [this.buffer, this.pending, this.fetch]
    // The numbers of freed handles are used again: a late call must not reach them.
    this.buffer = this.pending = this.fetch = 0
    wasm().free(...handles)
  }

  /** Moves segments into the buffer while there is room; returns whether it moved any. */
  refill() {
    const { most = NaN, adaptive = false } = this.#stock ?? {}
    return wasm().call('buffer_refill', this.buffer, this.pending, this.prefetch, most, adaptive) > 0
  }

  /** Adds the segments of a source, which its guard has accepted. */
  add(segments) {
    for (const [start, end, stride] of segments) {
      wasm().call('pending_push', this.pending, start, end, stride, 0)
      this.#received += Number((end - start + stride - 1n) / stride)
    }
  }

  /** Counts a fetch that failed. */
  count({ code }) {
    this.#failures ??= new Map()
    this.#failures.set(code, (this.#failures.get(code) ?? 0) + 1)
  }

  /** The number of fetches that ended with each outcome: `ok`, or an error's code. */
  outcomes() {
    const failures = [...(this.#failures ?? [])].map(([code, count]) => [nameOf(code), count])
    const ok = failures.reduce((left, [, count]) => left - count, this.fetches().ended)
    return ok > 0 ? [...failures, ['ok', ok]] : failures
  }

  /** `{ left, taken, wants, isLow }`: `wants` is how many ids a stock needs, 0 for another source, NaN if none are. */
  look() {
    const module = wasm()
    module.call('buffer_state', this.buffer)
    const [unused, taken, , due, low] = module.numbers(5)
    const left = unused + module.call('pending_ids', this.pending)
    if (!this.#stock) return { left, taken, wants: due ? 0 : NaN, isLow: low === 1 }
    const { most, adaptive } = this.#stock
    const wants = module.maybe('stock_wants', most, adaptive, this.prefetch, left, taken) ?? NaN
    const target = module.call('stock_target', most, adaptive, taken)
    return { left, taken, wants, isLow: left < Math.ceil(target / 10), target }
  }

  /** `{ step, isFetching, isAsked, ended, failures, hasFailed }` */
  fetches() {
    const module = wasm()
    module.call('fetch_state', this.fetch)
    const [step, isFetching, isAsked, ended, failures, hasFailed] = module.numbers(6)
    return { step, isFetching: isFetching === 1, isAsked: isAsked === 1, ended, failures, hasFailed: hasFailed === 1 }
  }

  /** How many ids are missing in memory for this number; 0 if there are enough. */
  missing(count) {
    if (this.#least < count) this.#least = this.look().left
    return Math.max(count - this.#least, 0)
  }

  /**
   * A run of ids that are issued one by one, as a view to copy; null if none are in memory: then a fetch for `need` ids
   * is wanted. Throws what the source says of the tag if no fetch is due.
   */
  run(need) {
    return this.#taken(need, RUN, 0)
  }

  /** Fills the array from `from` on with ids in memory; returns where they end. */
  fillFromMemory(array, from, need) {
    let at = from
    while (at < array.length) {
      const most = Math.min(array.length - at, AT_ONCE)
      let ids
      try {
        ids = this.#taken(Math.max(need - (at - from), 1), RESERVE, most)
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

  #taken(need, way, most) {
    const module = wasm()
    for (let tried = false; ; tried = true) {
      const count = way(module, this.buffer, most)
      if (count !== EMPTY) {
        this.#least -= count
        const ids = module.ids(count)
        if (module.number() === 0) return ids
        const copy = ids.slice()
        this.fetcher.want(this, null)
        return copy
      }
      if (tried) return null
      const { refilled, refused, awaited } = this.fetcher.want(this, need)
      if (refused && !awaited) throw refused
      if (!refilled) return null
    }
  }

  // What a queue of waiting calls needs: see wait_queue.js.

  poll(need) {
    const { refilled, refused, awaited, ended, begun } = this.fetcher.want(this, need)
    if (refilled) return true
    const isFresh = this.#begun !== null && ended > this.#begun
    if (refused && (isFresh || !awaited)) throw refused
    this.#begun ??= begun
    return false
  }

  waits() {}

  rests() {
    this.#begun = null
  }

  progressed() {
    this.#begun = null
  }

  explain(error) {
    return error
  }

  late(timeoutMs) {
    return this.fetcher.late(this, timeoutMs)
  }

  /** The state in the form of `stats`, without what calls hold. */
  stats() {
    const module = wasm()
    const { step, isFetching, ended, failures } = this.fetches()
    const { left, target } = this.look()
    const count = Math.min(module.call('buffer_segments', this.buffer, this.pending), 2)
    const ids = module.ids(3 * count)
    const [current, next] = [0, 1].map(at =>
      at < count ? { start: ids[3 * at], end: ids[3 * at + 1], stride: ids[3 * at + 2] } : null,
    )
    const lastError = this.error?.message ?? null
    this.#issued = Math.max(this.#issued, this.#received - left)
    return {
      tag: this.name, current, next, left, ids: this.#issued, step: target ?? step, fetching: isFetching,
      fetches: ended, failures, waits: 0, waiting: 0, lastError,
    }
  }
}
