// Arrays of the caller's: what their classes say and run changes nothing; of no elements nothing is asked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Segments, Snowflake } from 'leafid'
import { space, thrown } from './support.mjs'

/** Segments of a counter, and how often it was asked. */
function counted() {
  const counter = { next: 1n, asked: 0 }
  const fetch = (tag, step) => {
    counter.asked++
    counter.next += BigInt(step)
    return { start: counter.next - BigInt(step), end: counter.next }
  }
  return { counter, ids: new Segments({ fetch, step: 100_000, adaptive: false, ...space() }) }
}

/** Arrays whose getters, and species, take ids. */
function sneaky(Kind, length, take) {
  class Sneaky extends Kind {
    static get [Symbol.species]() {
      take()
      return Kind
    }
  }
  const array = new Sneaky(length)
  Object.defineProperty(array, 'constructor', {
    get() {
      take()
      return Sneaky
    },
  })
  for (const name of ['length', 'buffer', 'byteOffset', 'byteLength']) {
    const real = Reflect.get(Kind.prototype, name, array)
    Object.defineProperty(array, name, {
      get() {
        take()
        return name === 'length' ? 3 : real
      },
    })
  }
  return array
}

/** The elements, read past the getters. */
const elements = array => Array.from({ length: 60 }, (_, i) => array[i]).filter(id => id !== undefined)

const KINDS = [BigInt64Array, BigUint64Array]

test('an array that takes ids while a tag fills it: each id once', async () => {
  const { ids } = counted()
  const order = ids.tag('order')
  const all = [await order.next()]
  // Ids that this thread has at hand, some of which are for the array.
  for (let i = 0; i < 100; i++) all.push(order.nextSync())
  for (let round = 0; round < 40; round++) {
    const array = sneaky(KINDS[round % 2], 50, () => all.push(order.nextSync()))
    order.fill(array)
    all.push(...elements(array))
  }
  assert.equal(all.filter(id => id === 0n).length, 0)
  assert.equal(new Set(all).size, all.length)
  assert.ok(all.length >= 101 + 40 * 50)
  ids.close()
})

test('an array that takes ids while a snowflake fills it: each id once', () => {
  const flake = new Snowflake({ worker: 7, ...space() })
  const all = []
  for (let round = 0; round < 40; round++) {
    const array = sneaky(KINDS[round % 2], 50, () => all.push(flake.next()))
    flake.fill(array)
    all.push(...elements(array))
  }
  assert.equal(all.filter(id => id === 0n).length, 0)
  assert.equal(new Set(all).size, all.length)
  assert.ok(all.length >= 40 * 50)
  flake.close()
})

test('no ids are an empty array, nothing is asked for, and closed is closed', async () => {
  const { counter, ids } = counted()
  const order = ids.tag('order')
  const flake = new Snowflake({ worker: 7, ...space() })
  const lazy = new Snowflake({ worker: () => assert.fail('asked'), lazy: true, ...space() })
  for (const empty of [await order.take(0), order.takeSync(0), flake.take(0), lazy.take(0)]) {
    assert.ok(empty instanceof BigInt64Array)
    assert.equal(empty.length, 0)
  }
  for (const array of [new BigInt64Array(0), new BigUint64Array(0), new BigInt64Array(new SharedArrayBuffer(0))]) {
    for (const { fill } of [order, flake, lazy]) assert.equal(fill(array), array)
  }
  await assert.rejects(order.take(0, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  await assert.rejects(order.take(0, { timeoutMs: 0 }), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  assert.equal(counter.asked, 0)
  ids.close()
  flake.close()
  lazy.close()
  await assert.rejects(order.take(0), { code: 'ERR_LEAFID_CLOSED' })
  const empty = new BigInt64Array(0)
  for (const call of [() => order.takeSync(0), () => order.fill(empty), () => flake.take(0), () => flake.fill(empty), () => lazy.take(0)]) {
    assert.equal(thrown(call).code, 'ERR_LEAFID_CLOSED')
  }
})
