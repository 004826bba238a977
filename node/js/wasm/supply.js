// The supply of ids of one `Segments`: the module decides, and the driver carries out.

import { Driver } from './driver.js'
import { wasm } from './module.js'
import { TagWaits } from './tag_waits.js'
import { elapsed } from './time.js'
import { UserFetch } from './user_fetch.js'

export class Supply {
  /** That of the module; 0 after the close. */
  handle
  /** The user's function, or null. */
  userFetch
  #driver
  #stops = new Map()
  /** The tags that were used, by name. */
  #tags = new Map()
  /** The queues with calls that wait, by the number of their tag. */
  #queues = new Map()

  /** `fetch`: the user's function, or null; `store`: that of the marks, or null. */
  constructor(handle, fetch, store) {
    this.handle = handle
    this.userFetch = fetch && new UserFetch(fetch)
    const host = { store, users: this.userFetch, lock: null, stops: this.#stops, thrown: null }
    const on = {
      wake: tag => this.#queues.get(tag)?.soon(),
      closed() {},
      idle() {},
      // The queues have timers of their own, which keep the process alive.
      awaited: () => false,
    }
    // Only durations are measured, and a clock that counts suspended time costs more.
    this.#driver = new Driver(handle, host, on, () => [0, elapsed()])
    this.soon()
  }

  /** Has done what the module wants now, but never within a call for ids. */
  soon() {
    this.#driver.soon()
  }

  tag(name) {
    const known = this.#tags.get(name)
    if (known) return known
    const tag = new TagWaits(this, name)
    this.#tags.set(name, tag)
    return tag
  }

  /** The queue of a tag is woken until it rests. */
  waits(tag, queue) {
    this.#queues.set(tag, queue)
  }

  /** Returns whether the module knows that it waited. */
  rests(tag) {
    return this.#queues.delete(tag) && this.handle !== 0
  }

  /** Its servers, `{ url, lastError }` each, and the tags that were used. Throws `closed`. */
  stats() {
    const count = wasm().call('supply_stats', this.handle)
    const texts = wasm().list()
    const servers = Array.from({ length: count }, (_, at) => ({ url: texts[2 * at], lastError: texts[2 * at + 1] }))
    return { servers, tags: texts.slice(2 * count).map(name => this.tag(name)) }
  }

  /** For ever. Ids in memory, and what still comes, are never issued; what the user's function threw is not kept. */
  close() {
    const { handle } = this
    // The numbers of freed handles are used again: a late call must not reach them.
    this.handle = 0
    this.#driver.end()
    for (const stop of this.#stops.values()) stop.abort()
    this.userFetch?.close()
    wasm().free(handle)
  }
}
