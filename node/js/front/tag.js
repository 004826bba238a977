import { filled, room } from './arrays.js'
import { isCurrent } from './generation.js'
import { LocalIds } from './local_ids.js'
import { refuse } from './refuse.js'
import { bindAtFirstUse, callOf } from './tag_calls.js'
import { WaitQueue } from './wait_queue.js'

/** Only segments make tags. */
export const MADE = Symbol('made by Segments')

export class Tag {
  /** It is held, so that it is not closed by the collector while a tag is used. */
  #owner
  #waits
  #localIds
  #queue

  /** `waits` is that of tag_waits.js. */
  constructor(made, owner, waits) {
    if (made !== MADE) refuse('Tag', 'new Tag', 'the tag method of Segments')
    this.#owner = owner
    this.#waits = waits
    this.#localIds = new LocalIds(waits)
    this.#queue = new WaitQueue(waits, this.#localIds)
  }

  /** Puts back the ids that this thread holds, because the thread ends. */
  static giveBack(tag) {
    tag.#localIds.giveBack()
  }

  /** Likewise, for ever: its owner closes next. */
  static close(tag) {
    tag.#queue.giveBack()
    tag.#localIds.close()
  }

  /** Serves the waiting calls. */
  static pump(tag) {
    tag.#queue.pump()
  }

  /** The methods that come most often, for a `this` that was checked when they were bound: the check costs 3 ns. */
  static #hot = {
    next(options) {
      try {
        if (options === undefined) {
          const local = this.#localIds
          if (local.at < local.end && isCurrent(local.generation)) return Promise.resolve(local.ids[local.at++])
        }
        const { timeoutMs = this.#owner.timeoutMs, signal } = callOf(options)
        this.#owner.check()
        return this.#queue.one(timeoutMs, signal, this.#owner)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    nextSync() {
      const local = this.#localIds
      if (local.at < local.end && isCurrent(local.generation)) return local.ids[local.at++]
      return this.#atHand() ?? this.#waits.nextAfterAWait()
    },
    tryNext() {
      const local = this.#localIds
      return local.at < local.end && isCurrent(local.generation) ? local.ids[local.at++] : this.#atHand()
    },
  }

  /** The method of this name for one tag. */
  static bound(tag, name, method) {
    return (#waits in tag ? (Tag.#hot[name] ?? method) : method).bind(tag)
  }

  /** The tag behind `this`, which a caller can set to anything. */
  static #ours(self) {
    const ours = typeof self === 'object' && self !== null && #waits in self
    return ours ? self : refuse('this', self, 'a tag of Segments')
  }

  next(options) {
    try {
      return Tag.#hot.next.call(Tag.#ours(this), options)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  nextString(options) {
    return Tag.prototype.next.call(this, options).then(String)
  }

  nextNumber(options) {
    return Tag.prototype.next.call(this, options).then(id => this.#exact(id))
  }

  /** Ids without an end. */
  async *[Symbol.asyncIterator]() {
    for (;;) yield Tag.prototype.next.call(this)
  }

  nextSync() {
    return Tag.#hot.nextSync.call(Tag.#ours(this))
  }

  tryNext() {
    return Tag.#hot.tryNext.call(Tag.#ours(this))
  }

  take(n, options) {
    try {
      const self = Tag.#ours(this)
      const array = room(n)
      const { timeoutMs = self.#owner.timeoutMs, signal } = callOf(options)
      self.#owner.check()
      if (n === 0 && !signal?.aborted) return Promise.resolve(array)
      return self.#queue.many(array, timeoutMs, signal, self.#owner)
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
    return Tag.withLocal(self, self.#waits.stats())
  }

  /** Adds the ids that this thread holds to the core's statistics. */
  static withLocal(tag, stats) {
    const rest = tag.#localIds.rest()
    if (rest) {
      const { current, next } = stats
      const end = rest.last + 1n
      const follows = current !== null && current.stride === rest.stride && rest.last + rest.stride === current.start
      stats.current = { start: rest.first, end: follows ? current.end : end, stride: rest.stride }
      if (!follows) stats.next = current ?? next
      stats.left += rest.count
    }
    stats.waits = tag.#queue.waits
    stats.waiting = tag.#queue.length
    return stats
  }

  get name() {
    return Tag.#ours(this).#waits.name
  }

  /** An id in memory, after the waiting calls. */
  #atHand() {
    this.#owner.check()
    if (this.#queue.length > 0) {
      this.#queue.pump()
      if (this.#queue.length > 0) return undefined
    }
    const id = this.#taken()
    if (id === undefined) this.#queue.waits++
    return id
  }

  #taken() {
    try {
      return this.#localIds.take(1)
    } catch (error) {
      throw this.#waits.explain(error)
    }
  }

  #fill(array) {
    this.#owner.check()
    if (array.length === 0) return array
    if (this.#queue.length > 0) this.#queue.pump()
    try {
      this.#localIds.fill(array)
    } catch (error) {
      this.#queue.waits++
      throw error
    }
    return array
  }

  #exact(id) {
    if (id <= Number.MAX_SAFE_INTEGER) return Number(id)
    this.#localIds.unshift([id])
    this.#queue.pump()
    return refuse('id', id, 'for nextNumber ids up to 2^53 - 1; use next or nextString')
  }
}

bindAtFirstUse(Tag.prototype, Tag.bound)
