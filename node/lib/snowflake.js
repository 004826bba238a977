'use strict'

const { MOST, filled } = require('./arrays.js')
const { LeafidError, guarded, named, refuse, translate } = require('./errors.js')
const { kept } = require('./native_events.js')
const { asksServers, openLater } = require('./lazy_claim.js')
const native = require('./native.js')
const { Opening, asks } = require('./open_snowflake.js')
const { integer, snowflakeOptions } = require('./options.js')
const { serve } = require('./sources.js')
const { TickRun } = require('./tick_run.js')

const EXACT = 'for nextNumber a layout of at most 53 bits together, such as "js-safe"; else use next or nextString'
const BOUND = ['next', 'nextString', 'nextNumber', 'take', 'takeStrings', 'fill', 'stats', 'close']

const failed = error => (error instanceof LeafidError ? error : translate(error))

class Snowflake {
  // The addon's closures over one handle: a call costs a tenth of a call of a native method.
  #handle
  #run
  /** Whether there are user callbacks. */
  #asks
  #closed = false
  /** Whether the last close releases a lease at a server. */
  #usesServers
  #layout
  #exact

  constructor(options) {
    const given = snowflakeOptions(options)
    this.#usesServers = asksServers(given)
    const handle = this.#opened(given)
    this.#use(handle)
    const { layout } = handle
    this.#layout = Object.freeze(layout)
    this.#exact = layout.timestampBits + layout.workerBits + layout.sequenceBits <= 53
    for (const name of BOUND) {
      Object.defineProperty(this, name, { value: this[name].bind(this), configurable: true, writable: true })
    }
  }

  #opened(given) {
    this.#asks = asks(given)
    if (given.lazy && (this.#asks || this.#usesServers)) return openLater(given, handle => this.#use(handle))
    if (!this.#asks) return guarded(() => native.open(given))
    const opening = new Opening(given)
    opening.now()
    return opening.handle
  }

  #use(handle) {
    this.#handle = handle
    this.#run = new TickRun(handle)
  }

  static async open(options) {
    const Class = typeof this === 'function' ? this : Snowflake
    const given = snowflakeOptions(options)
    if (given.lazy) return new Class(given)
    // It keeps the generator open until the object, with the same options, has found it.
    const opening = new Opening(given, true)
    try {
      await opening.soon(kept)
      return new Class(given)
    } finally {
      opening.close()
    }
  }

  /** The snowflake behind `this`, which a caller can set to anything. */
  static #ours(self) {
    const ours = typeof self === 'object' && self !== null && #handle in self
    return ours ? self : refuse('this', self, 'a Snowflake')
  }

  static #next(self) {
    const run = Snowflake.#ours(self).#run
    try {
      return run.next()
    } catch (error) {
      throw failed(error)
    }
  }

  static #fill(self, array) {
    if (array.length > 0) self.#call('fill', array)
    // Neither an id nor a worker id is needed, but a closed snowflake is an error.
    else if (self.#closed) self.#call('stats')
  }

  #call(name, argument) {
    try {
      return this.#handle[name](argument)
    } catch (error) {
      throw failed(error)
    }
  }

  next() {
    return Snowflake.#next(this)
  }

  nextString() {
    return String(Snowflake.#next(this))
  }

  nextNumber() {
    if (!Snowflake.#ours(this).#exact) refuse('layout', this.stats().layout, EXACT)
    return Number(Snowflake.#next(this))
  }

  take(n) {
    const self = Snowflake.#ours(this)
    if (integer(n, 'n') < 0 || n > MOST) refuse('n', n)
    const ids = new BigInt64Array(n)
    Snowflake.#fill(self, ids)
    return ids
  }

  takeStrings(n) {
    return Array.from(Snowflake.prototype.take.call(this, n), String)
  }

  fill(array) {
    const self = Snowflake.#ours(this)
    return filled(array, ids => Snowflake.#fill(self, ids))
  }

  stats() {
    const stats = Snowflake.#ours(this).#call('stats')
    if (stats.lastError) stats.lastError = named(stats.lastError)
    return stats
  }

  close() {
    const self = Snowflake.#ours(this)
    self.#closed = true
    self.#run.drop()
    try {
      self.#call(self.#usesServers ? 'closeSoon' : 'close')
    } finally {
      if (self.#asks) serve(true)
    }
  }

  /** Ids without an end. */
  *[Symbol.iterator]() {
    for (;;) yield Snowflake.#next(this)
  }

  get workerId() {
    return Snowflake.#ours(this).#call('workerId')
  }

  get layout() {
    return Snowflake.#ours(this).#layout
  }
}

if (Symbol.dispose) {
  Object.defineProperty(Snowflake.prototype, Symbol.dispose, {
    value: function dispose() {
      this.close()
    },
    configurable: true,
    writable: true,
  })
}

module.exports = { Snowflake }
