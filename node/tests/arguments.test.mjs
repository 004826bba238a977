// The methods: what they give, and what they refuse without a crash.

import assert from 'node:assert/strict'
import vm from 'node:vm'
import { test } from 'node:test'
import { Snowflake, compose, decode } from 'leafid'
import { space, thrown } from './support.mjs'

const INVALID = 'ERR_LEAFID_INVALID_ARGUMENT'
const open = (t, options) => {
  const flake = new Snowflake({ ...space(), worker: 3, ...options })
  t.after(() => flake.close())
  return flake
}
const refuses = (call, message) => assert.throws(call, { name: 'LeafidError', code: INVALID, message })
const ascending = ids => ids.every((id, i) => i === 0 || ids[i - 1] < id)

test('ids ascend through all methods', t => {
  const flake = open(t)
  const first = [flake.next(), BigInt(flake.nextString()), ...flake.take(5000), ...flake.takeStrings(3).map(BigInt)]
  const ids = [...first, ...flake.fill(new BigUint64Array(9)), flake.next()]
  assert.ok(ascending(ids))
  for (const id of ids) assert.equal(decode(id, flake.layout).workerId, 3)
  assert.ok(Math.abs(decode(flake.next()).timestampMs - Date.now()) < 30_000)
})

test('a snowflake is iterated until the loop ends, or a call fails', t => {
  const flake = open(t)
  const ids = [flake.next()]
  for (const id of flake) {
    ids.push(id)
    if (ids.length === 100) break
  }
  const [first, second] = flake
  assert.ok(ascending([...ids, first, second, flake.next()]))
  const loop = () => {
    for (const id of flake) if (id > 0n) flake.close()
  }
  assert.throws(loop, { code: 'ERR_LEAFID_CLOSED' })
})

test('kinds of results', t => {
  const flake = open(t)
  assert.equal(typeof flake.next(), 'bigint')
  assert.match(flake.nextString(), /^[0-9]{19}$/)
  assert.ok(flake.take(3) instanceof BigInt64Array)
  assert.equal(flake.take(3).length, 3)
  const { lastError, stateDir, ...stats } = flake.stats()
  assert.equal(lastError, null)
  assert.equal(typeof stateDir, 'string')
  assert.deepEqual([stats.workerId, stats.layout, stats.epochMs], [3, 'leaf', 1288834974657])
  assert.ok(stats.ids >= 8, `${stats.ids} ids`)
  for (const name of ['ids', 'expiresAtMs', 'reservedUntilMs', 'leadMs', 'handles', 'renewals', 'renewalFailures']) {
    assert.ok(Number.isSafeInteger(stats[name]), name)
  }
})

test('nextNumber wants at most 53 bits', t => {
  const small = open(t, { layout: 'js-safe' })
  const id = small.nextNumber()
  assert.ok(Number.isSafeInteger(id))
  assert.equal(decode(id, 'js-safe').workerId, 3)
  const large = open(t)
  refuses(() => large.nextNumber(), /^layout is .*leaf.*53 bits/)
})

test('JSON: a bigint is refused by JavaScript, the string goes both ways', t => {
  const flake = open(t)
  assert.throws(() => JSON.stringify({ id: flake.next() }), TypeError)
  const id = flake.next()
  const back = JSON.parse(JSON.stringify({ id: String(id) })).id
  assert.deepEqual(decode(back), decode(id))
  assert.equal(BigInt(back), id)
})

test('take refuses what is no count', t => {
  const { take } = open(t)
  for (const n of [-1, 2 ** 24 + 1, 2 ** 40, 2 ** 64, NaN, 1.5, Infinity, '5', 5n, null, undefined, {}, [3]]) {
    refuses(() => take(n), /^n is .*; allowed: 0 to 16777216 ids a call$/)
  }
})

test('fill takes arrays of both kinds, whole or a part, and answers them', t => {
  const { fill } = open(t)
  for (const Kind of [BigInt64Array, BigUint64Array]) {
    const array = new Kind(100)
    assert.equal(fill(array), array)
    assert.ok(array[0] > 0n && ascending(array))
    const part = new Kind(array.buffer, 80, 5)
    const before = [...array]
    fill(part)
    assert.ok(part[0] > before[99])
    assert.deepEqual([...array.subarray(0, 10), ...array.subarray(15)], [...before.slice(0, 10), ...before.slice(15)])
  }
  class Mine extends BigInt64Array {}
  assert.ok(fill(new Mine(3))[0] > 0n)
  assert.ok(fill(vm.runInNewContext('new BigInt64Array(3)'))[2] > 0n, 'of another realm')
})

