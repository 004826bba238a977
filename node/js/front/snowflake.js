import { filled, room } from './arrays.js'
import { Generator } from './generator.js'
import { snowflakeOptions } from './options.js'
import { refuse } from './refuse.js'

const EXACT = 'for nextNumber a layout of at most 53 bits together, such as "js-safe"; else use next or nextString'
const BOUND = ['next', 'nextString', 'nextNumber', 'take', 'takeStrings', 'fill', 'stats', 'close']

function define(object, name, value) {
  Object.defineProperty(object, name, { value, configurable: true, writable: true })
}

export class Snowflake {
  #generator
  #layout
  #exact

  constructor(options) {
    this.#generator = new Generator(snowflakeOptions(options))
    this.#layout = Object.freeze(this.#generator.layout)
    const { timestampBits, workerBits, sequenceBits } = this.#layout
    this.#exact = timestampBits + workerBits + sequenceBits <= 53
    for (const name of BOUND) define(this, name, this[name].bind(this))
  }

  static async open(options) {
    const Class = typeof this === 'function' ? this : Snowflake
    const given = snowflakeOptions(options)
    if (given.lazy) return new Class(given)
    // It keeps the generator open until the object, with the same options, has found it.
    return await Generator.opened(given, () => new Class(given))
  }

  /** The snowflake behind `this`, which a caller can set to anything. */
  static #ours(self) {
    const ours = typeof self === 'object' && self !== null && #generator in self
    return ours ? self : refuse('this', self, 'a Snowflake')
  }

  static #next(self) {
    return Snowflake.#ours(self).#generator.next()
  }

  next() {
    return Snowflake.#next(this)
  }

  nextString() {
    return String(Snowflake.#next(this))
  }

  nextNumber() {
    const self = Snowflake.#ours(this)
    if (!self.#exact) refuse('layout', self.#generator.shownLayout, EXACT)
    return Number(self.#generator.next())
  }

  take(n) {
    const self = Snowflake.#ours(this)
    const ids = room(n)
    self.#generator.fill(ids)
    return ids
  }

  takeStrings(n) {
    return Array.from(Snowflake.prototype.take.call(this, n), String)
  }

  fill(array) {
    const self = Snowflake.#ours(this)
    return filled(array, ids => self.#generator.fill(ids))
  }

  stats() {
    return Snowflake.#ours(this).#generator.stats()
  }

  close() {
    Snowflake.#ours(this).#generator.close()
  }

  /** Ids without an end. */
  *[Symbol.iterator]() {
    for (;;) yield Snowflake.#next(this)
  }

  get workerId() {
    return Snowflake.#ours(this).#generator.workerId
  }

  get layout() {
    return Snowflake.#ours(this).#layout
  }

  static {
    const more = {
      dispose() {
        this.close()
      },
    }
    const shown = Symbol.for('nodejs.util.inspect.custom')
    define(this.prototype, shown, function inspect() {
      return typeof this === 'object' && #generator in this ? `Snowflake { ${this.#generator.held} }` : 'Snowflake {}'
    })
    // Where it cannot be waited for within a call.
    if (Generator.prototype.ready) {
      BOUND.push('ready')
      define(this.prototype, 'ready', async function ready() {
        await Snowflake.#ours(this).#generator.ready()
      })
      more.asyncDispose = async function asyncDispose() {
        this.close()
        await Snowflake.#ours(this).#generator.closed
      }
    }
    for (const [name, value] of Object.entries(more)) if (Symbol[name]) define(this.prototype, Symbol[name], value)
  }
}
