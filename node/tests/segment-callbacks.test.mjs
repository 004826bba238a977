// The user callback that gives segments: called from the event loop only, and whatever it does is an error, never a
// deadlock.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeafidError, Segments } from 'leafid'
import { Counter, alone, sleep, until } from './counter.mjs'
import { HANG, PATIENT, start } from './support.mjs'

const never = () => new Promise(() => {})

const open = (fetch, options) => new Segments({ ...alone(), timeoutMs: PATIENT, ...options, fetch })
/** Calls that are to fail wait only this long. */
const BRIEF = { timeoutMs: 2000 }

/** The error of a call that is right. One whose time ends while the source is being asked says that instead. */
const failure = (order, isRight) =>
  until('its error', async () => {
    const error = await order.next().then(id => assert.fail(String(id)), error => error)
    return isRight(error) && error
  })

test('it is called with tag, step and what was given so far, with no this', async () => {
  const asked = []
  const ids = open(function (...given) {
    asked.push([this, ...given])
    const start = 1000 * asked.length
    return { start, end: start + 10 }
  }, { step: 10 })
  await ids.tag('order').take(15)
  assert.deepEqual(asked.slice(0, 2), [[undefined, 'order', 15, 0n], [undefined, 'order', 10, 1010n]])
  ids.close()
})

test('never inside a call for ids', async () => {
  let inside = false
  const counter = new Counter()
  const ids = open((tag, step) => {
    assert.equal(inside, false)
    return counter.fetch(tag, step)
  })
  const order = ids.tag('order')
  for (let round = 0; round < 50; round++) {
    inside = true
    const calls = [order.next(), order.take(300)]
    order.tryNext()
    try {
      order.nextSync()
    } catch (error) {
      assert.equal(error.code, 'ERR_LEAFID_WOULD_BLOCK')
    }
    inside = false
    await Promise.all(calls)
  }
  assert.ok(counter.asked.length > 3)
  ids.close()
})

test('nextSync that needs the event loop is would_block, with the fetch begun', async () => {
  const counter = new Counter()
  const ids = open(counter.fetch, { timeoutMs: HANG })
  const order = ids.tag('order')
  assert.throws(order.nextSync, { code: 'ERR_LEAFID_WOULD_BLOCK', retry: true, message: /event loop/ })
  assert.throws(() => order.takeSync(10), { code: 'ERR_LEAFID_WOULD_BLOCK' })
  assert.throws(() => order.fill(new BigInt64Array(5)), { code: 'ERR_LEAFID_WOULD_BLOCK' })
  assert.equal(counter.asked.length, 0)
  const id = await until('the segment', () => order.tryNext())
  assert.equal(id, 1n)
  assert.equal(order.nextSync(), 2n)
  // All or nothing: what is at hand is there for the next.
  const array = new BigInt64Array(3000)
  assert.throws(() => order.fill(array), { code: 'ERR_LEAFID_WOULD_BLOCK' })
  assert.equal(await order.next(), 3n)
  ids.close()
})

test('what it throws, or is rejected with, is an error with its own text and cause', async () => {
  const boom = new Error('no such table: leaf_alloc')
  class Odd {
    toString() {
      throw new Error('again')
    }
  }
  const cases = [
    [() => { throw boom }, boom, /no such table: leaf_alloc$/],
    [async () => { throw boom }, boom, /no such table: leaf_alloc$/],
    [() => ({ then: (_, reject) => reject(boom) }), boom, /no such table/],
    [() => Promise.reject('text'), 'text', /failed: text$/],
    [() => Promise.reject(undefined), undefined, /failed: undefined$/],
    [() => { throw new Odd() }, undefined, /without a text$/],
  ]
  await Promise.all(cases.map(async ([fetch, cause, message]) => {
    const ids = open(fetch, BRIEF)
    const error = await failure(ids.tag('order'), error => message.test(error.message))
    assert.ok(error instanceof LeafidError)
    assert.deepEqual([error.code, error.retry], ['ERR_LEAFID_SEGMENT_UNAVAILABLE', true])
    assert.ok('cause' in error)
    if (cause) assert.equal(error.cause, cause)
    assert.match(ids.tag('order').stats().lastError, message)
    ids.close()
  }))
})

test('a LeafidError keeps its code', async () => {
  const ids = open(() => {
    throw new LeafidError('ERR_LEAFID_UNKNOWN_TAG', 'no row of that name')
  })
  await assert.rejects(ids.tag('order').next(), { code: 'ERR_LEAFID_UNKNOWN_TAG', message: 'no row of that name' })
  ids.close()
})

test('nothing is an unknown tag, at once, and not asked for in a loop', async () => {
  for (const nothing of [null, undefined]) {
    let asked = 0
    const ids = open(async () => (asked++, nothing), { timeoutMs: HANG })
    const order = ids.tag('order')
    const begun = performance.now()
    for (let i = 0; i < 100; i++) {
      await assert.rejects(order.next(), { code: 'ERR_LEAFID_UNKNOWN_TAG', message: /"order"/ })
    }
    await assert.rejects(order.take(5), { code: 'ERR_LEAFID_UNKNOWN_TAG' })
    const took = performance.now() - begun
    const before = asked
    assert.ok(before <= 4 + took / 100, `${before} fetches in ${took} ms`)
    await sleep(300)
    assert.equal(asked, before)
    ids.close()
  }
})

