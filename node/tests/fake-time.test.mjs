// What test frameworks put in the place of timers and clocks stops no wait of leafid's.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Segments, Snowflake, decode } from 'leafid'
import { space, start } from './support.mjs'

const never = () => {}
/** As jest, sinon and vitest do: what they replace is called only when the test moves the time on. */
const REPLACED = {
  queueMicrotask: never,
  setTimeout: never,
  setInterval: never,
  setImmediate: never,
  clearTimeout: never,
  clearInterval: never,
  Date: class {
    static now() {
      return 0
    }
    getTime() {
      return 0
    }
  },
}

/** Replaces, as long as `run` continues. */
async function without(object, names, run) {
  const real = Object.fromEntries(Object.keys(names).map(name => [name, object[name]]))
  Object.assign(object, names)
  try {
    return await run()
  } finally {
    Object.assign(object, real)
  }
}

/** Each way to wait: for the source, for ids that others were before, for the user's promise, and until the time is over. */
async function waits() {
  let last = 0n
  const fetch = async (tag, step) => {
    if (tag === 'dead') throw new Error('it is down')
    last += BigInt(step)
    return { start: last - BigInt(step) + 1n, end: last + 1n }
  }
  const ids = new Segments({ fetch, step: 5, adaptive: false, ...space() })
  const order = ids.tag('order')
  assert.equal(await order.next(), 1n)
  const [second, many, another] = await Promise.all([order.next(), order.take(20), order.next()])
  assert.deepEqual([second, ...many, another], Array.from({ length: 22 }, (_, i) => BigInt(i) + 2n))
  await assert.rejects(ids.tag('dead').next({ timeoutMs: 30 }), { code: 'ERR_LEAFID_SEGMENT_UNAVAILABLE' })
  const opened = await Segments.open({ fetch, ...space() })
  opened.close()
  ids.close()
  const claimed = await Snowflake.open({ worker: async () => 7, ...space() })
  const id = claimed.next()
  assert.ok(Math.abs(Number(decode(id).time) - performance.timeOrigin - performance.now()) < 60_000)
  claimed.close()
  const lazy = new Snowflake({ worker: async () => 8, lazy: true, ...space() })
  assert.throws(lazy.next, { code: 'ERR_LEAFID_WOULD_BLOCK' })
  while (true) {
    try {
      lazy.next()
      break
    } catch (error) {
      assert.equal(error.code, 'ERR_LEAFID_WOULD_BLOCK')
      await turn()
    }
  }
  lazy.close()
}

/** A turn of the event loop, by what no fake replaces. */
function turn() {
  const { port1, port2 } = new MessageChannel()
  return new Promise(done => {
    port1.once('message', () => {
      port1.close()
      done()
    })
    port2.postMessage(0)
  })
}

for (const name of Object.keys(REPLACED)) {
  test(`ids are awaited where ${name} was replaced`, () => without(globalThis, { [name]: REPLACED[name] }, waits))
}

test('ids are awaited where all of them were replaced', () => without(globalThis, REPLACED, waits))

test('ids are awaited where performance stands still', async () => {
  await without(performance, { now: () => 0 }, async () => {
    const ids = new Segments({ fetch: async () => ({ start: 1, end: 5 }), ...space() })
    assert.equal(await ids.tag('order').next(), 1n)
    const hung = new Segments({ fetch: () => new Promise(never), ...space() })
    await assert.rejects(hung.tag('order').next({ timeoutMs: 30 }), { code: 'ERR_LEAFID_SEGMENT_UNAVAILABLE' })
    ids.close()
    hung.close()
  })
})

// Apart: the tests' own reporter needs it.
test('ids are awaited where process.nextTick was replaced', async t => {
  const program = start(
    t,
    `const { Segments } = require('leafid')
    const ids = new Segments({ fetch: async () => ({ start: 1, end: 5 }), ...options })
    const real = process.nextTick
    process.nextTick = () => {}
    ids.tag('order').next().then(id => {
      process.nextTick = real
      ids.close()
      console.log(String(id))
    })`,
    space(),
  )
  const { code, out, err } = await program.ended
  assert.deepEqual([code, out, err], [0, '1\n', ''])
})

test("ids are awaited under node:test's mock timers", async t => {
  t.mock.timers.enable()
  await waits()
})
