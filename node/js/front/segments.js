import { refuse } from './refuse.js'
import { segmentsOptions } from './segment_options.js'
import { Owner } from './segments_owner.js'
import { MADE, Tag } from './tag.js'

const BOUND = ['tag', 'stats', 'close']

/** The owners that were opened for these options, until the object is made. */
const opened = new WeakMap()

export class Segments {
  #owner

  constructor(servers, options) {
    this.#owner = opened.get(servers) ?? opened.get(options) ?? Owner.now(segmentsOptions(servers, options))
    for (const name of BOUND) {
      Object.defineProperty(this, name, { value: this[name].bind(this), configurable: true, writable: true })
    }
  }

  static async open(servers, options) {
    const Class = typeof this === 'function' ? this : Segments
    const owner = await Owner.soon(segmentsOptions(servers, options))
    const key = typeof servers === 'object' && !Array.isArray(servers) ? { ...servers } : { ...options }
    opened.set(key, owner)
    return key.fetch ? new Class(key) : new Class(servers, key)
  }

  static #ours(self) {
    const ours = typeof self === 'object' && self !== null && #owner in self
    return ours ? self : refuse('this', self, 'Segments')
  }

  tag(name) {
    const owner = Segments.#ours(this).#owner
    owner.check()
    const known = owner.tags.get(name)
    if (known) return known
    // A lone surrogate has no UTF-8.
    if (typeof name !== 'string' || !isWellFormed(name)) refuse('tag', name)
    const tag = new Tag(MADE, owner, owner.tag(name))
    owner.tags.set(name, tag)
    return tag
  }

  stats() {
    const owner = Segments.#ours(this).#owner
    const stats = owner.stats()
    for (const each of stats.tags) {
      const tag = owner.tags.get(each.tag)
      if (tag) Tag.withLocal(tag, each)
    }
    return stats
  }

  close() {
    const owner = Segments.#ours(this).#owner
    const tags = [...owner.tags.values()]
    tags.forEach(Tag.close)
    owner.close(() => tags.forEach(Tag.pump))
  }

  get name() {
    return Segments.#ours(this).#owner.name
  }
}

/** Not every browser can tell. */
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
