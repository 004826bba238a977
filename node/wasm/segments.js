import { random64, wasm } from './module.js'
import { platform } from './platform.js'
import { segmentsOptions } from './segment_options.js'
import { Supply } from './supply.js'
import { MADE, Tag } from './tag.js'

const BOUND = ['tag', 'stats', 'close']

/** The state that segments and their tags share. */
class Owner {
  /** The tags, by name. */
  tags = new Map()

  constructor({ fetch, json, stateDir, storage }) {
    const module = wasm()
    const handle = module.call('supply_new', json, random64())
    const [timeoutMs, persist] = module.numbers(2)
    const [name, source] = module.text().split('\n')
    Object.assign(this, { timeoutMs, name, source })
    try {
      this.store = persist === 1 ? platform().marks({ name, stateDir, storage, persist: true }) : null
      module.call('supply_place', handle, this.store?.key ?? '')
    } catch (error) {
      module.free(handle)
      throw error
    }
    this.supply = new Supply(handle, fetch, this.store)
    this.ref = new WeakRef(this)
    open.add(this.ref)
    collected.register(this, { supply: this.supply, ref: this.ref }, this)
  }

  get stateDir() {
    return this.store?.place ?? ''
  }

  /** `servers`, and of every tag that was used its `stats` and `outcomes`. */
  stats() {
    const { servers, tags } = this.supply.stats()
    const all = tags.map(each => {
      const { stats, outcomes } = each.stats()
      const tag = this.tags.get(each.name)
      return { stats: tag ? Tag.withLocal(tag, stats) : stats, outcomes }
    })
    return { servers, tags: all }
  }

  /** Throws once it is closed. */
  check() {
    if (!this.supply.handle) this.supply.stats()
  }

  close() {
    if (!this.supply.handle) return
    collected.unregister(this)
    open.delete(this.ref)
    this.supply.close()
    for (const tag of this.tags.values()) Tag.close(tag)
  }
}

/** The open ones, weakly. */
const open = new Set()

/** The tags of all open segments, for metrics: `{ labels, outcomes, stats }` each. */
export function openTags() {
  const owners = [...open].map(ref => ref.deref()).filter(owner => owner)
  return owners.flatMap(owner => {
    const { name, source, stateDir: state_dir } = owner
    return owner.stats().tags.map(({ stats, outcomes }) => {
      return { labels: { name, source, state_dir, tag: stats.tag }, outcomes, stats }
    })
  })
}

/** Closes the segments that are no longer used. */
const collected = new FinalizationRegistry(({ supply, ref }) => {
  open.delete(ref)
  supply.close()
})

export class Segments {
  #owner

  constructor(servers, options) {
    this.#owner = new Owner(segmentsOptions(servers, options))
    for (const name of BOUND) {
      Object.defineProperty(this, name, { value: this[name].bind(this), configurable: true, writable: true })
    }
  }

  static async open(...given) {
    const Class = typeof this === 'function' ? this : Segments
    return new Class(...given)
  }

  static #ours(self) {
    const ours = typeof self === 'object' && self !== null && #owner in self
    return ours ? self : wasm().refuse('this', self, 'Segments')
  }

  tag(name) {
    const owner = Segments.#ours(this).#owner
    owner.check()
    const known = owner.tags.get(name)
    if (known) return known
    // A lone surrogate has no UTF-8.
    if (typeof name !== 'string' || !isWellFormed(name)) wasm().refuse('tag', name)
    const tag = new Tag(MADE, owner, owner.supply.tag(name))
    owner.tags.set(name, tag)
    return tag
  }

  stats() {
    const owner = Segments.#ours(this).#owner
    const { servers, tags } = owner.stats()
    const { name, source, stateDir } = owner
    return { name, source, servers, stateDir, tags: tags.map(({ stats }) => stats) }
  }

  close() {
    Segments.#ours(this).#owner.close()
  }

  get name() {
    return Segments.#ours(this).#owner.name
  }
}

const isWellFormed = text => (text.isWellFormed ? text.isWellFormed() : !/\p{Surrogate}/u.test(text))

function define(symbol, value) {
  if (symbol) Object.defineProperty(Segments.prototype, symbol, { value, configurable: true, writable: true })
}

define(Symbol.dispose, function dispose() {
  this.close()
})
define(Symbol.asyncDispose, async function asyncDispose() {
  this.close()
})
