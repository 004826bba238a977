import { plainOf } from './arrays.js'
import { fault } from './errors.js'
import { LocalIds } from './local_ids.js'
import { wasm } from './module.js'
import { bindAtFirstUse, callOf, room } from './tag_calls.js'
import { WaitQueue } from './wait_queue.js'

/** Only segments make tags. */
export const MADE = Symbol('made by Segments')

export class Tag {
  /** The owner is held, so that it is not closed by the collector while a tag is used. */
  #owner
  #state
  #localIds
  #queue

  constructor(made, owner, state) {
    if (made !== MADE) wasm().refuse('Tag', 'new Tag', 'the tag method of Segments')
    this.#owner = owner
    this.#state = state
    this.#localIds = new LocalIds(state)
    // The state lives as long as the segments: it must not hold the owner.
    const queue = new WaitQueue(state, this.#localIds)
    state.isWaiting = () => queue.length > 0
    state.changed = () => queue.soon()
    this.#queue = queue
  }

  /** Ends the waiting calls, and drops what this tag holds. */
  static close(tag) {
    tag.#localIds.close()
    tag.#queue.endAll(closed)
  }

  /** The methods that come most often, for a `this` that was checked when they were bound: the check costs 3 ns. */
  static #hot = {
    next(options) {
      try {
        if (options === undefined) {
          const local = this.#localIds
          if (local.at < local.end) return Promise.resolve(local.ids[local.at++])
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
      return local.at < local.end ? local.ids[local.at++] : (this.#atHand() ?? this.#wouldBlock())
    },
    tryNext() {
      const local = this.#localIds
      return local.at < local.end ? local.ids[local.at++] : this.#atHand()
    },
  }

  /** The method of this name for one tag. */
  static bound(tag, name, method) {
    return (#state in tag ? (Tag.#hot[name] ?? method) : method).bind(tag)
  }

  /** The tag behind `this`, which a caller can set to anything. */
  static #ours(self) {
    const ours = typeof self === 'object' && self !== null && #state in self
    return ours ? self : wasm().refuse('this', self, 'a tag of Segments')
  }

  next(options) {
    try {
      return Tag.#hot.next.call(Tag.#ours(this), options)
    } catch (error) {
      return Promise.reject(error)
    }
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

  nextString(options) {
    return Tag.prototype.next.call(this, options).then(String)
  }

  nextNumber(options) {
    return Tag.prototype.next.call(this, options).then(id => this.#exact(id))
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
    self.#fill(plainOf(array))
    return array
  }

  stats() {
    return Tag.stats(Tag.#ours(this))
  }

  static stats(tag) {
    tag.#owner.check()
    const stats = tag.#state.stats()
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
    return Tag.#ours(this).#state.name
  }

  /** An id in memory, after the waiting calls. */
  #atHand() {
    this.#owner.check()
    if (this.#queue.length > 0) {
      this.#queue.pump()
      if (this.#queue.length > 0) return undefined
    }
    const id = this.#localIds.take(1)
    if (id === undefined) this.#queue.waits++
    return id
  }

  #fill(array) {
    this.#owner.check()
    if (array.length === 0) return array
    if (this.#queue.length > 0) this.#queue.pump()
    const missing = this.#queue.length > 0 ? array.length : this.#localIds.fill(array)
    if (missing === 0) return array
    const { fetcher } = this.#state
    const { refused, awaited } = fetcher.want(this.#state, missing)
    if (refused && !awaited) throw refused
    this.#queue.waits++
    return this.#wouldBlock()
  }

  #wouldBlock() {
    const name = JSON.stringify(this.#state.name)
    const why = "its fetch needs this thread's event loop: return to it and call again, or await next"
    throw fault('would_block', `no id of the tag ${name} is at hand, and ${why}`)
  }

  #exact(id) {
    if (id <= Number.MAX_SAFE_INTEGER) return Number(id)
    this.#localIds.unshift([id])
    this.#queue.pump()
    return wasm().refuse('id', id, 'for nextNumber ids up to 2^53 - 1; use next or nextString')
  }
}

export const closed = () => fault('closed', 'the segments were closed; open them again')

bindAtFirstUse(Tag.prototype, Tag.bound)
