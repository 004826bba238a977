import { MOST, plainOf } from './arrays.js'
import { fault } from './errors.js'
import { wasm } from './module.js'
import { integer } from './options.js'
import { Run } from './run.js'
import { freeSettings, settingsOf, snowflakeOptions } from './settings.js'
import { nowMs } from './time.js'

const EXACT = 'for nextNumber a layout of at most 53 bits together, such as "js-safe"; else use next or nextString'
const BOUND = ['next', 'nextString', 'nextNumber', 'take', 'takeStrings', 'fill', 'stats', 'close', 'ready']
const LATER = 'this needs the event loop: use await Snowflake.open(options), or lazy: true'
const UNDER_WAY = 'the worker id is being claimed; await ready(), or return to the event loop, and call again'
/** Closes a snowflake that nobody holds any more: a lease would be renewed for ever. Not every workerd has it. */
const { FinalizationRegistry } = globalThis
const collected = FinalizationRegistry ? new FinalizationRegistry(run => run.release()) : null

export class Snowflake {
  #run = null
  #options
  #layout
  #exact
  #closed = false
  /** The promise of a claim that the first call of a lazy one began; and its error, for the next call. */
  #claiming = null
  #failed = null
  /** The end of the last close. */
  #end = null

  constructor(options) {
    this.#options = snowflakeOptions(options)
    const settings = settingsOf(this.#options)
    this.#layout = Object.freeze(settings.layoutFields)
    const { timestampBits, workerBits, sequenceBits } = this.#layout
    this.#exact = timestampBits + workerBits + sequenceBits <= 53
    if (settings.lazy) freeSettings(settings)
    else this.#use(attach(settings))
    for (const name of BOUND) {
      Object.defineProperty(this, name, { value: this[name].bind(this), configurable: true, writable: true })
    }
  }

  #use(run) {
    this.#run = run
    collected?.register(this, run, this)
  }

  static async open(options) {
    const Class = typeof this === 'function' ? this : Snowflake
    const given = snowflakeOptions(options)
    if (given.lazy) return new Class(given)
    // It keeps the generator open until the object, with the same options, has found it.
    const run = await Run.soon(settingsOf(given))
    try {
      return new Class(given)
    } finally {
      run.release()
    }
  }

  /** The snowflake behind `this`, which a caller can set to anything. */
  static #ours(self) {
    const ours = typeof self === 'object' && self !== null && #run in self
    return ours ? self : wasm().refuse('this', self, 'a Snowflake')
  }

  /** The open generator, which a lazy one claims now. */
  static #opened(self) {
    if (self.#run) return self.#run
    if (self.#closed) throw fault('closed', 'this snowflake is closed')
    return self.#claimNow()
  }

  #claimNow() {
    if (this.#failed) {
      const error = this.#failed
      this.#failed = null
      throw error
    }
    const settings = settingsOf(this.#options)
    if (settings.store.sync && !settings.asks) {
      this.#use(Run.now(settings))
      return this.#run
    }
    this.#claimSoon(settings).catch(error => (this.#failed = error))
    throw fault('would_block', UNDER_WAY)
  }

  #claimSoon(settings) {
    if (this.#claiming) {
      freeSettings(settings)
      return this.#claiming
    }
    // No user callback is called inside of a call for an id.
    this.#claiming = Promise.resolve()
      .then(() => Run.soon(settings))
      .then(run => {
        // A call for an id may have found the generator meanwhile.
        if (this.#closed || this.#run) run.release()
        else this.#use(run)
      })
      .finally(() => (this.#claiming = null))
    return this.#claiming
  }

  static #next(self) {
    const ours = Snowflake.#ours(self)
    const run = ours.#run ?? Snowflake.#opened(ours)
    let id
    try {
      id = wasm().exports.snowflake_next(run.flake, nowMs())
    } catch (error) {
      throw wasm().trapped(error)
    }
    return id >= 0n ? id : run.next()
  }

  static #fill(self, view) {
    const ours = Snowflake.#ours(self)
    if (ours.#closed) throw fault('closed', 'this snowflake is closed')
    if (view.length > 0) Snowflake.#opened(ours).fill(view)
  }

  next() {
    return Snowflake.#next(this)
  }

  nextString() {
    return String(Snowflake.#next(this))
  }

  nextNumber() {
    const { layout } = Snowflake.#ours(this).#options
    if (!this.#exact) wasm().refuse('layout', layout ?? 'leaf', EXACT)
    return Number(Snowflake.#next(this))
  }

  take(n) {
    const self = Snowflake.#ours(this)
    if (integer(n, 'n') < 0 || n > MOST) wasm().refuse('n', n)
    const ids = new BigInt64Array(n)
    Snowflake.#fill(self, ids)
    return ids
  }

  takeStrings(n) {
    return Array.from(Snowflake.prototype.take.call(this, n), String)
  }

  fill(array) {
    const self = Snowflake.#ours(this)
    Snowflake.#fill(self, plainOf(array))
    return array
  }

  /** Ids without an end. */
  *[Symbol.iterator]() {
    for (;;) yield Snowflake.#next(this)
  }

  /** Fulfilled when `next` finds an id without a wait. */
  async ready() {
    const self = Snowflake.#ours(this)
    if (!self.#run && !self.#closed) await self.#claimSoon(settingsOf(self.#options))
    await self.#run?.ready()
    // It may have been closed meanwhile.
    Snowflake.#opened(self)
  }

  stats() {
    const run = Snowflake.#opened(Snowflake.#ours(this))
    const { workerId, handles, settings } = run
    const { name, layoutText, layoutFields, expiresAtMs, persist, store } = settings
    return {
      name,
      workerId,
      stateDir: persist ? store.place : '',
      layout: layoutText,
      epochMs: layoutFields.epochMs,
      expiresAtMs,
      clockLagMs: 0,
      handles,
      ...run.stats(),
    }
  }

  close() {
    const self = Snowflake.#ours(this)
    if (self.#closed) return
    self.#closed = true
    collected?.unregister(self)
    self.#run?.release()
    self.#end = self.#run?.closing ?? null
    self.#run = null
  }

  get workerId() {
    return Snowflake.#opened(Snowflake.#ours(this)).workerId
  }

  get layout() {
    return Snowflake.#ours(this).#layout
  }

  static {
    const disposals = {
      dispose() {
        this.close()
      },
      async asyncDispose() {
        this.close()
        await Snowflake.#ours(this).#end
      },
    }
    for (const [name, value] of Object.entries(disposals)) {
      if (Symbol[name]) {
        Object.defineProperty(this.prototype, Symbol[name], { value, configurable: true, writable: true })
      }
    }
  }
}

function attach(settings) {
  const joined = Run.joined(settings)
  if (joined) return joined
  if (settings.store.sync && !settings.awaits) return Run.now(settings)
  freeSettings(settings)
  throw fault('would_block', LATER)
}
