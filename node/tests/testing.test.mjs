// leafid/testing: the same ids in each run, with the methods of the real ones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeafidError, Segments, Snowflake, compose, decode, metrics } from 'leafid'
import { FakeSegments, FakeSnowflake } from 'leafid/testing'
import { space } from './support.mjs'

const NOW = 1_767_225_600_000

test('ids of the clock, by compose', () => {
  const flake = new FakeSnowflake({ clock: NOW, workerId: 3 })
  const ids = [flake.next(), BigInt(flake.nextString()), ...flake.take(1), ...flake.takeStrings(1).map(BigInt)]
  ids.push(...flake.fill(new BigUint64Array(2)))
  assert.deepEqual(ids, [0, 1, 2, 3, 4, 5].map(sequence => compose(NOW, 3, sequence)))
  assert.deepEqual([new FakeSnowflake().next(), flake.workerId], [compose(NOW, 0, 0), 3])
})

test('a clock that stands takes the next tick, one that goes back stays, one that moves begins at 0', () => {
  for (const layout of ['leaf', 'sonyflake', 'js-safe']) {
    let now = NOW
    const flake = new FakeSnowflake({ clock: () => new Date(now), layout })
    const { sequenceBits, tickMs } = flake.layout
    const start = decode(compose(NOW, 0, 0, layout), layout).timestampMs
    const ids = flake.take(2 ** sequenceBits + 1)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(ids.at(-1), compose(start + tickMs, 0, 0, layout))
    now -= 1000
    assert.equal(flake.next(), compose(start + tickMs, 0, 1, layout))
    now = NOW + 5000
    assert.equal(flake.next(), compose(now, 0, 0, layout))
  }
})

test('given ids, errors among them, and their end', async () => {
  const flake = new FakeSnowflake({ ids: [1n, '2', new LeafidError('ERR_LEAFID_WORKER_LOST', 'lost'), 3] })
  assert.deepEqual([...flake.take(2)], [1n, 2n])
  assert.throws(() => flake.next(), { code: 'ERR_LEAFID_WORKER_LOST', retry: true })
  assert.equal(flake.nextNumber(), 3)
  assert.throws(() => flake.next(), /the test gave no more ids/)
  const segments = await FakeSegments.open({ ids: { order: [7n] } })
  assert.equal(await segments.tag('order').next(), 7n)
  await assert.rejects(segments.tag('user').next(), { code: 'ERR_LEAFID_UNKNOWN_TAG' })
})

test('tags count', async () => {
  const segments = new FakeSegments({ first: 5 })
  const order = segments.tag('order')
  assert.equal(segments.tag('order'), order)
  const { next, nextSync, tryNext, nextString, nextNumber, take, takeSync, fill } = order
  assert.deepEqual([await next(), nextSync(), tryNext(), await nextString(), await nextNumber()], [5n, 6n, 7n, '8', 9])
  assert.deepEqual([...(await take(2)), ...takeSync(1), ...fill(new BigInt64Array(1))], [10n, 11n, 12n, 13n])
  assert.deepEqual(await order.takeStrings(1), ['14'])
  for await (const id of order) if (id === 16n) break
  assert.equal(await segments.tag('user').next({ timeoutMs: 5 }), 5n)
  const large = new FakeSegments({ first: 2n ** 53n }).tag('order')
  await assert.rejects(large.nextNumber(), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /^id is 9007199254740992/ })
  segments.close()
  await assert.rejects(order.next(), { code: 'ERR_LEAFID_CLOSED' })
  assert.throws(() => segments.tag('order'), { code: 'ERR_LEAFID_CLOSED' })
})

/** The names of an object and of its class. */
const names = value => [...new Set([...Object.getOwnPropertyNames(value), ...Reflect.ownKeys(Object.getPrototypeOf(value))])].sort(byText)
const byText = (one, other) => (String(one) < String(other) ? -1 : 1)

test('the same names as the real ones, and the same names in what they tell', () => {
  const real = new Snowflake({ ...space(), worker: 3 })
  const fake = new FakeSnowflake({ workerId: 3 })
  assert.deepEqual(names(fake), names(real))
  assert.deepEqual(Object.keys(fake.stats()).sort(), Object.keys(real.stats()).sort())
  assert.equal(fake.take(3).length, fake.stats().ids)
  assert.deepEqual([fake.layout, fake.stats().expiresAtMs], [real.layout, real.stats().expiresAtMs])
  real.close()
  const segments = new Segments({ ...space(), fetch: () => null })
  const fakes = new FakeSegments()
  assert.deepEqual(names(fakes), names(segments))
  assert.deepEqual(names(fakes.tag('order')), names(segments.tag('order')))
  segments.tag('order').stats()
  assert.deepEqual(Object.keys(fakes.stats().tags[0]).sort(), Object.keys(segments.tag('order').stats()).sort())
  segments.close()
})

test('it is no real one, and claims nothing', () => {
  const flake = new FakeSnowflake({ workerId: 1023 })
  flake.next()
  assert.ok(!(flake instanceof Snowflake) && !metrics().includes('leafid-testing'))
  assert.equal(flake.stats().stateDir, '')
  assert.throws(() => new FakeSnowflake({ workerId: 1024 }), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /0 to 1023/ })
  // A text is not taken apart into its digits.
  for (const options of [{ worker: 3 }, { workerId: '3' }, 3, { layout: 'twitter' }, { ids: '16' }, { ids: 16 }]) {
    assert.throws(() => new FakeSnowflake(options), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  }
  for (const options of [{ first: 'x' }, { first: 1.5 }, { ids: ['16'] }, { ids: { order: '16' } }, { ids: { order: 5 } }]) {
    assert.throws(() => new FakeSegments(options), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  }
  assert.throws(() => new FakeSnowflake({ ids: [1.5] }).next(), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /^id is 1\.5; / })
  assert.throws(() => new FakeSegments({ tags: {} }), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /first, ids/ })
  assert.throws(() => flake.take(-1), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  flake.close()
  for (const call of [flake.next, flake.stats, () => flake.workerId]) assert.throws(call, { code: 'ERR_LEAFID_CLOSED' })
})
