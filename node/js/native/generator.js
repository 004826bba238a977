'use strict'

const { guarded, translate } = require('./guard.js')
const native = require('./native.js')
const { asks, asksServers } = require('./option_rules.js')
const { TickRun } = require('./tick_run.js')
// What a snowflake with a number needs none of is loaded when it is first used.

/** The generator of one snowflake, by a handle of the addon. */
class Generator {
  layout
  // The addon's closures over one handle: a call costs a tenth of a call of a native method.
  #handle
  #run
  /** Whether there are user callbacks. */
  #asks
  #closed = false
  /** Whether the last close releases a lease at a server. */
  #usesServers

  /** The options are checked for kind. */
  constructor(options) {
    this.#usesServers = asksServers(options)
    this.#asks = asks(options)
    this.#handle = this.#opened(options)
    this.#run = new TickRun(this.#handle)
    this.layout = this.#handle.layout
  }

  #opened(options) {
    if (options.lazy && (this.#asks || this.#usesServers)) {
      const { openLater } = require('./lazy_claim.js')
      return openLater(options, handle => this.#use(handle))
    }
    if (options.lazy && options.worker == null) return this.#undecided(options)
    if (!this.#asks) return guarded(() => native.open(options))
    const { Opening } = require('./open_snowflake.js')
    const opening = new Opening(options)
    opening.now()
    return opening.handle
  }

  /** A lazy one whose worker is that of the environment at its first call. */
  #undecided(options) {
    const handle = guarded(() => native.open(options))
    const { layout, held, close, closeSoon } = handle
    const first = name => argument => {
      this.#usesServers = asksServers(options)
      if (this.#usesServers) close()
      this.#use(this.#usesServers ? this.#opened(options) : handle)
      return name === 'next' ? this.#run.next() : this.#handle[name](argument)
    }
    const calls = ['next', 'fill', 'stats', 'workerId'].map(name => [name, first(name)])
    return { layout, held, close, closeSoon, ...Object.fromEntries(calls) }
  }

  #use(handle) {
    this.#handle = handle
    this.#run = new TickRun(handle)
  }

  /** Opens, and keeps that open until `use` has found it. */
  static async opened(options, use) {
    const { kept } = require('./native_events.js')
    const { Opening } = require('./open_snowflake.js')
    const opening = new Opening(options, true)
    try {
      await opening.soon(kept)
      return use()
    } finally {
      opening.close()
    }
  }

  next() {
    try {
      return this.#run.next()
    } catch (error) {
      throw translate(error)
    }
  }

  fill(ids) {
    if (ids.length > 0) this.#call('fill', ids)
    // Neither an id nor a worker id is needed, but a closed snowflake is an error.
    else if (this.#closed) this.#call('stats')
  }

  stats() {
    return this.#call('stats')
  }

  get workerId() {
    return this.#call('workerId')
  }

  /** For messages, without a claim. */
  get held() {
    return this.#closed ? 'closed' : this.#handle.held().replace('worker_id=', 'workerId: ')
  }

  get shownLayout() {
    return this.stats().layout
  }

  close() {
    this.#closed = true
    this.#run.drop()
    try {
      this.#call(this.#usesServers ? 'closeSoon' : 'close')
    } finally {
      if (this.#asks) require('./sources.js').serve(true)
    }
  }

  #call(name, argument) {
    try {
      return this.#handle[name](argument)
    } catch (error) {
      throw translate(error)
    }
  }
}

module.exports = { Generator }