test('nonsense is source_invalid, and says what came; no id of it is issued', async () => {
  const nonsense = [
    5, 'x', true, [], [1, 2], 1n, Symbol('s'), () => {}, {}, { start: 1 }, { end: 5 }, { start: '1', end: '5' }, { start: 1.5, end: 5 },
    { start: 1, end: NaN }, { start: 1, end: 2 ** 53 }, { start: 1n, end: 2n ** 63n }, { start: -1n, end: 5 }, { start: 5, end: 5 }, { start: 5, end: 1 },
    { start: 1, end: 5, stride: 0 }, { start: 1, end: 5, stride: -1 }, { start: 1, end: 5, stride: '1' }, { start: 1, end: 5, step: 2 },
    { start: -(2n ** 70n), end: 1 }, new Map(), new Date(), Object.create(null),
  ]
  const tags = nonsense.map((_, i) => `t${i}`)
  const ids = open(async tag => nonsense[tags.indexOf(tag)], BRIEF)
  await Promise.all(tags.map(tag => failure(ids.tag(tag), ({ code }) => code === 'ERR_LEAFID_SOURCE_INVALID')))
  await failure(open(() => ({ start: 1, end: 9, stirde: 3 }), BRIEF).tag('order'), ({ message }) => /stirde: 3/.test(message))
  const hostile = { get start() { throw new Error('a getter') }, end: 5 }
  await failure(open(() => hostile, BRIEF).tag('order'), ({ message }) => /a getter/.test(message))
  ids.close()
})

test('one that never settles is an error that says so, and is not asked beside that', async () => {
  let asked = 0
  const ids = open(() => (asked++, never()), { timeoutMs: 1500 })
  const order = ids.tag('order')
  await assert.rejects(order.next(), { code: 'ERR_LEAFID_SEGMENT_UNAVAILABLE', message: /within 1500 ms: .*not answered/ })
  await assert.rejects(order.next(), { code: 'ERR_LEAFID_SEGMENT_UNAVAILABLE' })
  assert.equal(asked, 1)
  ids.close()
})

test('one that asks its own tag is an error, not a deadlock; another tag it may ask', async () => {
  const counter = new Counter()
  const ids = open(async (tag, step) => {
    if (tag === 'self') return { start: await ids.tag('self').next(), end: 5000n }
    if (tag === 'sums') {
      const start = await ids.tag('order').next()
      return { start, end: start + 10n }
    }
    return counter.fetch(tag, step)
  })
  assert.equal(await ids.tag('sums').next(), 1n)
  await assert.rejects(ids.tag('self').next(BRIEF), { code: 'ERR_LEAFID_SEGMENT_UNAVAILABLE' })
  ids.close()
})

const HEAD = "const { Segments } = require('leafid'); const never = () => new Promise(() => {});"

test('the process ends when it should, whatever the function does', async t => {
  const programs = {
    // Nothing that is awaited keeps it: neither a prefetch nor segments that are open.
    "const s = new Segments({ persist: false, fetch: never }); s.tag('a').tryNext()": [0, ''],
    "const s = new Segments({ persist: false, fetch: never }); try { s.tag('a').nextSync() } catch (e) { console.log(e.code) }": [0, 'ERR_LEAFID_WOULD_BLOCK'],
    // What is awaited does, until its time is over.
    "const s = new Segments({ persist: false, fetch: never, timeoutMs: 200 }); s.tag('a').next().catch(e => console.log(e.code))": [0, 'ERR_LEAFID_SEGMENT_UNAVAILABLE'],
    "const s = new Segments({ persist: false, fetch: (t, n) => ({ start: 1, end: 5 }) }); s.tag('a').next().then(String).then(console.log)": [0, '1'],
    "Segments.open({ persist: false, fetch: (t, n) => ({ start: 1, end: 5 }) }).then(s => s.tag('a').next()).then(String).then(console.log)": [0, '1'],
    // With a fetch under way.
    "const s = new Segments({ persist: false, fetch: never }); s.tag('a').next(); setTimeout(() => process.exit(3), 50)": [3, ''],
    "const s = new Segments({ persist: false, fetch: () => process.exit(4) }); s.tag('a').next()": [4, ''],
    "const s = new Segments({ persist: false, fetch: never }); s.tag('a').next(); setTimeout(() => { throw new Error('meant') }, 50)": [1, ''],
    "const s = new Segments({ persist: false, fetch: never }); s.tag('a').next().catch(e => console.log(e.code)); setTimeout(s.close, 50)": [0, 'ERR_LEAFID_CLOSED'],
    "const s = new Segments({ persist: false, fetch: never }); s.tag('a').next().catch(e => console.log(e.code)); setTimeout(() => s.close(), 50); process.on('exit', () => { try { s.tag('a').tryNext() } catch (e) { console.log(e.code) } })": [0, 'ERR_LEAFID_CLOSED\nERR_LEAFID_CLOSED'],
    "const { Worker } = require('worker_threads'); new Worker(\"const { Segments } = require('leafid'); const s = new Segments({ persist: false, fetch: () => new Promise(() => {}) }); s.tag('a').next()\", { eval: true }); setTimeout(() => process.exit(5), 200)": [5, ''],
    // An unhandled rejection is not hidden.
    "const s = new Segments({ persist: false, fetch: () => null }); s.tag('a').next()": [1, ''],
  }
  for (const [program, [code, out]] of Object.entries(programs)) {
    // A call that waits for its time is noticed: a later timeoutMs of the program replaces this one.
    const patient = program.replaceAll('persist: false,', `persist: false, timeoutMs: ${HANG},`)
    const ended = await start(t, HEAD + patient, {}).ended
    assert.equal(ended.code, code, `${program}: ${ended.err}`)
    assert.equal(ended.out.trim(), out, program)
  }
})
