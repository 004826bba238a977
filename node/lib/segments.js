'use strict'

const { guarded, named, refuse, translate } = require('./errors.js')
const { ended, kept, open, owners, theEvents } = require('./native_events.js')
const native = require('./native.js')
const { segmentsOptions } = require('./segment_options.js')
const { MADE, Tag } = require('./tag.js')
const { UserFetch } = require('./user_fetch.js')

const { defaultTimeoutMs: DEFAULT_TIMEOUT_MS } = native.limits()
const BOUND = ['tag', 'stats', 'close']

/** The owners that were opened for these options, until the object is made. */
const opened = new WeakMap()

/** The state that segments and their tags share. */
class Owner {
  handle = null
  closed = false
  /** The tags, by name. */
  tags = new Map()
  ref = new WeakRef(this)

  constructor({ fetch, options }) {
    this.number = fetch === null ? undefined : native.uniqueNumber()
    this.userFetch = fetch === null ? null : new UserFetch(fetch)
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    if (fetch !== null) owners.set(this.number, this.ref)
    open.add(this.ref)
    collected.register(this, this.ref)
  }

  giveBack() {
    for (const tag of this.tags.values()) Tag.giveBack(tag)
  }

  /** Converts an error of the addon. If a user callback failed, its exception is the cause. */
  explain(error, tag) {
    const theirs = this.userFetch?.failureIn(error?.message, tag)
    const thrown = translate(error, theirs?.text)
    if (theirs) thrown.cause = theirs.error
    return thrown
  }
}

/** The addon closes the segments that are no longer used. */
const collected = new FinalizationRegistry(ref => open.delete(ref))

class Segments {
  #owner

  constructor(servers, options) {
    this.#owner = opened.get(servers) ?? opened.get(options) ?? Segments.#opened(segmentsOptions(servers, options))
    for (const name of BOUND) {
      Object.defineProperty(this, name, { value: this[name].bind(this), configurable: true, writable: true })
    }
  }

  static #opened(given) {
    const owner = new Owner(given)
    owner.handle = guarded(() => native.openSegments(theEvents(), given.options, owner.number))
    return owner
  }

  static async open(servers, options) {
    const Class = typeof this === 'function' ? this : Segments
    const given = segmentsOptions(servers, options)
    const owner = new Owner(given)
    const events = theEvents()
    const ticket = guarded(() => native.openSegmentsSoon(events, given.options, owner.number))
    await kept(ended(ticket))
    owner.handle = guarded(() => native.takeOpened(events, ticket))
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
    const known = owner.tags.get(name)
    if (known && !owner.closed) return known
    // A lone surrogate has no UTF-8.
    if (typeof name !== 'string' || !name.isWellFormed()) refuse('tag', name)
    const number = native.uniqueNumber()
    const handle = guarded(() => native.segmentsTag(owner.handle, name, number))
    const tag = new Tag(MADE, { owner, handle, number, name })
    owner.tags.set(name, tag)
    return tag
  }

  stats() {
    const owner = Segments.#ours(this).#owner
    const stats = guarded(() => native.segmentsStats(owner.handle))
    for (const server of stats.servers) if (server.lastError) server.lastError = named(server.lastError)
    for (const each of stats.tags) {
      const tag = owner.tags.get(each.tag)
      if (tag) Tag.addLocal(tag, each)
    }
    return stats
  }

  close() {
    const owner = Segments.#ours(this).#owner
    open.delete(owner.ref)
    owner.closed = true
    const tags = [...owner.tags.values()]
    tags.forEach(Tag.close)
    try {
      guarded(() => native.closeSegments(owner.handle))
    } finally {
      // The waiting calls end with an error.
      tags.forEach(Tag.pump)
      owner.userFetch?.close()
    }
  }

  get name() {
    return native.segmentsName(Segments.#ours(this).#owner.handle)
  }
}

function define(symbol, value) {
  if (symbol) Object.defineProperty(Segments.prototype, symbol, { value, configurable: true, writable: true })
}

define(Symbol.dispose, function dispose() {
  this.close()
})
define(Symbol.asyncDispose, async function asyncDispose() {
  this.close()
})

module.exports = { Segments }
