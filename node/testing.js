'use strict'

// Generators for tests: the same ids in each run. THESE IDS ARE NOT UNIQUE: no worker id is claimed, nothing is stored.

const { filled, room } = require('./lib/arrays.js')
const { LeafidError } = require('./lib/errors.js')
const { compose, decode, firstIdAt } = require('./lib/ids.js')
const { existing } = require('./lib/option_rules.js')
const { integer, isRecord, isText, record } = require('./lib/readers.js')
const { refuse } = require('./lib/refuse.js')
const { Snowflake } = require('./lib/snowflake.js')

const EXACT = 'for nextNumber ids up to 2^53 - 1; use next or nextString'
const NAME = 'leafid-testing'
/** 2026-01-01, the clock of a FakeSnowflake without one. */
const NEW_YEAR_MS = 1_767_225_600_000

const any = value => value
const IDS = 'ids and errors, as an array or another iterable'
/** A text would be one of its digits each. */
const iterable = (value, name) =>
  typeof value?.[Symbol.iterator] === 'function' && !isText(value) ? value : refuse(name, value, IDS)
const ofTags = (value, name) => {
  if (!isRecord(value)) refuse(name, value, 'an object with the ids of each tag')
  for (const ids of Object.values(value)) iterable(ids, name)
  return value
}
const id = (value, name) => {
  const known = existing(value, name)
  return isText(known) && !/^[0-9]+$/.test(known) ? refuse(name, value, 'an id or an error') : BigInt(known)
}
const snowflakeOptions = { clock: any, ids: iterable, workerId: integer, layout: any, epochMs: any }
const segmentsOptions = { first: id, ids: ofTags }

/** The options, of which each has a known name. */
function known(options, readers) {
  if (options === undefined || options === null) return {}
  if (!isRecord(options)) refuse('options', options, `an object with any of ${Object.keys(readers).join(', ')}`)
  return record(options, readers)
}

/** Each of these once. An error is thrown. */
function given(ids) {
  const iterator = ids[Symbol.iterator]()
  return () => {
    const { value, done } = iterator.next()
    if (done) throw new Error('the test gave no more ids')
    if (value instanceof Error) throw value
    return id(value, 'id')
  }
}

/** The ids of a clock: a clock that stands counts the sequence up, and then takes the next tick. */
function composed(clock, workerId, layout) {
  let atMs = -Infinity
  let sequence = 0
  return () => {
    const nowMs = decode(firstIdAt(clock(), layout), layout).timestampMs
    if (nowMs > atMs) [atMs, sequence] = [nowMs, 0]
    else if (++sequence === 2 ** layout.sequenceBits) [atMs, sequence] = [atMs + layout.tickMs, 0]
    return compose(atMs, workerId, sequence, layout)
  }
}

/** What snowflakes and tags share: calls for ids, until it is closed. */
class Ids {
  #one
  #what
  #closed = false
  issued = 0

  constructor(one, what) {
    this.#one = one
    this.#what = what
  }

  check() {
    if (this.#closed) throw new LeafidError('ERR_LEAFID_CLOSED', `this ${this.#what} is closed`)
  }

  one() {
    return this.take(1)[0]
  }

  number() {
    const id = this.one()
    return id <= Number.MAX_SAFE_INTEGER ? Number(id) : refuse('id', id, EXACT)
  }

  take(n) {
    const ids = room(n)
    this.check()
    for (let at = 0; at < n; at++) ids[at] = this.#one()
    this.issued += n
    return ids
  }

  fill(array) {
    return filled(array, view => view.set(this.take(view.length)))
  }

  close() {
    this.#closed = true
  }
}

function bind(object, names) {
  for (const name of names) {
    Object.defineProperty(object, name, { value: object[name].bind(object), configurable: true, writable: true })
  }
}

class FakeSnowflake {
  #ids
  #workerId
  #layout

  constructor(options) {
    const { clock = NEW_YEAR_MS, ids, workerId = 0, layout, epochMs } = known(options, snowflakeOptions)
    // Lazy and without records: it checks the options, and claims nothing.
    const real = new Snowflake({ worker: workerId, name: NAME, layout, epochMs, lazy: true, persist: false })
    const one = ids ? given(ids) : composed(typeof clock === 'function' ? clock : () => clock, workerId, real.layout)
    this.#ids = new Ids(one, 'FakeSnowflake')
    bind(this, ['next', 'nextString', 'nextNumber', 'take', 'takeStrings', 'fill', 'stats', 'close'])
    this.#workerId = workerId
    this.#layout = real.layout
    real.close()
  }

  static async open(options) {
    return new FakeSnowflake(options)
  }

  next() {
    return this.#ids.one()
  }

