// A host of runs with files and locks in memory, and clocks that stand still until a test moves them.

import { Module } from './module.mjs'

export const [UNTIL, AGAIN, SLEEP] = [-101, -102, -103]
const KINDS = ['', 'times', 'claim', 'renew', 'release', 'request', 'lock', 'unlock', 'list', 'read', 'open', 'update', 'close']

/** The disk that all hosts share. */
export class Disk {
  files = new Map()
  held = new Set()
}

let random = 0n

export class Host {
  /** What was carried out: the kinds of the calls. */
  done = []
  log = []
  closed = undefined
  /** By kind, what a test does instead: it gets the call, its numbers and its texts. Returns false to do nothing. */
  instead = {}
  waiting = []

  constructor(disk = new Disk(), { options = { worker: 39 }, store = 3, wallMs = Date.now(), module = new Module() } = {}) {
    Object.assign(this, { disk, module, wallMs, bootMs: 1_000_000 })
    this.exports = module.exports
    this.options = this.ok('options_of_run', JSON.stringify(options), '', 'a-host')
    const texts = ['/state/default', 'ext4', 'a-host', 'boot', 'another process']
    const lengths = module.input(...texts)
    const given = [this.options, store, 1, 7, ...lengths, 1n, this.wallMs, this.bootMs]
    this.run = module.ok(this.exports.run_new(...given))
  }

  /** Calls an export with texts and bytes as the input. */
  ok(name, ...values) {
    const isText = value => typeof value === 'string' || value instanceof Uint8Array
    const lengths = this.module.input(...values.filter(isText))
    return this.module.ok(this.exports[name](...values.map(value => (isText(value) ? lengths.shift() : value))))
  }

  /** Calls an export of the run at the time of now. */
  at(name, ...values) {
    return this.ok(name, this.run, ...values, this.wallMs, this.bootMs)
  }

  pass(ms) {
    this.wallMs += ms
    this.bootMs += ms
  }

  texts() {
    return this.module.list()
  }

  /** Carries out all calls that are ready, and takes all notices. */
  drive() {
    for (let call; (call = this.at('next_call')) !== 0; ) this.carryOut(call)
    for (let notice; (notice = this.at('next_notice')) !== 0; ) {
      if (notice === 3) this.log.push(this.module.text())
      if (notice === 4) this.closed = this.module.numbers(1)[0]
    }
  }

  carryOut(call) {
    const kind = KINDS[this.ok('call_request', call, ++random, 2n)]
    const [numbers, texts] = [this.module.numbers(5), this.texts()]
    this.done.push(kind)
    const own = this.instead[kind] ?? this[kind]
    if (own.call(this, call, numbers, texts) === false) this.waiting.push(call)
    else this.at('done', call)
  }

  end(call, how = 0, number = 0, text = '') {
    this.ok('call_end', call, how, number, text)
  }

  lock(call, [workerId]) {
    const held = this.disk.held.has(workerId)
    this.disk.held.add(workerId)
    this.end(call, held ? 1 : 0)
  }

  unlock(call, [workerId]) {
    this.disk.held.delete(workerId)
    this.end(call)
  }

  list(call) {
    for (const name of this.disk.files.keys()) this.ok('call_found', call, this.wallMs, name, '')
    this.end(call)
  }

  /** Carries out the steps of a file, and returns what it is to hold. */
  steps(call, file, first = true) {
    let bytes = this.disk.files.get(file)
    const step = () => {
      const lengths = this.module.input(file, bytes ?? new Uint8Array())
      if (!bytes) lengths[1] = -1
      return this.module.ok(this.exports.call_step(call, first ? 1 : 0, this.wallMs, 3n, 4n, ...lengths))
    }
    while (step() === 1) {
      const [[at], piece] = [this.module.numbers(1), this.module.output()]
      bytes = bytes.slice()
      bytes.set(piece, at)
      first = false
    }
    return bytes
  }

  read(call, numbers, [file]) {
    this.steps(call, file)
    this.end(call)
  }

  open(call, numbers, [file]) {
    if (!this.disk.files.has(file)) {
      this.ok('call_initial', call)
      this.disk.files.set(file, this.module.output())
    }
    this.read(call, numbers, [file])
  }

  update(call, numbers, [file]) {
    this.disk.files.set(file, this.steps(call, file))
    this.end(call)
  }

  close(call) {
    this.end(call)
  }

  /** Opens the run: its worker id. */
  opens() {
    const ticket = this.at('run_want', 0, 1, 0, NaN)
    this.drive()
    if (this.at('run_answer', ticket) === 0) return null
    this.flake = this.module.ok(this.exports.run_generator(this.run))
    return this.module.numbers(1)[0]
  }

  /** The next id, as a caller with an event loop asks for it. */
  next(longestMs = 2) {
    const found = this.exports.snowflake_next(this.flake, this.wallMs)
    if (found >= 0n) return found
    const wait = this.module.ok(this.exports.run_wait_new(this.run, 0, longestMs))
    try {
      for (;;) {
        const found = this.at('run_wait', wait, 1)
        if (found > 0) return this.module.ids(1)[0]
        if (found === UNTIL) this.pass(this.module.numbers(1)[0] - this.wallMs)
        if (found === SLEEP) return found
      }
    } finally {
      this.exports.run_wait_end(this.run, wait)
    }
  }

  closes() {
    const ticket = this.at('run_want', 2, 0, 1, NaN)
    this.drive()
    return this.at('run_answer', ticket)
  }

  stats() {
    this.at('run_stats')
    const [reservedUntilMs, leadMs, leaseUntilMs, ids, claims, renewals, failures] = this.module.numbers(7)
    return { reservedUntilMs, leadMs, leaseUntilMs, ids, claims, renewals, failures, lastError: this.module.text() }
  }
}
