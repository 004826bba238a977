'use strict'

// A tag of the addon: its ids in memory, and how its calls wait. However many they are, the addon sees one wait. See
// wait_queue.js.

const { guarded } = require('./guard.js')
const { longestRun, mostMs } = require('./limits.js')
const native = require('./native.js')
const { elapsed } = require('./time.js')

/** The queues with waiting calls, by the number of their tag. */
const waiting = new Map()

/** The addon's wait ends this long after the first call's, because each call's time is kept in the queue. */
const SLACK_MS = 1000

/** Where the addon writes a run, whose length the host decides; and the part of it that the last run of a tag had. */
const scratch = new BigInt64Array(longestRun)
let lastRun = scratch

class TagWaits {
  name
  #owner
  #handle
  #number = native.uniqueNumber()

  constructor(owner, name) {
    this.name = name
    this.#owner = owner
    this.#handle = guarded(() => native.segmentsTag(owner.handle, name, this.#number))
  }

  /** A run of ids that are issued one by one, to copy; null if none are in memory: then `need` ids are fetched. */
  run(need) {
    const taken = native.tagRun(this.#handle, scratch, need)
    if (taken === 0) return null
    if (lastRun.length !== taken) lastRun = scratch.subarray(0, taken)
    return lastRun
  }

  /** Fills the array from `from` on with ids in memory; returns where they end. */
  fillFromMemory(array, from, need) {
    const rest = from === 0 ? array : array.subarray(from)
    return from + native.tagFillFromMemory(this.#handle, rest, need)
  }

  /** Fills all of the array, after a wait if that is needed. */
  fill(array) {
    this.#call(() => native.tagFill(this.#handle, array))
  }

  /** The next id, after a wait. */
  nextAfterAWait() {
    return this.#call(() => native.tagNext(this.#handle))
  }

  putBack(ids) {
    native.tagPutBack(this.#handle, ids)
  }

  stats() {
    return this.#call(() => native.tagStats(this.#handle))
  }

  poll(need, { deadline }) {
    const left = Math.ceil(Math.max(deadline - elapsed(), 1))
    return native.tagPoll(this.#handle, Math.min(left + SLACK_MS, mostMs))
  }

  waits(queue) {
    waiting.set(this.#number, queue)
  }

  rests() {
    if (waiting.delete(this.#number)) native.tagStopWaiting(this.#handle)
  }

  #call(call) {
    try {
      return call()
    } catch (error) {
      throw this.explain(error)
    }
  }

  /** Converts an error of the addon. */
  explain(error) {
    return this.#owner.explain(error, this.name)
  }

  late(timeoutMs) {
    try {
      return native.tagLate(this.#handle, timeoutMs)
    } catch (error) {
      return this.explain(error)
    }
  }
}

module.exports = { TagWaits, waiting }
