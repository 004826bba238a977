// persist, startAfter, lazy and peerTimes.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Snowflake, compose, decode } from 'leafid'
import { wasm } from './counter.mjs'
import { inMemory, record, space, thrown } from './support.mjs'

const INVALID = 'ERR_LEAFID_INVALID_ARGUMENT'
const BACKWARDS = 'ERR_LEAFID_CLOCK_BACKWARDS'
const rejected = options => Snowflake.open(options).then(() => assert.fail('it was opened'), error => error)

test('without a record a later opening goes on above, and never runs ahead', () => {
  const options = { ...space(), worker: 1, persist: false }
  let last = 0n
  for (let round = 0; round < 5; round++) {
    const flake = new Snowflake(options)
    const ids = flake.take(10_000)
    assert.ok(ids[0] > last)
    last = ids.at(-1)
    assert.ok(decode(last).timestampMs <= Date.now())
    flake.close()
  }
})

test('startAfter takes an id in every form, and every id is of a later tick', () => {
  // Without a record no generator runs ahead.
  for (const written of wasm ? [] : [id => id, String]) {
    const aheadMs = Date.now() + 4000
    const ahead = compose(aheadMs, 900, 4095)
    const startAfter = written(ahead)
    const flake = new Snowflake({ ...space(), worker: 1, startAfter })
    assert.ok(decode(flake.next()).timestampMs > decode(ahead).timestampMs)
    assert.ok(flake.stats().leadMs > 0 || Date.now() > aheadMs)
    flake.close()
  }
  for (const startAfter of [0, 0n, '0', 2 ** 53 - 1, 1n, null, undefined]) {
    const flake = new Snowflake({ ...space(), worker: 1, startAfter })
    assert.ok(decode(flake.next()).timestampMs <= Date.now() + 1)
    flake.close()
  }
  const small = compose(Date.now() - 1000, 0, 0, 'js-safe')
  new Snowflake({ ...space(), worker: 0, layout: 'js-safe', startAfter: Number(small) }).close()
})

test('startAfter refuses what is no id of the layout, or too far ahead', () => {
  const wrong = [-1, -1n, 1.5, NaN, 2 ** 53, 2n ** 63n, 2n ** 64n, -(2n ** 70n), '', 'x', '-1', '1.5', ' 1', true, {}, [1n], Symbol('s')]
  for (const startAfter of wrong) {
    const error = thrown(() => new Snowflake({ ...space(), worker: 1, startAfter }))
    assert.equal(error.code, INVALID, String(startAfter))
    assert.match(error.message, /^startAfter is .*; allowed: /s)
  }
  assert.equal(thrown(() => new Snowflake({ ...space(), worker: 0, layout: 'js-safe', startAfter: 2n ** 60n })).code, INVALID)
  const far = compose(Date.now() + 60_000, 0, 0)
  const error = thrown(() => new Snowflake({ ...space(), worker: 1, startAfter: far }))
  assert.equal(error.code, BACKWARDS)
  assert.match(error.message, /^startAfter is an id of /)
})

test('lazy claims with the first id', () => {
  const options = { ...inMemory(), worker: 3 }
  const flake = new Snowflake({ ...options, lazy: true })
  assert.ok(wasm || !existsSync(join(options.stateDir, options.name)))
  const holder = new Snowflake({ ...options, randomStart: 0 })
  assert.equal(thrown(flake.next).code, 'ERR_LEAFID_WORKER_IN_USE')
  assert.equal(thrown(flake.stats).code, 'ERR_LEAFID_WORKER_IN_USE')
  holder.close()
  assert.equal(decode(flake.next()).workerId, 3)
  assert.equal(flake.stats().claims, 1)
  flake.close()
  assert.ok(wasm || record(options, 3).until_ms > 0)
  const unused = new Snowflake({ ...space(), worker: 3, lazy: true })
  unused.close()
  assert.equal(thrown(unused.next).code, 'ERR_LEAFID_CLOSED')
  assert.equal(thrown(() => new Snowflake({ ...options, lazy: true, worker: 1024 })).code, INVALID, 'options are checked at once')
})

test('lazy reads the environment at the first id', t => {
  const before = process.env.LEAFID_WORKER
  t.after(() => (before === undefined ? delete process.env.LEAFID_WORKER : (process.env.LEAFID_WORKER = before)))
  delete process.env.LEAFID_WORKER
  const options = space()
  const flake = new Snowflake({ ...options, lazy: true })
  const refused = thrown(flake.next)
  assert.equal(refused.code, INVALID)
  assert.match(refused.message, /^worker is not set, nor is LEAFID_WORKER; allowed: /)
  assert.equal(thrown(() => new Snowflake(options)).message, refused.message)
  process.env.LEAFID_WORKER = '9'
  assert.equal(decode(flake.next()).workerId, 9)
  flake.close()
  const other = new Snowflake({ ...space(), lazy: true })
  // Nothing listens there: the claim is not waited for.
  process.env.LEAFID_WORKER = 'http://127.0.0.1:1'
  assert.equal(thrown(other.next).code, 'ERR_LEAFID_WOULD_BLOCK')
  other.close()
})

test('peerTimes: a clock beside the median is refused', async () => {
  const ahead = () => Array(3).fill(Date.now() + 20_000)
  for (const peerTimes of [ahead, async () => ahead()]) {
    const error = await rejected({ ...space(), worker: 1, peerTimes })
    assert.equal(error.code, BACKWARDS)
    assert.match(error.message, /the median of its 3 peers/)
  }
  assert.equal(thrown(() => new Snowflake({ ...space(), worker: 1, peerTimes: ahead })).code, BACKWARDS)
})

test('peerTimes: asked once for a generator, and its failure does not keep from starting', async () => {
  let asked = 0
  const options = { ...space(), worker: 1, peerTimes: () => ++asked && [] }
  const flakes = [new Snowflake(options), new Snowflake(options), await Snowflake.open(options)]
  assert.equal(asked, 1)
  for (const flake of flakes) flake.close()
  const failing = [
    () => {
      throw new Error('away')
    },
    () => Promise.reject(new Error('away')),
    () => new Promise(() => {}),
  ]
  for (const peerTimes of failing) {
    const flake = await Snowflake.open({ ...space(), worker: async () => 1, peerTimes, timeoutMs: 10_000 })
    assert.equal(flake.workerId, 1)
    flake.close()
  }
})

test('peerTimes refuses nonsense', async () => {
  for (const value of [7, '7', true, {}, [1.5], ['7'], [NaN], [7n], [null], Symbol('s')]) {
    for (const peerTimes of [value, () => value, async () => value]) {
      const error = await rejected({ ...space(), worker: 1, peerTimes })
      assert.equal(error.code, INVALID)
      assert.match(error.message, /^peerTimes is .*; allowed: (a function that|as its) answers? an array of Unix milliseconds/s)
    }
  }
  for (const value of [null, undefined]) assert.equal((await rejected({ ...space(), worker: 1, peerTimes: () => value })).code, INVALID)
})
