// Plays a scenario step by step. Whatever happens and is not in it is a failure.

import assert from 'node:assert/strict'
import { Module } from './module.mjs'
import { Disk, Flake, Supply } from './scenario_host.mjs'

const LOOKS = ['asks', 'gets', 'waits', 'closed', 'log', 'abandons', 'stats', 'comment']
const GIVEN = { '<function>': { callback: true }, '<leases>': { leases: true } }
/** The module ends these itself. */
const ITS_OWN = ['names', 'list_lease_caches', 'read_lease_cache', 'write_lease_cache', 'drop_lease_cache']

/** "…" is any text. */
const fits = (said, text) =>
  new RegExp(`^${said.split('…').map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*')}$`, 's').test(text)

/** Ids as texts: JavaScript's numbers do not hold them all. */
const shown = id => (Array.isArray(id) ? JSON.stringify(id) : String(id))

function checkError(found, error, says = '…') {
  assert.equal(found?.code, error, found?.message)
  if (error) assert.ok(fits(says, found.message), found.message)
}

/** What all processes share. Has a method for each word with which a step begins. */
export class Stage {
  start = 2_000_000_000_000
  wall = this.start
  boot = 1_000_000_000
  bootId = 'the first start'
  /** 1: what is written ends on the event loop of who waits. */
  loops = 0
  random = 0n
  disk = new Disk()
  log = []
  outcomes = new Map()
  closed = new Map()
  abandoned = []
  names = new Map()
  modules = new Map()
  /** The last of a name is the one that is meant; those before have ended. */
  processes = []

  constructor(of, options, calls) {
    Object.assign(this, { Kind: of === 'segments' ? Supply : Flake, options, calls })
  }

  lists(name) {
    return this.calls === 'all' || (this.calls ?? []).includes(name)
  }

  ends(outcomes, name, outcome) {
    assert.ok(!outcomes.has(name), `what ${name} got before was not looked at`)
    outcomes.set(name, outcome)
  }

  /** Whether a caller got something by this, or an error. */
  tried(by, action) {
    let outcome
    try {
      outcome = action()
    } catch (error) {
      if (!error.code || error instanceof assert.AssertionError) throw error
      outcome = { error }
    }
    if (outcome) this.ends(this.outcomes, by, outcome)
    return outcome !== undefined
  }

  play(...steps) {
    for (const [at, step] of steps.entries()) {
      try {
        this.step(step)
      } catch (error) {
        error.message = `step ${at + 1}, ${JSON.stringify(step)}: ${error.message}`
        throw error
      }
    }
    return this
  }

  step(step) {
    const verb = Object.keys(step).find(word => word in verbs)
    if (!LOOKS.includes(verb)) this.nothingIsAsked()
    verbs[verb](this, step)
    for (const process of this.processes) process.drive()
    if (verb !== 'open' && verb !== 'take') return
    const caller = step.by ?? step.open ?? 'it'
    const says = ['error', 'ids', 'worker_id'].some(word => word in step)
    if (says || this.outcomes.has(caller)) verbs.gets(this, { ...step, gets: caller })
  }

  process(name = this.processes.at(-1).name) {
    return this.processes.findLast(process => process.name === name)
  }

  nothingIsAsked() {
    assert.deepEqual(this.processes.flatMap(({ asked }) => asked.map(({ name }) => name)), [])
    if (this.calls) assert.deepEqual(this.abandoned, [])
  }

  end() {
    this.nothingIsAsked()
    const warnings = this.log.filter(([level]) => level === 1)
    assert.deepEqual([[...this.outcomes], [...this.closed], warnings], [[], [], []])
  }

  /** Whether what is sent is as said. "<one>" is a name for a value, and for no other. */
  sends(said, sent) {
    if (typeof said !== 'string' || !said.startsWith('<')) return shown(said) === shown(sent)
    if (!this.names.has(said)) this.names.set(said, sent)
    return this.names.get(said) === sent && [...this.names.values()].filter(value => value === sent).length === 1
  }

  /** The next call that is asked for. */
  next(of) {
    return this.processes.find(({ name, asked }) => (of ?? name) === name && asked.length > 0)
  }
}

