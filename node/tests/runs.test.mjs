// The ids that a thread has taken in advance: node/js/native/tick_run.js. They are above all others, as if each had been taken
// when it is issued.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Snowflake, decode } from 'leafid'
import { assertDistinct, inMemory, space } from './support.mjs'

const require = createRequire(import.meta.url)
const lib = name => require(join(dirname(require.resolve('leafid')), 'lib', name))
const ROUNDS = 400
/** Its ticks are never used up, and begin with 0. */
const WIDE = { layout: '35|5|23', epochMs: Date.UTC(2026, 0), randomStart: 0 }
const wide = () => ({ ...space(), worker: 1, persist: false, ...WIDE })

const parts = id => decode(id, { timestampBits: 35, workerBits: 5, sequenceBits: 23, epochMs: WIDE.epochMs })
const ascending = ids => ids.every((id, i) => i === 0 || ids[i - 1] < id)
const many = (call, count) => Array.from({ length: count }, call)

/** Early in a fresh millisecond. */
function freshMs() {
  for (const begun = Date.now(); Date.now() === begun; );
}

/** What `round` returns for ids of one tick, each time that a tick lasts as long: once at least. */
function inOneTick(round) {
  const found = []
  for (let i = 0; i < ROUNDS || found.length === 0; i++) {
    freshMs()
    const { ids, value } = round()
    if (parts(ids[0]).timestampMs === parts(ids.at(-1)).timestampMs) found.push(value)
  }
  return found
}

/** How many sequence numbers lie between two ids of a tick. */
const between = (one, other) => parts(other).sequence - parts(one).sequence - 1

test('few ids of a millisecond leave no gaps, whoever comes next', () => {
  const options = wide()
  const [one, two] = [new Snowflake(options), new Snowflake(options)]
  const gaps = inOneTick(() => {
    const ids = [...many(one.next, 16), two.next(), ...many(one.next, 15), ...two.take(3)]
    return { ids, value: between(ids[0], ids.at(-1)) - (ids.length - 2) }
  })
  assert.deepEqual(new Set(gaps), new Set([0]))
  one.close()
  two.close()
})

test('many ids of a millisecond are taken in advance, an eighth of those before at most', () => {
  const options = wide()
  const [one, two] = [new Snowflake(options), new Snowflake(options)]
  const gaps = inOneTick(() => {
    const ids = many(one.next, 500)
    const other = two.next()
    const value = between(ids.at(-1), other)
    ids.push(other, one.next())
    assert.ok(ascending(ids))
    return { ids, value }
  })
  assert.ok(gaps.some(gap => gap > 0), 'a run is held')
  assert.ok(gaps.every(gap => gap <= 500 / 8), `${Math.max(...gaps)}`)
  one.close()
  two.close()
})

test('next, take, fill and another object in any order: each id is above all before', () => {
  for (const layout of [WIDE, {}, { layout: 'js-safe' }, { onExhausted: 'borrow' }, { clockSource: 'coarse' }]) {
    const options = { ...space(), worker: 1, ...layout }
    const [one, two] = [new Snowflake(options), new Snowflake(options)]
    const calls = [
      () => many(one.next, 300),
      () => [two.next()],
      () => [...one.take(7)],
      () => many(one.nextString, 20).map(BigInt),
      () => [...two.fill(new BigInt64Array(3))],
      () => many(two.next, 40),
    ]
    const ids = []
    for (let i = 0; ids.length < 50_000; i = (i * 7 + 3) % 1009) ids.push(...calls[i % calls.length]())
    assert.ok(ascending(ids), JSON.stringify(layout))
    one.close()
    two.close()
  }
})

test('threads in turn: each id is above those that the other thread had before', async () => {
  const options = wide()
  const turns = 2000
  // Whose turn it is, how many skipped ids, and the last id.
  const shared = new SharedArrayBuffer(16)
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    const { Snowflake } = require(${JSON.stringify(require.resolve('leafid'))})
    const flake = new Snowflake(workerData.options)
    parentPort.postMessage((${inTurn})(flake.next, workerData.shared, 1, ${turns}))
    flake.close()`
  const thread = new Worker(code, { eval: true, workerData: { options, shared } })
  const [answer, ended] = [once(thread, 'message'), once(thread, 'exit')]
  const flake = new Snowflake(options)
  const here = inTurn(flake.next, shared, 0, turns)
  const [there] = await answer
  assert.deepEqual([here, there], [0, 0])
  await ended
  flake.close()
})

/** Takes ids in turn with another thread, until runs were held, too. Returns how many are not above the one before. */
function inTurn(next, shared, me, turns) {
  const turn = new Int32Array(shared, 0, 1)
  const gaps = new Int32Array(shared, 4, 1)
  const last = new BigInt64Array(shared, 8, 1)
  let wrong = 0
  for (let i = 0; i < turns || Atomics.load(gaps, 0) === 0; i++) {
    while (Atomics.load(turn, 0) !== me) Atomics.wait(turn, 0, 1 - me, 100)
    let before = last[0]
    for (let k = 0; k < 200; k++) {
      const id = next()
      if (id <= before) wrong++
      if (k === 0 && id > before + 1n && id - before < 1000n) Atomics.add(gaps, 0, 1)
      before = id
    }
    last[0] = before
    Atomics.store(turn, 0, 1 - me)
    Atomics.notify(turn, 0)
  }
  return wrong
}

test('threads that open, issue and close at once: no id twice, and closed is closed', async () => {
  const options = { ...inMemory(), worker: 1, ...WIDE }
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    const { Snowflake } = require(${JSON.stringify(require.resolve('leafid'))})
    const ids = []
    for (let i = 0; i < 60; i++) {
      const flake = new Snowflake(workerData)
      for (let k = 0; k < 500; k++) ids.push(flake.next())
      flake.close()
      try {
        ids.push(flake.next(), 'issued after close')
      } catch ({ code }) {
        if (code !== 'ERR_LEAFID_CLOSED') throw new Error(code)
      }
    }
    parentPort.postMessage(ids)`
  const threads = [0, 1, 2].map(() => new Worker(code, { eval: true, workerData: options }))
  const all = await Promise.all(threads.map(thread => once(thread, 'message')))
  for (const [ids] of all) assert.ok(ascending(ids))
  assertDistinct(all.flatMap(([ids]) => ids))
})

