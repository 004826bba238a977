// The processes of a scenario: a machine of leafid.wasm each, and a host that carries out its calls with files in memory, on
// clocks that the scenario sets.

import assert from 'node:assert/strict'
import { Module, vectors } from './module.mjs'

const [UNTIL, SLEEP, USED_UP] = [-101, -103, -103]
const REQUEST = 5
// The kinds of calls of a run; of a supply some have other names.
const KINDS = ['', 'peer_times', 'claim', 'renew', 'release', '', 'lock_host', 'unlock_host', 'list_records', 'peek_record',
  'open_record', 'write_record', 'close_record', 'fetch']
const SUPPLY_KINDS = { 8: 'list_marks', 9: 'read_mark', 11: 'update_mark' }
const SOURCE = ['peer_times', 'claim', 'renew', 'release', 'fetch']
const TIMES = ['from', 'until', 'now', 'server_time', 'peer_times', 'from_ms', 'until_ms', 'now_ms']
const SLOT = 4096
const { errors } = vectors('errors.json')

/** Moves times: scenarios count from their beginning. */
function moved(value, by, name) {
  if (Array.isArray(value)) return value.map(each => moved(each, by, name))
  if (typeof value === 'number') return TIMES.includes(name) ? value + by : value
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, moved(each, by, name)]))
}

/** The files and the locks of one machine. The names of files begin with the id space. */
export class Disk {
  files = new Map()
  /** Who holds what. */
  locks = new Map()

  lock(what, owner) {
    if (!this.locks.has(what)) this.locks.set(what, owner)
    return this.locks.get(what) === owner
  }

  /** The process is gone, or all are. */
  unlock(owner) {
    for (const [what, by] of this.locks) if (!owner || by === owner) this.locks.delete(what)
  }

  /** A slot of a file loses some of what was written. */
  damage(name, slot) {
    const bytes = this.files.get(name)
    const text = at => new TextDecoder().decode(bytes.subarray(at * SLOT, (at + 1) * SLOT))
    const [first, second] = [0, 1].map(at => JSON.parse(/^\{.*\}/.exec(text(at))?.[0] ?? '{}').number ?? -1)
    const newest = second > first ? 1 : 0
    for (const at of { newest: [newest], older: [1 - newest], both: [0, 1] }[slot]) bytes[at * SLOT + 30] ^= 1
  }
}

class Process {
  /** The calls that the scenario answers, and those that it answers later, by their names. */
  asked = []
  later = new Map()

  constructor(stage, name, options, module = new Module()) {
    Object.assign(this, { stage, name, options, module, space: options.name })
  }

  call(name, ...values) {
    return this.module.call(name, ...values)
  }

  /** Calls an export of the machine at the time of now. */
  at(name, ...values) {
    return this.call(name, this.machine, ...values, this.stage.wall, this.stage.boot)
  }

  due() {
    const due = this.module.exports.next_time(this.machine)
    return due < 0 ? Infinity : due
  }

  drive() {
    let events
    do {
      events = 0
      for (let call; (call = this.at('next_call')) !== 0; events++) this.begins(call)
      for (let notice; (notice = this.at('next_notice')) !== 0; events++) this.told(notice, ...this.module.numbers(1))
      this.serve()
    } while (events > 0 || this.due() <= this.stage.boot)
  }

  told(notice, number) {
    const { stage, module } = this
    if (notice === 1) {
      assert.ok(!this.asked.some(({ call }) => call === number), 'what it does not answer is given up')
      stage.abandoned.push({ process: this, call: number })
    }
    if (notice === 2) this.woken(number)
    if (notice === 3) stage.log.push([number, module.text()])
    const error = notice === 4 && number > 0 && { ...errors.find(each => each.number === number), message: module.text() }
    if (notice === 4) stage.ends(stage.closed, this.name, error ? { error } : {})
  }

  begins(call) {
    const kind = this.call('call_request', call, 5n, ++this.stage.random)
    const asked = { call, kind, numbers: this.module.numbers(5), texts: this.module.list() }
    Object.assign(asked, kind === REQUEST ? this.request(asked) : this.sent(asked))
    asked.sent = moved(asked.sent, -this.stage.start)
    if (kind === REQUEST || SOURCE.includes(asked.name) || this.stage.lists(asked.name)) this.asked.push(asked)
    else this.end(asked, {})
  }

