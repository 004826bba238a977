// The scenarios of tests/scenarios whose time may be the real one: segments that a function gives.

import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { LeafidError, Segments, setLogger } from 'leafid'
import { HANG, root, space, wasm } from './support.mjs'

const folder = join(root, 'tests/scenarios/api')
const NEEDS_A_CLOCK = ['clock_ms', 'kill', 'reboot_ms', 'damage', 'remove']

/** Without a virtual clock: of the time nothing may be said but that something comes in the end. */
const canBePlayed = steps =>
  steps.every((step, at) => {
    const after = steps[at + 1] ?? {}
    if (NEEDS_A_CLOCK.some(word => word in step) || step.timeout_ms < 60_000) return false
    if ('blocks_ms' in step && step.take > 1) return false
    return !('pass_ms' in step) || 'asks' in after || 'pass_ms' in after
  })

const camel = options =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name.replace(/_./g, at => at[1].toUpperCase()), value]))

/** "…" is any text. */
const fits = (said, text) =>
  new RegExp(`^${said.split('…').map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*')}$`, 's').test(text)

/** Awaits until something is so. */
async function until(isSo) {
  while (!isSo()) await new Promise(done => setTimeout(done, 1))
}

/** Has a method for each word with which a step begins. */
class Player {
  opened = new Map()
  callers = new Map()
  asked = []
  pending = new Map()
  lines = []

  constructor(given) {
    this.given = given
    setLogger(({ level, message }) => void this.lines.push([level, message]), 'info')
  }

  async play(step) {
    const verb = Object.keys(step).find(word => word in Player.prototype)
    await this[verb](step)
  }

  open({ open, options }) {
    const fetch = (tag, step, after) =>
      new Promise((give, refuse) => this.asked.push({ of: open, tag, step, after: Number(after), give, refuse }))
    this.opened.set(open, new Segments({ ...this.given, ...camel(options ?? {}), fetch }))
  }

  async take(step) {
    const { take, of = [...this.opened.keys()].at(-1), tag = 'order', by = 'it' } = step
    const abort = new AbortController()
    const call = { abort }
    try {
      const its = this.opened.get(of)
      const from = its.tag(tag)
      const waiting = () => its.stats().tags.find(each => each.tag === tag)?.waiting ?? 0
      const before = waiting()
      call.got = 'blocks_ms' in step ? [from.tryNext()] : from.take(take, { signal: abort.signal })
      call.ends = Promise.resolve(call.got).then(ids => ({ ids }), error => ({ error })).then(end => (call.end = end))
      await until(() => call.end || 'ids' in step || waiting() > before)
    } catch (error) {
      call.ends = Promise.resolve({ error })
    }
    this.callers.set(by, call)
    if ('ids' in step || 'error' in step) await this.gets({ ...step, gets: by })
  }

  async gets({ gets, ids, error, says = '…' }) {
    const end = await this.callers.get(gets).ends
    this.callers.delete(gets)
    if (error === 'would_block') return assert.deepEqual(end, { ids: [undefined] })
    if (error) {
      assert.ok(end.error instanceof LeafidError, end.error)
      assert.equal(end.error.code, `ERR_LEAFID_${error.toUpperCase()}`)
      return assert.ok(fits(says, end.error.message), end.error.message)
    }
    assert.ifError(end.error)
    const got = Array.from(end.ids, Number)
    assert.deepEqual(ids, Array.isArray(ids) ? got : { count: got.length, first: got[0], last: got.at(-1) })
  }

  async asks(step) {
    // Of several tags they come in any order.
    const isIt = asked => ['of', 'tag'].every(word => !(word in step) || step[word] === asked[word])
    await until(() => this.asked.some(isIt))
    const [asked] = this.asked.splice(this.asked.findIndex(isIt), 1)
    assert.equal(step.asks, 'fetch')
    for (const word of ['step', 'after']) if (word in step) assert.equal(asked[word], step[word], word)
    if (step.later) this.pending.set(step.later, asked)
    else give(asked, step)
  }

  answers(step) {
    give(this.pending.get(step.answers), step)
    this.pending.delete(step.answers)
  }

  async log({ log, info = false }) {
    const isIt = ([level, text]) => (info ? level === 'info' && fits(log, text) : level === 'warn')
    await until(() => this.lines.some(isIt))
    const [[, text]] = this.lines.splice(this.lines.findIndex(isIt), 1)
    assert.ok(fits(log, text), text)
  }

  async waits({ waits }) {
    assert.equal(this.callers.get(waits).end, undefined)
  }

  leave({ leave }) {
    this.callers.get(leave).abort.abort()
    this.callers.delete(leave)
  }

  close({ close }) {
    this.opened.get(close).close()
  }

  // It is, when `close` returns.
  closed() {}

  async stats({ stats, tag = 'order', last_error, ...said }) {
    const its = () => this.opened.get(stats).stats().tags.find(each => each.tag === tag)
    await until(() => Object.entries(said).every(([name, value]) => Number(its()[name]) === value))
    if (last_error) assert.ok(fits(last_error, its().lastError?.message ?? ''))
  }

  // What is asked next comes by itself.
  pass_ms() {}

  comment() {}

  end() {
    setLogger(null)
    for (const asked of [...this.asked, ...this.pending.values()]) asked.refuse(new Error('the scenario is over'))
    for (const ids of this.opened.values()) ids.close()
  }
}

function give({ give, refuse }, { gives, fails }) {
  if (fails) refuse(new Error(fails))
  else give(gives && Object.fromEntries(Object.entries(gives).map(([name, value]) => [name, BigInt(value)])))
}

for (const file of readdirSync(folder).sort()) {
  // What a number of JavaScript's cannot hold.
  const text = readFileSync(join(folder, file), 'utf8').replace(/: (\d{16,})/g, ': "$1"')
  const theme = JSON.parse(text)
  for (const { name, options, steps } of theme.scenarios) {
    const { fetch, ...given } = { ...theme.options, ...options }
    if (fetch !== '<function>' || !canBePlayed(steps)) continue
    // Without files no process knows the marks of another one.
    const skip = wasm && basename(file) === 'marks.json'
    test(`${basename(file, '.json')}: ${name}`, { skip }, async () => {
      const player = new Player({ ...camel(given), ...space(), timeoutMs: HANG })
      try {
        for (const step of steps) await player.play(step)
        assert.deepEqual([player.asked.length, player.callers.size], [0, 0])
      } finally {
        player.end()
      }
    })
  }
}
