// Segments from a function: what is issued, in which order, and when the source is asked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { LeafidError, Segments, metrics } from 'leafid'
import { Counter, alone, between, until } from './counter.mjs'


test('ids in order, by each way of asking', async () => {
  const counter = new Counter()
  const ids = new Segments({ ...alone(), fetch: counter.fetch })
  const { next, nextSync, tryNext, nextString, nextNumber, take, takeStrings, takeSync, fill } = ids.tag('order')
  assert.equal(await next(), 1n)
  assert.equal(nextSync(), 2n)
  assert.equal(tryNext(), 3n)
  assert.equal(await nextString(), '4')
  assert.equal(await nextNumber(), 5)
  assert.deepEqual(await take(3), new BigInt64Array([6n, 7n, 8n]))
  assert.deepEqual(takeSync(3), new BigInt64Array([9n, 10n, 11n]))
  assert.deepEqual(fill(new BigUint64Array(2)), new BigUint64Array([12n, 13n]))
  const shared = new BigInt64Array(new SharedArrayBuffer(16))
  assert.equal(fill(shared), shared)
  assert.deepEqual([...shared], [14n, 15n])
  assert.deepEqual(await takeStrings(2), ['16', '17'])
  await assert.rejects(takeStrings(-1), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  ids.close()
})

test('a tag of blocks is refused, unless its numbers are stated to be ids', async () => {
  const counter = new Counter()
  const refused = { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /^tag is "order-x100"; .* set blockSize to 1/ }
  const ids = new Segments({ ...alone(), fetch: counter.fetch })
  assert.throws(() => ids.tag('order-x100'), refused)
  const prewarm = ['order-x100']
  assert.throws(() => new Segments('http://a', { ...alone(), protocol: 'range', prewarm }), refused)
  ids.close()
  const stated = new Segments({ ...alone(), fetch: counter.fetch, blockSize: 1 })
  assert.equal(await stated.tag('order-x100').next(), 1n)
  stated.close()
})

test('a tag is iterated until the loop ends, or a call fails', async () => {
  const counter = new Counter()
  const ids = new Segments({ ...alone(), fetch: counter.fetch })
  const order = ids.tag('order')
  const seen = []
  for await (const id of order) {
    seen.push(id)
    if (seen.length === 3) break
  }
  assert.deepEqual([...seen, await order.next()], [1n, 2n, 3n, 4n])
  const loop = async () => {
    for await (const id of order) if (id === 6n) ids.close()
  }
  await assert.rejects(loop, { code: 'ERR_LEAFID_CLOSED' })
})

test('all ways draw from one run: nothing is issued out of order', async () => {
  const counter = new Counter()
  const ids = new Segments({ ...alone(), step: 100, fetch: counter.fetch })
  const { next, nextSync, tryNext, take, takeSync } = ids.tag('order')
  const all = []
  const waited = []
  for (let round = 0; round < 500; round++) {
    all.push(await next())
    // Whoever asked first is first, also among those that wait.
    waited.length = 0
    const asked = [next(), take(1 + (round % 30)), next()].map(ids => ids.then(id => waited.push(...(typeof id === 'bigint' ? [id] : id))))
    const now = tryNext()
    await Promise.all(asked)
    all.push(...waited)
    // It was called after them, and comes after them.
    if (now !== undefined) all.push(now)
    all.push(...(await take(7)), await next())
    for (const call of [nextSync, () => takeSync(3)]) {
      try {
        const got = call()
        all.push(...(typeof got === 'bigint' ? [got] : got))
      } catch (error) {
        assert.equal(error.code, 'ERR_LEAFID_WOULD_BLOCK')
      }
    }
  }
  assert.deepEqual(all, between(1, all.length))
  ids.close()
})

test('statistics count what this thread has at hand', async () => {
  const counter = new Counter()
  const ids = new Segments({ ...alone(), prefetch: 100, fetch: counter.fetch })
  const order = ids.tag('order')
  for (let n = 1; n <= 500; n++) {
    await order.next()
    const { left, current, next } = order.stats()
    assert.deepEqual([left, current.start, current.stride, next], [1000 - n, BigInt(n + 1), 1n, null])
    assert.equal(current.end, 1001n)
  }
  assert.ok(order.stats().ids >= 500)
  const { name, source, servers, stateDir, tags } = ids.stats()
  assert.deepEqual([name, source, servers, stateDir], [ids.name, 'callback', [], ''])
  assert.deepEqual(tags, [order.stats()])
  assert.deepEqual(tags[0].fetches, 1)
  assert.match(metrics(), new RegExp(`leafid_segment_fetches_total\\{name="${ids.name}",.*tag="order"\\} 1`))
  ids.close()
})

test('a tag is one object; its name is checked', () => {
  const ids = new Segments({ ...alone(), fetch: new Counter().fetch })
  assert.equal(ids.tag('order'), ids.tag('order'))
  for (const right of ['a', 'order/2026', '..', 'Grüße', '😀', 'x'.repeat(128)]) assert.equal(ids.tag(right).name, right)
  for (const wrong of ['', 'a\nb', '\x7f', 'x'.repeat(129), 'ü'.repeat(65), 'a\ud800', 5, null, undefined, {}, Symbol('a')]) {
    assert.throws(() => ids.tag(wrong), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /^tag is / })
  }
  const frozen = Object.freeze(ids.tag('frozen'))
  assert.equal(frozen.tryNext(), undefined)
  frozen.stats.call(null)
  assert.throws(() => new (ids.tag('order').constructor)(), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  ids.close()
})

test('nextNumber refuses what a number cannot hold, and loses nothing', async () => {
  const start = 2n ** 53n - 1n
  let next = start
  const ids = new Segments({ ...alone(), fetch: () => ({ start: next, end: (next += 10n) }) })
  const order = ids.tag('order')
  assert.equal(await order.nextNumber(), Number.MAX_SAFE_INTEGER)
  await assert.rejects(order.nextNumber(), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  assert.equal(await order.next(), start + 1n)
  ids.close()
})

test('ids up to 2^63 - 1', async () => {
  const end = 2n ** 63n - 1n
  const ids = new Segments({ ...alone(), fetch: () => ({ start: end - 3n, end }) })
  const order = ids.tag('order')
  assert.deepEqual([...(await order.take(3))], [end - 3n, end - 2n, end - 1n])
  ids.close()
})

test('arguments that are none are refused', async () => {
  const fetch = () => null
  const invalid = { name: 'LeafidError', code: 'ERR_LEAFID_INVALID_ARGUMENT' }
  const bad = [
    [],
    [null],
    [5],
    [[]],
    [{}],
    [{ fetch, servers: 'x' }],
    [{ fetch }, {}],
    ['http://a', { fetch }],
    ['http://a', { headers: [] }],
    ['http://a', { headers: new Headers({ 'X-Tenant': 'a' }) }],
    ['file:/nowhere', { tags: new Map([['order', { start: 1 }]]) }],
    ['file:/nowhere', { tags: ['order'] }],
    ['file:/nowhere', { tags: { order: { start: 2n ** 63n } } }],
    ['file:/nowhere', { tags: { order: { begin: 1 } } }],
  ]
  for (const [first, second] of bad) {
    const alone = options => ({ persist: false, ...options })
    const given = first?.constructor === Object ? [alone(first), second] : [first, second && alone(second)]
    assert.throws(() => new Segments(...given), invalid, inspect(given))
    await assert.rejects(Segments.open(...given), invalid)
  }
  assert.throws(() => Segments({}), TypeError)
  const ids = new Segments({ ...alone(), fetch: new Counter().fetch })
  const order = ids.tag('order')
  await order.next()
  for (const n of [-1, 1.5, '3', 3n, null, undefined, 2 ** 24 + 1, NaN]) {
    await assert.rejects(order.take(n), invalid)
    assert.throws(() => order.takeSync(n), invalid)
  }
  for (const options of [5, [], { timeoutMs: 0 }, { timeoutMs: 3_600_001 }, { timeoutMs: 1n }, { signal: {} }, { timeout: 5 }]) {
    await assert.rejects(order.next(options), invalid)
    await assert.rejects(order.take(1, options), invalid)
  }
  for (const array of [[], new Int32Array(2), null, 5]) assert.throws(() => order.fill(array), invalid)
  // A method of another object throws, and does not crash.
  for (const method of ['next', 'nextSync', 'tryNext', 'takeSync', 'stats']) {
    const call = () => Object.getPrototypeOf(order)[method].call({})
    if (method === 'next') await assert.rejects(call(), invalid)
    else assert.throws(call, invalid)
  }
  assert.throws(() => Segments.prototype.tag.call({}, 'a'), invalid)
  assert.equal(await order.next({ timeoutMs: null, signal: undefined }), 2n)
  ids.close()
})

test('close is for good, and closing twice is nothing', async () => {
  const ids = new Segments({ ...alone(), fetch: new Counter().fetch })
  const order = ids.tag('order')
  await order.take(5)
  assert.equal(ids.close(), undefined)
  ids.close()
  const closed = { name: 'LeafidError', code: 'ERR_LEAFID_CLOSED', retry: false }
  for (const call of [order.nextSync, order.tryNext, () => order.takeSync(2), ids.stats, () => ids.tag('order'), () => ids.tag('b')]) {
    assert.throws(call, closed)
  }
  await assert.rejects(order.next(), closed)
  await assert.rejects(order.take(2), closed)
  await assert.rejects(order.next(), error => error instanceof LeafidError)
  assert.equal(order.name, 'order')
})

test('Symbol.dispose and Symbol.asyncDispose close', { skip: !Symbol.asyncDispose }, async () => {
  for (const symbol of [Symbol.dispose, Symbol.asyncDispose]) {
    const ids = new Segments({ ...alone(), fetch: new Counter().fetch })
    await ids[symbol]()
    assert.throws(() => ids.tag('order'), { code: 'ERR_LEAFID_CLOSED' })
  }
})

test('open is the constructor, off this thread; a class of the user\'s is made', async () => {
  class Mine extends Segments {
    constructor(...given) {
      super(...given)
      this.mine = true
    }
  }
  const { open } = Segments
  for (const [made, Class] of [[await Segments.open({ ...alone(), fetch: new Counter().fetch }), Segments], [await Mine.open({ ...alone(), fetch: new Counter().fetch }), Mine], [await open({ ...alone(), fetch: new Counter().fetch }), Segments]]) {
    assert.ok(made instanceof Class)
    assert.equal(await made.tag('order').next(), 1n)
    made.close()
  }
})