test('fill writes views of shared, resizable and WebAssembly memory', t => {
  const { fill } = open(t)
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
  const buffers = [new SharedArrayBuffer(64), memory.buffer, new WebAssembly.Memory({ initial: 1 }).buffer]
  buffers.push(new ArrayBuffer(64, { maxByteLength: 128 }))
  for (const buffer of buffers) {
    for (const Kind of [BigInt64Array, BigUint64Array]) {
      const array = fill(new Kind(buffer, 8, 4))
      assert.ok(array[0] > 0n && ascending(array))
      assert.equal(new Kind(buffer)[0], 0n)
    }
  }
})

test('fill refuses anything else and writes nothing', t => {
  const { fill } = open(t)
  const detached = new BigInt64Array(4)
  structuredClone(detached.buffer, { transfer: [detached.buffer] })
  const shrunk = new ArrayBuffer(64, { maxByteLength: 64 })
  const outside = new BigInt64Array(shrunk, 32, 4)
  shrunk.resize(16)
  const wrong = [
    new BigInt64Array(2 ** 24 + 1),
    detached,
    outside,
    new Float64Array(4),
    new Int32Array(4),
    new Uint8Array(8),
    Buffer.alloc(64),
    new DataView(new ArrayBuffer(8)),
    new ArrayBuffer(8),
    new Proxy(new BigInt64Array(4), {}),
    Object.create(BigInt64Array.prototype),
    [1n],
    { length: 4 },
    4,
    '4',
    null,
    undefined,
  ]
  for (const array of wrong) refuses(() => fill(array), /^array is .*; allowed: a BigInt64Array or BigUint64Array/s)
})

test('methods work detached, and refuse another this', t => {
  const flake = open(t)
  for (const name of ['next', 'nextString', 'stats']) assert.ok((0, flake[name])())
  assert.ok((0, flake.take)(2))
  assert.equal((0, flake.takeStrings)(2).length, 2)
  const { prototype } = Snowflake
  for (const self of [undefined, null, 7, 'x', {}, Object.create(flake), new Proxy(flake, {}), prototype]) {
    for (const name of ['next', 'nextString', 'nextNumber', 'stats', 'close', 'take', 'takeStrings', 'fill']) {
      refuses(() => prototype[name].call(self, 1), /^this is .*; allowed: a Snowflake$/s)
    }
    for (const name of ['workerId', 'layout']) {
      const { get } = Object.getOwnPropertyDescriptor(prototype, name)
      refuses(() => get.call(self), /^this is /)
    }
  }
})

test('the class wants new, and can be extended', t => {
  assert.throws(() => Snowflake({ worker: 1 }), TypeError)
  class Mine extends Snowflake {
    next() {
      return -super.next()
    }
  }
  const mine = new Mine({ ...space(), worker: 1 })
  const { next } = mine
  assert.ok(next() < 0n)
  mine.close()
})

test('decode refuses what is no id', () => {
  const wrong = [-1, 1.5, NaN, Infinity, 2 ** 53, 2 ** 63, 2n ** 63n, 2n ** 64n, -(2n ** 70n), true, null, undefined, {}, [1n]]
  wrong.push(Object(1n), Symbol('s'), () => 1n, new Date())
  for (const id of wrong) refuses(() => decode(id), /^id is .*; allowed: /)
  refuses(() => decode(2n ** 60n, 'js-safe'), /^id is 1152921504606846976; allowed: 0 to 9007199254740991/)
})

test('compose refuses what is no number', () => {
  const now = 1_700_000_000_000
  for (const bad of [NaN, 1.5, Infinity, 2 ** 53, '7', 7n, null, undefined, {}, true]) {
    refuses(() => compose(bad, 1, 1), /^timestampMs is /)
    refuses(() => compose(now, bad, 1), /^workerId is /)
    refuses(() => compose(now, 1, bad), /^sequence is /)
  }
  for (const bad of [-1, 2 ** 32, 2 ** 40]) {
    refuses(() => compose(now, bad, 1), new RegExp(`^workerId is ${bad}`))
    refuses(() => compose(now, 1, bad), new RegExp(`^sequence is ${bad}`))
  }
  for (const layout of [7, true, [], () => {}, 'x', Symbol('s')]) {
    refuses(() => compose(now, 1, 1, layout), /^layout is /)
    refuses(() => decode(1n, layout), /^layout is /)
  }
})

test('a long value is cut in the message', () => {
  const { message } = thrown(() => decode('9'.repeat(1_000_000)))
  assert.ok(message.length < 1000)
})