  /** The name of a call, and what it sends. */
  sent({ kind, numbers, texts: [text = null, second] }) {
    const name = (this.machineKinds ?? {})[kind] ?? KINDS[kind]
    const [first, now_ms, until_ms, , last] = numbers.map(number => (Number.isNaN(number) ? null : number))
    if (name === 'fetch') return { name, sent: { tag: second, step: first, after: Number(text) } }
    if (name.endsWith('_mark')) return { name, sent: { tag: text.replace(/^.*-|\.mark$/g, '') } }
    if (name === 'claim') return { name, sent: { name: text, previous: first, now_ms, until_ms } }
    return { name, sent: { worker_id: first, token: text, until_ms: last } }
  }

  request({ numbers: [isPost], texts: [text, type, body, ...pairs] }) {
    const url = new URL(text)
    const isJson = type === 'application/json'
    const fields = [...url.searchParams, ...new URLSearchParams(isJson ? '' : (body ?? ''))]
    const read = ([name, value]) => [name, /^(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value]
    const sent = { ...Object.fromEntries(fields.map(read)), ...(isJson && JSON.parse(body)) }
    const headers = { 'content-type': type }
    for (let at = 0; at < pairs.length; at += 2) headers[pairs[at].toLowerCase()] = pairs[at + 1]
    return { name: `${isPost ? 'POST' : 'GET'} ${url.origin}${url.pathname}`, sent, headers }
  }

  /** A call ends as a step says. */
  end(asked, { twice, ...how }) {
    const again = () => this.call('call_end', asked.call, 0, 0, '')
    this.ends(asked, how)
    if (twice) assert.throws(again, { code: 'internal', message: /^a call ended a second time/ })
    if (this.machine) this.at('done', asked.call)
    else this.module.exports.free(asked.call)
    assert.throws(again, { code: 'closed' })
  }

  ends(asked, { gives, fails, status = 200, age, ends_early }) {
    const { call, kind, name, sent } = asked
    const { start } = this.stage
    const how = (how, number = 0, text = '') => this.call('call_end', call, how, number, text)
    if (kind === REQUEST && fails) return how({ closed: 3, 'no answer': 4, 'no connection': 5 }[fails], 0, fails)
    if (kind === REQUEST) {
      const text = typeof gives === 'string' ? gives : gives === null ? '' : JSON.stringify(moved(gives, start))
      const body = text.replace(/\$(\w+)/g, (_, name) => sent[name])
      const length = String(body.length + (ends_early ? 1 : 0))
      return this.call('call_response', call, status, 0, undefined, age, length, undefined, body)
    }
    if (!SOURCE.includes(name)) return fails ? this.call('call_failed', call, 3, 3, name, fails, '') : how(this.useDisk(asked, gives))
    if (typeof fails === 'string') return how(2, 0, fails)
    if (fails) return how(2, errors.find(({ code }) => code === fails.error).number, fails.says)
    if (gives === null) return how(name === 'release' ? 0 : 1)
    if (name === 'fetch') return this.call('call_fetched', call, BigInt(gives.start), BigInt(gives.end), BigInt(gives.stride ?? 1))
    const lease = name === 'peer_times' ? { peer_times_ms: gives } : typeof gives === 'number' ? { worker_id: gives } : gives
    const { worker_id = NaN, from_ms = NaN, until_ms = NaN, lease_ms = NaN, token, peer_times_ms = [] } = lease
    const times = new Uint8Array(BigInt64Array.from(peer_times_ms, time => BigInt(time + start)).buffer)
    return this.call('call_answered', call, worker_id, from_ms + start, until_ms + start, lease_ms, token, times)
  }

  /** Carries out a call for a file or a lock. Returns 0, or 1 if another one holds it. */
  useDisk({ call, name, texts: [file], numbers: [workerId] }, gives) {
    const { files, locks } = this.stage.disk
    const isLock = name.endsWith('_host')
    const path = isLock ? `worker id ${workerId} of ${this.space}` : `${this.space}/${file}`
    if (name === 'lock_host' || name === 'open_record') {
      if (gives === 'held' || !this.stage.disk.lock(path, this)) return 1
    }
    if (name === 'unlock_host' || name === 'close_record') locks.delete(path)
    if (isLock || name === 'close_record') return 0
    if (name.startsWith('list')) {
      for (const [name, bytes] of files) {
        if (name.startsWith(path)) this.call('call_found', call, this.stage.wall, name.slice(this.space.length + 1), bytes)
      }
      return 0
    }
    if (!files.has(path) && (name === 'open_record' || name === 'update_mark')) {
      this.call('call_initial', call)
      if (this.module.output().length > 0) files.set(path, this.module.output())
    }
    const now = this.call('filtered_ms', this.stage.wall, this.stage.boot)
    for (let first = 1; this.call('call_step', call, first, now, 3n, ++this.stage.random, path, files.get(path)) === 1; first = 0) {
      files.get(path).set(this.module.output(), ...this.module.numbers(1))
    }
    return 0
  }
}

/** A process with a snowflake, and those who take ids of it. */
export class Flake extends Process {
  takers = new Map()

