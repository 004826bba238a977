// Calls that wait: in which order they are served, how long, and how they end without losing an id.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Segments } from 'leafid'
import { Counter, HANG, alone, between, sleep, until } from './counter.mjs'

const UNAVAILABLE = 'ERR_LEAFID_SEGMENT_UNAVAILABLE'

/** A source that answers on command. */
class Gate extends Counter {
  #open = null
  #wait = null

  constructor(options) {
    super(options)
    this.shut()
    const fetch = this.fetch
    this.fetch = async (tag, step) => {
      await this.#wait
      return fetch(tag, step)
    }
  }

  shut() {
    this.#wait = new Promise(done => (this.#open = done))
  }

  open() {
    this.#open()
  }
}

test('a call ends after its own time', async () => {
  const ids = new Segments({ ...alone(), timeoutMs: 400, fetch: new Gate().fetch })
  const order = ids.tag('order')
  const begun = performance.now()
  const after = async (ms, call) => {
    await assert.rejects(call, { code: UNAVAILABLE, message: new RegExp(`no id of the tag "order" within ${ms} ms`) })
    assert.ok(performance.now() - begun >= ms - 3, `within ${ms} ms`)
  }
  await Promise.all([
    after(400, order.next()),
    after(100, order.take(5, { timeoutMs: 100 })),
    after(30, order.nextString({ timeoutMs: 30 })),
    after(600, order.next({ timeoutMs: 600 })),
  ])
  assert.equal(order.stats().waiting, 0)
  ids.close()
})

test('a call waits with the longest timeout, too', async () => {
  const ids = new Segments({ ...alone(), timeoutMs: 3_600_000, fetch: async (tag, step) => ({ start: 1, end: 1 + step }) })
  assert.equal(await ids.tag('order').next(), 1n)
  ids.close()
})

test('a busy event loop does not cost a call its id', async () => {
  const counter = new Counter()
  const ids = new Segments({ ...alone(), step: 10, fetch: counter.fetch, timeoutMs: 2000 })
  const order = ids.tag('order')
  const call = order.take(10)
  // The answer is on its way when the loop is busy for longer than the call's time.
  await until('the fetch', () => counter.asked.length > 0)
  for (const end = Date.now() + 2500; Date.now() < end; );
  assert.equal((await call).length, 10)
  ids.close()
})

test('a take that makes progress gets its time again', async () => {
  const answers = []
  const ids = new Segments({ ...alone(), fetch: () => new Promise(done => answers.push(done)) })
  const call = ids.tag('order').take(20, { timeoutMs: 5000 }).catch(error => error)
  await until('the fetch', () => answers.length === 1)
  await sleep(500)
  const begun = performance.now()
  answers[0]({ start: 1, end: 11 })
  assert.equal((await call).code, UNAVAILABLE)
  assert.ok(performance.now() - begun >= 5000 - 3)
  ids.close()
})

test('an aborted call ends at once with the reason, and loses no id', async () => {
  let answer
  let next = 1
  const fetch = () => new Promise(done => (answer = () => done({ start: next, end: (next += 10) })))
  const ids = new Segments({ ...alone(), step: 10, timeoutMs: HANG, fetch })
  const order = ids.tag('order')
  const controllers = Array.from({ length: 4 }, () => new AbortController())
  const [a, b, c, d] = controllers.map(({ signal }) => signal)
  const calls = [order.take(25, { signal: a }), order.next({ signal: b }), order.nextString({ signal: c }), order.take(3, { signal: d })]
  const ends = calls.map(call => call.then(ids => ids, error => error))
  await until('the fetch', () => answer)
  const reason = new Error('enough')
  controllers[1].abort(reason)
  assert.equal(await ends[1], reason)
  // The first has ten of its ids by now.
  answer()
  await until('the second fetch', () => order.stats().fetches === 1 && answer)
  controllers[0].abort()
  const error = await ends[0]
  assert.equal(error.name, 'AbortError')
  assert.deepEqual([await ends[2], await ends[3]], ['1', new BigInt64Array([2n, 3n, 4n])])
  // After its call an abort is nothing; one before it is an error at once.
  controllers[2].abort()
  await assert.rejects(order.next({ signal: a }), { name: 'AbortError' })
  assert.deepEqual([...(await order.take(6))], between(5, 10))
  assert.equal(order.stats().waiting, 0)
  ids.close()
})

test('aborted in great numbers, the rest is served in order', async () => {
  const gate = new Gate()
  const ids = new Segments({ ...alone(), fetch: gate.fetch })
  const order = ids.tag('order')
  const controller = new AbortController()
  const calls = Array.from({ length: 4000 }, (_, i) => order.next(i % 2 ? { signal: controller.signal } : undefined))
  const ends = Promise.allSettled(calls)
  await sleep(10)
  controller.abort()
  gate.open()
  const served = (await ends).filter(({ status }) => status === 'fulfilled').map(({ value }) => value)
  assert.deepEqual(served, between(1, 2000))
  ids.close()
})
