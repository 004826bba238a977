// The calls that wait for ids of one tag, first come, first served. However many they are, the source gets one request
// for all of them. When to fetch and how many ids, the core decides: here are only the promises of the calls and the
// event loop's timer of each.
//
// What the queue needs of a tag:
//   poll(need, head)   asks for ids, for calls that need so many of them: whether there may be some at once. Throws the
//                      error of every call. `head` is the first call
//   waits(queue)       calls wait from now on
//   rests()            no call waits any more
//   explain(error)     an error of `poll` or of taking ids, for one call
//   late(timeoutMs)    the error of a call whose time is over

import { clearTimeout, elapsed, setTimeout, soon } from './time.js'

/** Timers may come a little early. */
const EARLY_MS = 1

export class WaitQueue {
  #tag
  #localIds
  #waiters = new Set()
  /** The signals that may abort calls: `{ waiters, onAbort }` each; null without one. */
  #signals = null
  /** The number of ids that the calls wait for. */
  #need = 0
  #scheduled = false
  #isPumping = false
  #timer = null
  /** When the timer runs, and when the first call's time is over, or earlier. */
  #due = Infinity
  #soonest = Infinity
  /** The number of calls, the last one of which it is known whether it waited, and the number that did. */
  #joined = 0
  #known = 0
  waits = 0

  constructor(tag, localIds) {
    this.#tag = tag
    this.#localIds = localIds
  }

  get length() {
    return this.#waiters.size
  }

  /** A call for one id. `owner` is held while it waits, so that it is not closed by the collector. */
  one(timeoutMs, signal, owner) {
    return this.#join(null, 1, timeoutMs, signal, owner)
  }

  /** A call that fills the array. */
  many(array, timeoutMs, signal, owner) {
    return this.#join(array, array.length, timeoutMs, signal, owner)
  }

  #join(array, need, timeoutMs, signal, owner) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const deadline = elapsed() + timeoutMs
      const waiter = { number: ++this.#joined, array, filled: 0, resolve, reject, timeoutMs, deadline, signal, owner }
      if (signal) this.#listen(signal, waiter)
      this.#waiters.add(waiter)
      this.#need += need
      this.#soonest = Math.min(this.#soonest, deadline)
      // All calls of this turn of the event loop are in the queue when the source is asked.
      this.#localIds.hide()
      this.soon()
    })
  }

  /** As `pump`, but not now. */
  soon() {
    if (this.#scheduled) return
    this.#scheduled = true
    soon(() => {
      this.#scheduled = false
      this.pump()
    })
  }

  /** A signal has one listener for all its calls. */
  #listen(signal, waiter) {
    const known = this.#signals?.get(signal)
    if (known) {
      known.waiters.add(waiter)
      return
    }
    const waiters = new Set([waiter])
    const onAbort = () => {
      for (const each of waiters) this.#reject(each, signal.reason)
      this.pump()
    }
    this.#signals ??= new Map()
    this.#signals.set(signal, { waiters, onAbort })
    signal.addEventListener('abort', onAbort, { once: true })
  }

  #unlisten(signal, waiter) {
    const { waiters, onAbort } = this.#signals.get(signal)
    waiters.delete(waiter)
    if (waiters.size > 0) return
    this.#signals.delete(signal)
    if (this.#signals.size === 0) this.#signals = null
    signal.removeEventListener('abort', onAbort)
  }

  /** Serves the waiting calls from the ids in memory. */
  pump() {
    this.#localIds.show()
    if (this.#waiters.size === 0 || this.#isPumping) return
    this.#isPumping = true
    try {
      while (!this.#serve()) {
        const [head] = this.#waiters
        if (this.#tag.poll(this.#need, head)) continue
        this.#wait(head)
        return
      }
      this.#rest()
    } catch (error) {
      // The error of every call: the source does not know the tag, or it is closed.
      this.endAll(() => this.#tag.explain(error))
    } finally {
      this.#isPumping = false
    }
  }

  /** Ends all calls with an error. */
  endAll(error) {
    for (const waiter of this.#waiters) this.#reject(waiter, error())
  }

  /** Puts back the ids that calls have so far, before they fail because the tag is closed. */
  giveBack() {
    for (const waiter of this.#waiters) this.#empty(waiter)
  }

  /** Returns whether no call waits any more. */
  #serve() {
    const local = this.#localIds
    for (const waiter of this.#waiters) {
      if (waiter.array === null) {
        const id = local.take(this.#need)
        if (id === undefined) return false
        this.#leave(waiter, 1)
        waiter.resolve(id)
      } else {
        const filled = local.takeInto(waiter.array, waiter.filled, this.#need)
        if (filled > waiter.filled) {
          // A call that makes progress gets more time.
          waiter.deadline = elapsed() + waiter.timeoutMs
        }
        this.#need -= filled - waiter.filled
        waiter.filled = filled
        if (filled < waiter.array.length) return false
        this.#leave(waiter, 0)
        waiter.resolve(waiter.array)
      }
    }
    return true
  }

  #leave(waiter, need) {
    this.#waiters.delete(waiter)
    this.#need -= need
    if (waiter.signal) this.#unlisten(waiter.signal, waiter)
  }

  #empty(waiter) {
    if (waiter.filled === 0) return
    this.#localIds.unshift(waiter.array.subarray(0, waiter.filled))
    this.#need += waiter.filled
    waiter.filled = 0
  }

  /** Ends a call with an error, and puts back its ids for the next call. */
  #reject(waiter, error) {
    this.#empty(waiter)
    this.#leave(waiter, waiter.array === null ? 1 : waiter.array.length)
    waiter.reject(error)
    if (this.#waiters.size === 0) this.#rest()
  }

  #wait(head) {
    this.waits += this.#joined - Math.max(this.#known, head.number - 1)
    this.#known = this.#joined
    this.#tag.waits(this)
    if (this.#soonest >= this.#due) return
    clearTimeout(this.#timer)
    this.#due = this.#soonest
    // It keeps the process alive, so that each awaited call ends with an id or an error.
    this.#timer = setTimeout(() => this.#late(), Math.max(this.#due - elapsed(), 0))
  }

  #rest() {
    this.#soonest = Infinity
    clearTimeout(this.#timer)
    this.#timer = null
    this.#due = Infinity
    this.#tag.rests()
  }

  /** Ends calls whose time is over, after their ids were served: the event loop may have been too busy for that. */
  #late() {
    this.pump()
    const from = elapsed() + EARLY_MS
    this.#due = this.#soonest = Infinity
    for (const waiter of this.#waiters) {
      if (waiter.deadline > from) this.#soonest = Math.min(this.#soonest, waiter.deadline)
      else this.#reject(waiter, this.#tag.late(waiter.timeoutMs))
    }
    this.pump()
  }
}