  constructor(...given) {
    super(...given)
    const { stage, options, space } = this
    // So that it is no warning that another host may have the worker id.
    const checked = this.call('options_of_run', JSON.stringify({ exclusive_range: true, ...options }), '', 'here')
    const fields = (this.call('layout_fields', checked), this.module.numbers(6))
    this.layout = this.call('layout_new', ...fields.slice(0, 5), fields[5] === 0 ? 'worker-sequence' : 'sequence-worker')
    const texts = [space, 'ext4', 'here', stage.bootId, 'another process']
    this.machine = this.call('run_new', checked, options.persist === false ? 0 : 2, stage.loops, 42, ...texts, 7n, stage.wall, stage.boot)
  }

  open({ blocks_ms = NaN, blocks_loop }) {
    this.opens = this.at('run_want', 0, blocks_loop ? 0 : 1, 0, blocks_ms)
  }

  workerId() {
    this.call('run_generator', this.machine)
    return this.module.numbers(1)[0]
  }

  drive() {
    super.drive()
    const opened = () => (this.at('run_answer', this.opens) === 0 ? undefined : { worker_id: this.workerId() })
    if (this.opens && this.stage.tried(this.name, opened)) this.opens = undefined
  }

  times() {
    const { wall, boot } = this.stage
    const times = [...this.takers.values()].flatMap(({ until, sleeps }) => [until - wall + boot, sleeps])
    return [this.due(), ...times.filter(time => time > boot)]
  }

  woken() {}

  take({ take, blocks_ms = NaN }, by) {
    this.takers.set(by, { left: take, longest: blocks_ms, ids: [] })
  }

  serve() {
    for (const [by, taker] of [...this.takers].sort()) if (this.stage.tried(by, () => this.step(taker))) this.takers.delete(by)
  }

  /** All its ids, or nothing if it has to wait. */
  step(taker) {
    const { stage, module } = this
    for (;;) {
      const now = this.call('filtered_ms', stage.wall, stage.boot)
      if (now < taker.until) return undefined
      const most = Math.min(taker.left, 4096)
      let count = taker.wait ? -1 : module.exports.snowflake_reserve(this.call('run_generator', this.machine), now, most)
      if (count < 0) {
        taker.wait ??= this.call('run_wait_new', this.machine, 0, taker.longest)
        count = this.at('run_wait', taker.wait, most)
      }
      const [number] = module.numbers(1)
      taker.until = count === UNTIL ? number : undefined
      taker.sleeps = count === SLEEP ? stage.boot + number : undefined
      if (count === SLEEP) return undefined
      if (count < 0) continue
      taker.ids.push(...module.ids(count).map(id => this.parts(id)))
      if (taker.wait) this.call('run_wait_end', this.machine, taker.wait)
      taker.wait = undefined
      taker.left -= count
      if (taker.left === 0) return { ids: taker.ids }
    }
  }

  parts(id) {
    this.call('decode', this.layout, id)
    const [time, ...others] = this.module.numbers(3)
    return [time - this.stage.start, ...others]
  }

  waits(by) {
    return this.takers.has(by) || (by === this.name && this.opens !== undefined)
  }

  leave(by) {
    if (this.takers.delete(by)) return
    this.at('run_give_up', this.opens)
    this.opens = undefined
  }

  close({ quietly, from_source }) {
    this.isClosed = true
    this.at('run_want', 2, quietly ? 1 : 0, from_source ? 0 : 1, NaN)
  }

