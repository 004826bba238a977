import { CallbackSource, LeafSource, RangeSource, TinyidSource } from './segment_sources.js'
import { Fetcher } from './fetcher.js'
import { Marks } from './marks.js'
import { wasm } from './module.js'
import { platform } from './platform.js'
import { checkTag, segmentsOptions, settingsOf } from './segment_options.js'
import { MADE, Tag, closed } from './tag.js'
import { warn } from './logger.js'

const BOUND = ['tag', 'stats', 'close']
/** By the number of the source. */
const MAKE = [
  ({ fetch }) => new CallbackSource(fetch),
  settings => new LeafSource(settings),
  settings => new LeafSource(settings),
  settings => new RangeSource(settings),
  settings => new TinyidSource(settings),
]

/** The state that segments and their tags share. */
class Owner {
  closed = false
  /** The tags, by name. */
  tags = new Map()

  constructor(settings) {
    this.settings = settings
    this.timeoutMs = settings.timeoutMs
    this.store = settings.persist ? platform().marks(settings) : null
    const marks = new Marks(this.store, settings.name, settings.sourceName, settings.order)
    this.fetcher = new Fetcher(settings, marks, MAKE[settings.source](settings))
    this.ref = new WeakRef(this)
    open.add(this.ref)
    collected.register(this, { fetcher: this.fetcher, ref: this.ref }, this)
    this.#prewarm()
  }

  #prewarm() {
    const { fetcher, settings } = this
    if (settings.prewarm !== 'last-day') return fetcher.prewarm(settings.prewarm)
    fetcher.marks.recent().then(tags => fetcher.prewarm(tags), warn)
  }

  /** Of every tag that was used. */
  stats() {
    return this.fetcher.tags().map(state => {
      const tag = this.tags.get(state.name)
      return tag ? Tag.stats(tag) : state.stats()
    })
  }

  check() {
    if (this.closed) throw closed()
  }

  close() {
    if (this.closed) return
    this.closed = true
    collected.unregister(this)
    open.delete(this.ref)
    for (const tag of this.tags.values()) Tag.close(tag)
    this.fetcher.close()
  }
}

/** The open ones, weakly. */
const open = new Set()

/** The tags of all open segments, for metrics: `{ labels, outcomes, stats }` each. */
export function openTags() {
  const owners = [...open].map(ref => ref.deref()).filter(owner => owner)
  return owners.flatMap(owner => {
    const { name, sourceName: source } = owner.settings
    const state_dir = owner.store?.place ?? ''
    return owner.stats().map(stats => {
      const { tag } = stats
      return { labels: { name, source, state_dir, tag }, outcomes: owner.fetcher.tag(tag).outcomes(), stats }
    })
  })
}

/** Closes the segments that are no longer used. */
const collected = new FinalizationRegistry(({ fetcher, ref }) => {
  open.delete(ref)
  fetcher.close()
})

export class Segments {
  #owner

  constructor(servers, options) {
    this.#owner = new Owner(settingsOf(segmentsOptions(servers, options)))
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
    checkTag(owner.settings, name)
    const tag = new Tag(MADE, owner, owner.fetcher.tag(name))
    owner.tags.set(name, tag)
    return tag
  }

  stats() {
    const owner = Segments.#ours(this).#owner
    owner.check()
    const { settings, fetcher, store } = owner
    return {
      name: settings.name,
      source: settings.sourceName,
      servers: fetcher.servers,
      stateDir: store?.place ?? '',
      tags: owner.stats(),
    }
  }

  close() {
    Segments.#ours(this).#owner.close()
  }

  get name() {
    return Segments.#ours(this).#owner.settings.name
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
