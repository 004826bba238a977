'use strict'

const { filled } = require('./arrays.js')
const { named, refuse } = require('./errors.js')
const { bindAtFirstUse, callOf, room } = require('./tag_calls.js')
const { TagWaits } = require('./tag_waits.js')
const { WaitQueue } = require('./wait_queue.js')
const native = require('./native.js')
const { GENERATION } = require('./generation.js')
const { LocalIds } = require('./local_ids.js')

/** Only segments make tags. */
const MADE = Symbol('made by Segments')

class Tag {
  /** `{ owner, handle, number, name }`: the owner is held, so that it is not closed by the collector while a tag is used. */
  #tag
  #localIds
  #queue

  constructor(made, tag) {
    if (made !== MADE) refuse('Tag', 'new Tag', 'the tag method of Segments')
    this.#tag = tag
    this.#localIds = new LocalIds(tag.handle)
    this.#queue = new WaitQueue(new TagWaits(tag), this.#localIds)
  }

  static #ours(self) {
    const ours = typeof self === 'object' && self !== null && #tag in self
    return ours ? self : refuse('this', self, 'a tag of Segments')
  }

  /** Puts back the ids that this thread holds, because the thread ends. */
  static giveBack(tag) {
    tag.#localIds.giveBack()
  }

  /** Likewise, for ever: the addon closes next. */
  static close(tag) {
    tag.#queue.giveBack()
    tag.#localIds.close()
  }

  /** Serves the waiting calls. */
  static pump(tag) {
    tag.#queue.pump()
  }

  next(options) {
    return Tag.#next(this, options)
  }

  nextString(options) {
    return Tag.#next(this, options).then(String)
  }

  nextNumber(options) {
    return Tag.#next(this, options).then(id => this.#exact(id))
  }

  static #next(given, options) {
    try {
      const self = Tag.#ours(given)
      if (options === undefined) {
        const local = self.#localIds
        if (local.at < local.end && GENERATION[0] === local.generation) return Promise.resolve(local.ids[local.at++])
      }
      const { timeoutMs = self.#tag.owner.timeoutMs, signal } = callOf(options)
      return self.#queue.one(timeoutMs, signal)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Ids without an end. */
  async *[Symbol.asyncIterator]() {
    for (;;) yield Tag.#next(this)
  }

  nextSync() {
    const self = Tag.#ours(this)
    const local = self.#localIds
    if (local.at < local.end && GENERATION[0] === local.generation) return local.ids[local.at++]
    return self.#atHand() ?? self.#nextAfterAWait()
  }

  // Apart: a function within `nextSync` would cost each call an object.
  #nextAfterAWait() {
    return this.#call(() => native.tagNext(this.#tag.handle))
  }

  tryNext() {
    const self = Tag.#ours(this)
    const local = self.#localIds
    if (local.at < local.end && GENERATION[0] === local.generation) return local.ids[local.at++]
    return self.#atHand()
  }

  take(n, options) {
    try {
      const self = Tag.#ours(this)
      const array = room(n)
      const { timeoutMs = self.#tag.owner.timeoutMs, signal } = callOf(options)
      if (n === 0 && !signal?.aborted) return Promise.resolve(self.#fill(array))
      return self.#queue.many(array, timeoutMs, signal)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  takeStrings(n, options) {
    return Tag.prototype.take.call(this, n, options).then(ids => Array.from(ids, String))
  }

  takeSync(n) {
    const self = Tag.#ours(this)
    return self.#fill(room(n))
  }

  fill(array) {
    const self = Tag.#ours(this)
    return filled(array, ids => self.#fill(ids))
  }

  stats() {
    const self = Tag.#ours(this)
    return self.#addLocal(self.#call(() => native.tagStats(self.#tag.handle)))
  }

  /** Adds the ids that this thread holds to the addon's statistics. */
  static addLocal(tag, stats) {
    return tag.#addLocal(stats)
  }

  #addLocal(stats) {
    const rest = this.#localIds.rest()
    if (rest) {
      const { current, next } = stats
      const end = rest.last + 1n
      const follows = current !== null && current.stride === rest.stride && rest.last + rest.stride === current.start
      stats.current = { start: rest.first, end: follows ? current.end : end, stride: rest.stride }
      if (!follows) stats.next = current ?? next
      stats.left += rest.count
    }
    stats.waits = this.#queue.waits
    stats.waiting = this.#queue.length
    if (stats.lastError) stats.lastError = named(stats.lastError)
    return stats
  }

  get name() {
    return Tag.#ours(this).#tag.name
  }

  /** An id in memory, after the waiting calls. */
  #atHand() {
    if (this.#queue.length > 0) {
      this.#queue.pump()
      if (this.#queue.length > 0) return undefined
    }
    const id = this.#call(() => this.#localIds.take(1))
    if (id === undefined) this.#queue.waits++
    return id
  }

  #fill(array) {
    if (array.length === 0) {
      // No id is needed, but a closed tag is an error.
      if (this.#tag.owner.closed) this.#call(() => native.tagStats(this.#tag.handle))
      return array
    }
    if (this.#queue.length > 0) this.#queue.pump()
    this.#localIds.fill(array, rest => this.#call(() => native.tagFill(this.#tag.handle, rest)))
    return array
  }

  #exact(id) {
    if (id <= Number.MAX_SAFE_INTEGER) return Number(id)
    this.#localIds.unshift([id])
    this.#queue.pump()
    return refuse('id', id, 'for nextNumber ids up to 2^53 - 1; use next or nextString')
  }

  #call(call) {
    try {
      return call()
    } catch (error) {
      throw this.#tag.owner.explain(error, this.#tag.name)
    }
  }
}

bindAtFirstUse(Tag.prototype, (tag, name, method) => method.bind(tag))

module.exports = { MADE, Tag }