test('a generator that ends issues nothing of a run', () => {
  // The parts of a snowflake, so that the generator ends behind the back of the run.
  const native = lib('native.js')
  const { TickRun } = lib('tick_run.js')
  const options = wide()
  let [held, last] = [0, 0n]
  for (let i = 0; i < 50 || held === 0; i++) {
    freshMs()
    const handle = native.open(options)
    const run = new TickRun(handle)
    const ids = many(() => run.next(), 500)
    handle.close()
    assert.throws(() => run.next(), { message: /the snowflake was closed/ })
    const next = new Snowflake(options)
    assert.ok(ascending([last, ...ids, next.next()]))
    held += parts(ids[0]).timestampMs === parts(ids.at(-1)).timestampMs
    last = next.next()
    next.close()
  }
})

/** Runs it with another `Date.now`, which leafid sees. */
function withClock(now, run) {
  const real = Date.now
  Date.now = now
  try {
    return run(real)
  } finally {
    Date.now = real
  }
}

test('a clock that stands, goes back or leaps: ids increase and have the time of the system', () => {
  const flake = new Snowflake(wide())
  const ids = many(flake.next, 1000)
  const start = Date.now()
  const clocks = [() => start, () => start - 10_000, () => start + 10_000, () => 0, () => NaN]
  for (const clock of clocks) {
    withClock(clock, real => {
      for (const end = real() + 20; real() < end; ) ids.push(...many(flake.next, 300))
      // More than a run that a clock that stands could prolong.
      const before = real()
      ids.push(...many(flake.next, 300))
      const [last, after] = [parts(ids.at(-1)).timestampMs, real()]
      assert.ok(last >= before && last <= after, `${last}, ${before} to ${after}`)
    })
  }
  let to = 0
  withClock(() => start + (to++ % 3), () => ids.push(...many(flake.next, 5000)))
  assert.ok(ascending(ids))
  flake.close()
})

test('a clock that takes ids itself: each id once', () => {
  const flake = new Snowflake(wide())
  const ids = []
  let [depth, calls] = [0, 0]
  withClock(
    () => 0,
    real => {
      Date.now = () => {
        if (depth++ === 0 && calls++ % 5 === 0) ids.push(...many(flake.next, 1 + (calls % 300)))
        depth--
        return real()
      }
      for (let i = 0; i < 20_000; i++) ids.push(flake.next())
    },
  )
  assert.ok(calls > 1000)
  assertDistinct(ids)
  assert.ok(!ids.includes(undefined) && !ids.includes(0n))
  flake.close()
})

test('a rest is dropped when the clock leaves its tick, or a fork comes', () => {
  const { GENERATION } = lib('generation.js')
  const real = Date.now
  const causes = {
    'the clock goes back': next => withClock(() => real() - 1, next),
    'the clock goes on': next => withClock(() => real() + 1, next),
    // What a forked child finds in that page. V8 itself leaves its heap out of children: this is the net below that.
    'a fork': next => {
      GENERATION[0] = 0
      const id = next()
      assert.ok(GENERATION[0] > 0)
      return id
    },
  }
  for (const [cause, after] of Object.entries(causes)) {
    const flake = new Snowflake(wide())
    const gaps = inOneTick(() => {
      const ids = many(flake.next, 500)
      ids.push(after(flake.next))
      return { ids, value: between(ids.at(-2), ids.at(-1)) }
    })
    assert.ok(gaps.some(gap => gap > 0), cause)
    assert.ok(gaps.every(gap => gap <= 500 / 8), cause)
    flake.close()
  }
})

test('if the rest is always dropped, few ids are taken in advance', () => {
  const flake = new Snowflake(wide())
  const wasted = withClock(() => 0, () => gapsOfTicks(flake))
  assert.ok(wasted.every(({ gaps, ids }) => gaps <= ids / 8), JSON.stringify(wasted))
  assert.ok(wasted.some(({ gaps }) => gaps > 0))
  flake.close()
})

/** The ids of some ticks, and the sequence numbers that none of them has, tick by tick. */
function gapsOfTicks(flake) {
  const ticks = new Map()
  for (let i = 0; i < 50_000; i++) {
    const { timestampMs, sequence } = parts(flake.next())
    const tick = ticks.get(timestampMs) ?? { ids: 0, gaps: 0 }
    ticks.set(timestampMs, { ids: tick.ids + 1, gaps: sequence - tick.ids })
  }
  return [...ticks.values()]
}