  stats() {
    this.at('run_stats')
    const [reserved, lead_ms, until, ids, claims, renewals, renewal_failures] = this.module.numbers(7)
    const last_error = this.module.text()
    const [reserved_until_ms, lease_until_ms] = [reserved - this.stage.start, until - this.stage.start]
    return { reserved_until_ms, lease_until_ms, lead_ms, ids, claims, renewals, renewal_failures, last_error, worker_id: this.workerId() }
  }
}

/** A process with segments, and the lines of those who wait for ids of its tags. */
export class Supply extends Process {
  machineKinds = SUPPLY_KINDS
  /** By the number of the tag: who waits, and ids of those who left. */
  lines = new Map()

  constructor(...given) {
    super(...given)
    this.machine = this.call('supply_new', JSON.stringify(this.options), '', 7n)
    ;[this.timeout] = this.module.numbers(1)
    this.call('supply_place', this.machine, this.space)
  }

  open() {}

  drive() {
    if (this.machine) super.drive()
  }

  tag(name = 'order') {
    const number = this.call('supply_tag', this.machine, name)
    if (!this.lines.has(number)) this.lines.set(number, { callers: [], back: [] })
    return number
  }

  of(name, tag, ...values) {
    return this.call(`supply_${name}`, this.machine, tag, ...values, this.stage.boot)
  }

  take({ take, tag, blocks_ms, timeout_ms = this.timeout }, by) {
    const has = this.stage.tried(by, () => {
      const { callers } = this.lines.get(this.tag(tag))
      if (blocks_ms !== undefined) return { ids: this.all(this.tag(tag), take) }
      return void callers.push({ by, left: take, ids: [], timeout: timeout_ms, since: this.stage.boot })
    })
    if (!has) this.woken(this.tag(tag))
  }

  /** All of these ids, or none. */
  all(tag, count) {
    const ids = this.module.ids(this.of('take', tag, count))
    while (ids.length < count) ids.push(...this.module.ids(this.call('supply_taken', this.machine)))
    return ids
  }

  /** Ids of a run, or none. */
  some(tag, most, need = 1) {
    const count = this.of('run', tag, most, need)
    return count === USED_UP ? [] : this.module.ids(count)
  }

  /** Serves the line of a tag. */
  woken(tag) {
    const { callers, back } = this.lines.get(tag)
    const ends = outcome => this.stage.ends(this.stage.outcomes, callers.shift().by, outcome)
    try {
      while (callers.length > 0) {
        const [caller] = callers
        const need = callers.reduce((sum, { left }) => sum + left, 0)
        const ids = back.length > 0 ? back.splice(0, caller.left) : this.some(tag, Math.min(caller.left, 4096), need)
        if (ids.length === 0 && this.of('wait', tag, 1) === 0) return
        caller.ids.push(...ids)
        caller.left -= ids.length
        if (ids.length > 0) caller.since = this.stage.boot
        if (caller.left === 0) ends({ ids: caller.ids })
      }
    } catch (error) {
      while (callers.length > 0) ends({ error })
    }
    if (this.machine) this.of('wait', tag, 0)
  }

  /** Those whose time is over. */
  serve() {
    for (const [tag, { callers }] of this.lines) {
      for (const { by, timeout } of callers.filter(({ since, timeout }) => since + timeout <= this.stage.boot)) {
        this.stage.tried(by, () => this.of('late', tag, timeout))
        this.leave(by)
      }
    }
  }

  times() {
    const callers = [...this.lines.values()].flatMap(({ callers }) => callers)
    return this.machine ? [this.due(), ...callers.map(({ since, timeout }) => since + timeout)] : []
  }

  waits(by) {
    return [...this.lines.values()].some(({ callers }) => callers.some(caller => caller.by === by))
  }

  leave(by) {
    for (const [tag, { callers, back }] of this.lines) {
      const at = callers.findIndex(caller => caller.by === by)
      if (at < 0) continue
      back.push(...callers.splice(at, 1)[0].ids)
      if (callers.length === 0) this.of('wait', tag, 0)
    }
  }

  close() {
    this.module.exports.free(this.machine)
    this.machine = 0
    for (const [tag, { callers }] of this.lines) if (callers.length > 0) this.woken(tag)
    this.stage.ends(this.stage.closed, this.name, {})
  }

  stats({ tag }) {
    const number = this.tag(tag)
    this.call('supply_tag_stats', this.machine, number)
    const [left, ids, step, , fetches, failures] = this.module.numbers(6)
    const [error, ...outcomes] = this.module.list()
    return { left: left + this.lines.get(number).back.length, ids, step, fetches, failures, last_error: error ?? '', outcomes }
  }
}