const verbs = {
  open(stage, step) {
    const { open, options } = step
    const [before, said] = [stage.process(open), JSON.stringify(options)]
    if (before instanceof Flake && !before.isClosed && before.said === said) return before.open(step)
    const of = step.in ?? open
    if (!stage.modules.has(of) || stage.Kind === Supply) stage.modules.set(of, new Module())
    stage.tried(open, () => {
      const given = Object.entries({ ...stage.options, ...options }).map(([name, value]) => [name, GIVEN[value] ?? value])
      const opened = new stage.Kind(stage, open, Object.fromEntries(given), stage.modules.get(of))
      stage.processes.push(Object.assign(opened, { said }))
      opened.open(step)
    })
  },

  take: (stage, step) => stage.process(step.of).take(step, step.by ?? 'it'),
  leave: (stage, { leave }) => stage.processes.find(process => process.waits(leave)).leave(leave),
  close: (stage, step) => stage.process(step.close).close(step),
  waits: (stage, { waits }) => assert.ok(stage.processes.some(process => process.waits(waits))),
  clock_ms: (stage, { clock_ms }) => void (stage.wall += clock_ms),
  damage: (stage, { damage, slot = 'newest' }) => stage.disk.damage(damage, slot),
  remove: (stage, { remove }) => assert.ok(stage.disk.files.delete(remove)),
  comment() {},

  gets(stage, { gets, ids, worker_id, error, says }) {
    const outcome = stage.outcomes.get(gets)
    assert.ok(outcome, `${gets} waits`)
    stage.outcomes.delete(gets)
    checkError(outcome.error, error, says)
    assert.equal(outcome.worker_id, worker_id)
    const got = outcome.ids?.map(shown)
    const { count, first, last } = ids ?? {}
    if (count) assert.deepEqual([got.length, got[0], got.at(-1)], [count, shown(first), shown(last)])
    else assert.deepEqual(got, ids?.map(shown))
  },

  closed(stage, { closed, error, says }) {
    checkError(stage.closed.get(closed).error, error, says)
    stage.closed.delete(closed)
  },

  asks(stage, { asks, of, later, needs_loop, gives, fails, twice, status, age, ends_early, headers = {}, ...said }) {
    if (ITS_OWN.includes(asks)) return
    const its = stage.next(of)
    const asked = its?.asked.shift()
    assert.equal(asked?.name, asks)
    for (const [word, value] of Object.entries(said)) assert.ok(stage.sends(value, asked.sent[word]), JSON.stringify(asked.sent))
    for (const [name, value] of Object.entries(headers)) assert.equal(asked.headers[name], value, name)
    if (needs_loop) its.at('run_needs_loop', asked.call)
    if (later ?? needs_loop) its.later.set(later ?? needs_loop, asked)
    else its.end(asked, { gives, fails, twice, status, age, ends_early })
  },

  answers(stage, step) {
    const its = stage.processes.find(({ later }) => later.has(step.answers))
    const asked = its.later.get(step.answers)
    its.later.delete(step.answers)
    its.end(asked, step)
  },

  abandons(stage, { abandons }) {
    const at = stage.abandoned.findIndex(({ process, call }) => process.later.get(abandons)?.call === call)
    assert.ok(at >= 0, 'it waits for it')
    stage.abandoned.splice(at, 1)
  },

  log(stage, { log, info }) {
    const at = stage.log.findIndex(([level, text]) => (info ? level === 0 && fits(log, text) : level === 1))
    assert.ok(at >= 0 && fits(log, stage.log[at][1]), JSON.stringify(stage.log))
    stage.log.splice(at, 1)
  },

  // The module does not tell whether a lease is lost.
  stats(stage, { stats, tag, last_error = '…', lost, ...said }) {
    const found = stage.process(stats).stats({ tag })
    assert.ok(fits(last_error, found.last_error), found.last_error)
    for (const [word, value] of Object.entries(said)) assert.equal(found[word], value, word)
  },

  /** All that is due happens on the way, each at its time. */
  pass_ms(stage, { pass_ms }) {
    const end = stage.boot + pass_ms
    while (stage.boot < end) {
      const due = Math.min(...stage.processes.flatMap(process => process.times()), end)
      const passed = Math.max(Math.ceil(due) - stage.boot, 0)
      stage.wall += passed
      stage.boot += passed
      for (const process of stage.processes) process.drive()
    }
  },

  kill(stage, { kill }) {
    stage.processes.filter(({ name }) => name === kill).forEach(process => stage.disk.unlock(process))
    stage.processes = stage.processes.filter(({ name }) => name !== kill)
    stage.modules.delete(kill)
  },

  reboot_ms(stage, { reboot_ms }) {
    stage.processes = []
    stage.modules.clear()
    stage.disk.unlock()
    stage.bootId = 'another start'
    stage.wall += reboot_ms
    stage.boot += reboot_ms
  },
}