  nextString() {
    return String(this.#ids.one())
  }

  nextNumber() {
    return this.#ids.number()
  }

  take(n) {
    return this.#ids.take(n)
  }

  takeStrings(n) {
    return Array.from(this.#ids.take(n), String)
  }

  fill(array) {
    return this.#ids.fill(array)
  }

  stats() {
    this.#ids.check()
    const { timestampBits, workerBits, sequenceBits, epochMs, tickMs } = this.#layout
    const expiresAtMs = epochMs + 2 ** timestampBits * tickMs
    return {
      name: NAME,
      workerId: this.#workerId,
      stateDir: '',
      layout: `${timestampBits}|${workerBits}|${sequenceBits}`,
      epochMs,
      expiresAtMs,
      reservedUntilMs: expiresAtMs,
      leadMs: 0,
      clockLagMs: 0,
      leaseUntilMs: null,
      ids: this.#ids.issued,
      claims: 1,
      handles: 1,
      renewals: 0,
      renewalFailures: 0,
      lastError: null,
    }
  }

  close() {
    this.#ids.close()
  }

  get workerId() {
    this.#ids.check()
    return this.#workerId
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    return `FakeSnowflake { workerId: ${this.#workerId}, not unique }`
  }

  get layout() {
    return this.#layout
  }

  *[Symbol.iterator]() {
    for (;;) yield this.#ids.one()
  }
}

class FakeTag {
  #ids
  #name

  constructor(name, one) {
    this.#ids = new Ids(one, 'FakeTag')
    this.#name = name
    const texts = ['nextString', 'takeStrings']
    bind(this, [...texts, 'next', 'nextSync', 'tryNext', 'nextNumber', 'take', 'takeSync', 'fill', 'stats'])
  }

  static close(tag) {
    tag.#ids.close()
  }

  async next() {
    return this.#ids.one()
  }

  nextSync() {
    return this.#ids.one()
  }

  tryNext() {
    return this.#ids.one()
  }

  async nextString() {
    return String(this.#ids.one())
  }

  async nextNumber() {
    return this.#ids.number()
  }

  async take(n) {
    return this.#ids.take(n)
  }

  async takeStrings(n) {
    return Array.from(this.#ids.take(n), String)
  }

  takeSync(n) {
    return this.#ids.take(n)
  }

  fill(array) {
    return this.#ids.fill(array)
  }

  stats() {
    this.#ids.check()
    const none = { current: null, next: null, left: 0, ids: this.#ids.issued, step: 0, fetching: false }
    return { tag: this.#name, ...none, fetches: 0, failures: 0, waits: 0, waiting: 0, lastError: null }
  }

  get name() {
    return this.#name
  }

  async *[Symbol.asyncIterator]() {
    for (;;) yield this.#ids.one()
  }
}

class FakeSegments {
  #first
  #ids
  #tags = new Map()
  #closed = false

  constructor(options) {
    const { first = 1n, ids } = known(options, segmentsOptions)
    this.#first = first
    this.#ids = ids
    bind(this, ['tag', 'stats', 'close'])
  }

  static async open(options) {
    return new FakeSegments(options)
  }

  tag(name) {
    this.#check()
    if (!this.#tags.has(name)) this.#tags.set(name, new FakeTag(name, this.#source(name)))
    return this.#tags.get(name)
  }

  #check() {
    if (this.#closed) throw new LeafidError('ERR_LEAFID_CLOSED', 'these FakeSegments are closed')
  }

  #source(name) {
    if (!this.#ids) {
      let next = this.#first
      return () => next++
    }
    if (Object.hasOwn(this.#ids, name)) return given(this.#ids[name])
    return () => {
      throw new LeafidError('ERR_LEAFID_UNKNOWN_TAG', `the test gave no ids of the tag ${JSON.stringify(name)}`)
    }
  }

  stats() {
    this.#check()
    const tags = [...this.#tags.values()].map(tag => tag.stats())
    return { name: NAME, source: 'testing', servers: [], stateDir: '', tags }
  }

  close() {
    this.#closed = true
    for (const tag of this.#tags.values()) FakeTag.close(tag)
  }

  get name() {
    return NAME
  }
}

for (const [Class, name, symbol] of [
  [FakeSnowflake, 'dispose', Symbol.dispose],
  [FakeSegments, 'dispose', Symbol.dispose],
  [FakeSegments, 'asyncDispose', Symbol.asyncDispose],
]) {
  if (!symbol) continue
  const value = name === 'dispose' ? function () { this.close() } : async function () { this.close() }
  Object.defineProperty(Class.prototype, symbol, { value, configurable: true, writable: true })
}

module.exports = { FakeSegments, FakeSnowflake }
