'use strict'

const { setTimeout: sleep } = require('node:timers/promises')
const { isBigInt64Array, isBigUint64Array, isSharedArrayBuffer } = require('node:util/types')
const { guarded, refuse, translate } = require('./errors.js')
const native = require('./native.js')
const { integer, snowflakeOptions } = require('./options.js')

// The most a call makes, as in the host: known here so that `take` refuses before it allocates.
const MOST = 2 ** 24
const ARRAY = `a BigInt64Array or BigUint64Array of 1 to ${MOST} elements`
const EXACT = 'for nextNumber a layout of at most 53 bits together, such as "js-safe"; else use next or nextString'
// A record under onClockBackwards 'wait' is at most the longest span, 3 s, ahead of the clock.
const OPEN_WAITS_MS = 4000
const OPEN_PAUSE_MS = 20
const BOUND = ['next', 'nextString', 'nextNumber', 'take', 'fill', 'stats', 'close']

class Snowflake {
  // The addon's closures over one handle: calling one costs a tenth of a native method.
  #handle
  #layout
  #exact

  constructor(options) {
    const given = snowflakeOptions(options)
    const { layout, ...handle } = guarded(() => native.open(given))
    this.#handle = handle
    this.#layout = Object.freeze(layout)
    this.#exact = layout.timestampBits + layout.workerBits + layout.sequenceBits <= 53
    for (const name of BOUND) {
      Object.defineProperty(this, name, { value: this[name].bind(this), configurable: true, writable: true })
    }
  }

  static async open(options) {
    const Class = typeof this === 'function' ? this : Snowflake
    const given = snowflakeOptions(options)
    const end = performance.now() + Math.max(OPEN_WAITS_MS, given.timeoutMs ?? 0)
    for (;;) {
      try {
        return new Class(given)
      } catch (error) {
        if (error?.code !== 'ERR_LEAFID_WOULD_BLOCK' || performance.now() > end) throw error
        await sleep(OPEN_PAUSE_MS)
      }
    }
  }

  /** The snowflake behind `this`, which a caller can set to anything. */
  static #ours(self) {
    const ours = typeof self === 'object' && self !== null && #handle in self
    return ours ? self : refuse('this', self, 'a Snowflake')
  }

  static #next(self) {
    const handle = Snowflake.#ours(self).#handle
    try {
      return handle.next()
    } catch (error) {
      throw translate(error)
    }
  }

  static #fill(self, array) {
    const handle = self.#handle
    guarded(() => handle.fill(array))
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
    if (integer(n, 'n') < 1 || n > MOST) refuse('n', n)
    const ids = new BigInt64Array(n)
    Snowflake.#fill(self, ids)
    return ids
  }

  fill(array) {
    const self = Snowflake.#ours(this)
    const signed = isBigInt64Array(array)
    if (!signed && !isBigUint64Array(array)) refuse('array', array, ARRAY)
    // A detached array has no elements left.
    if (array.length < 1 || array.length > MOST) refuse('array', array, ARRAY)
    if (isSharedArrayBuffer(array.buffer)) {
      // Other threads may look at it meanwhile: it is written by JavaScript, whose memory model allows that.
      const ids = new BigInt64Array(array.length)
      Snowflake.#fill(self, ids)
      array.set(ids)
    } else {
      // Ids are never negative: both kinds of element have the same bits.
      Snowflake.#fill(self, signed ? array : new BigInt64Array(array.buffer, array.byteOffset, array.length))
    }
    return array
  }

  stats() {
    const handle = Snowflake.#ours(this).#handle
    return guarded(() => handle.stats())
  }

  close() {
    const handle = Snowflake.#ours(this).#handle
    guarded(() => handle.close())
  }

  get workerId() {
    const handle = Snowflake.#ours(this).#handle
    return guarded(() => handle.workerId())
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
