'use strict'

// How calls wait for ids of a tag: however many they are, the addon sees one wait. See wait_queue.js.

const native = require('./native.js')
const { elapsed } = require('./time.js')

/** The queues with waiting calls, by the number of their tag. */
const waiting = new Map()

/** The addon's wait ends this long after the first call's, because each call's time is kept in the queue. */
const SLACK_MS = 1000

class TagWaits {
  #tag

  /** `tag`: `{ owner, handle, number, name }`. */
  constructor(tag) {
    this.#tag = tag
  }

  poll(need, { deadline }) {
    return native.tagPoll(this.#tag.handle, Math.ceil(Math.max(deadline - elapsed(), 1)) + SLACK_MS)
  }

  waits(queue) {
    waiting.set(this.#tag.number, queue)
  }

  rests() {
    if (waiting.delete(this.#tag.number)) native.tagStopWaiting(this.#tag.handle)
  }

  progressed() {}

  explain(error) {
    return this.#tag.owner.explain(error, this.#tag.name)
  }

  late(timeoutMs) {
    try {
      return native.tagLate(this.#tag.handle, timeoutMs)
    } catch (error) {
      return this.explain(error)
    }
  }
}

module.exports = { TagWaits, waiting }
