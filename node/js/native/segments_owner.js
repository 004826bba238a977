'use strict'

const { guarded, translate } = require('./guard.js')
const { defaultTimeoutMs } = require('./limits.js')
const { ended, kept, open, owners, theEvents } = require('./native_events.js')
const native = require('./native.js')
const { Tag } = require('./tag.js')
const { TagWaits } = require('./tag_waits.js')
const { UserFetch } = require('./user_fetch.js')

/** The addon closes the segments that are no longer used. */
const collected = new FinalizationRegistry(ref => open.delete(ref))

/** The state that segments and their tags share. */
class Owner {
  handle = null
  closed = false
  userFetch = null
  /** The tags, by name. */
  tags = new Map()
  #ref = new WeakRef(this)

  constructor({ fetch, options }) {
    this.timeoutMs = options.timeoutMs ?? defaultTimeoutMs
    if (fetch) {
      this.number = native.uniqueNumber()
      this.userFetch = new UserFetch(fetch)
      owners.set(this.number, this.#ref)
    }
    open.add(this.#ref)
    collected.register(this, this.#ref)
  }

  static now(given) {
    const owner = new Owner(given)
    owner.handle = guarded(() => native.openSegments(theEvents(), given.options, owner.number))
    return owner
  }

  /** On another thread. */
  static async soon(given) {
    const owner = new Owner(given)
    const events = theEvents()
    const ticket = guarded(() => native.openSegmentsSoon(events, given.options, owner.number))
    await kept(ended(ticket))
    owner.handle = guarded(() => native.takeOpened(events, ticket))
    return owner
  }

  tag(name) {
    return new TagWaits(this, name)
  }

  /** Puts back what this thread holds, because it ends. */
  giveBack() {
    for (const tag of this.tags.values()) Tag.giveBack(tag)
  }

  get name() {
    return native.segmentsName(this.handle)
  }

  /** Throws once it is closed. */
  check() {
    if (this.closed) this.stats()
  }

  stats() {
    return guarded(() => native.segmentsStats(this.handle))
  }

  /** Converts an error of the addon. If a user callback failed, its exception is the cause. */
  explain(error, tag) {
    const theirs = this.userFetch?.failureIn(error?.message, tag)
    const thrown = translate(error)
    if (theirs) thrown.cause = theirs.error
    return thrown
  }

  /** `pump` serves the waiting calls, which end with an error. */
  close(pump) {
    open.delete(this.#ref)
    this.closed = true
    try {
      guarded(() => native.closeSegments(this.handle))
    } finally {
      pump()
      this.userFetch?.close()
    }
  }
}

module.exports = { Owner }
