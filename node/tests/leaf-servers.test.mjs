// An existing Leaf, two nodes of it, and tinyid: ids are the servers' own, and none comes twice.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Segments } from 'leafid'
import { alone as impatient, until } from './counter.mjs'
import { leaf, fakeServer } from './fake-server.mjs'
import { HANG, PATIENT, assertDistinct, space } from './support.mjs'

const alone = () => ({ ...impatient(), timeoutMs: PATIENT, requestTimeoutMs: PATIENT })

const main = createRequire(import.meta.url).resolve('leafid')

/** Ids of a tag in each way that there is, about `n` each. */
function ways(tag, n) {
  const { next, nextSync, tryNext, nextString, nextNumber, take, takeSync, fill } = tag
  const waiting = call => () =>
    until('ids at hand', () => {
      try {
        return call()
      } catch (error) {
        if (error.code !== 'ERR_LEAFID_WOULD_BLOCK') throw error
      }
    })
  const one = {
    next,
    nextString: () => nextString().then(BigInt),
    nextNumber: () => nextNumber().then(BigInt),
    nextSync: waiting(nextSync),
    tryNext: waiting(tryNext),
  }
  const many = {
    take: () => take(20),
    takeSync: waiting(() => takeSync(5)),
    fill: waiting(() => fill(new BigUint64Array(5))),
  }
  const repeated = async (call, times) => {
    const ids = []
    for (let i = 0; i < times; i++) ids.push(await call())
    return ids.flatMap(id => (typeof id === 'bigint' ? [id] : [...id]))
  }
  return Promise.all([
    ...Object.values(one).map(call => repeated(call, n)),
    ...Object.values(many).map(call => repeated(call, n / 10)),
    Promise.all(Array.from({ length: n }, next)),
  ]).then(all => all.flat())
}

test('ids of two nodes, in every way and of every client: none twice, all the servers\' own', async t => {
  const { urls, given } = await leaf(t)
  // A node that may be slow because another one can be asked counts as a failure.
  const options = () => ({ ...alone(), connectTimeoutMs: PATIENT })
  const [one, other] = [new Segments(urls, options()), await Segments.open([...urls].reverse(), options())]
  const program = `
    const { parentPort, workerData: { urls, options } } = require('node:worker_threads')
    import(${JSON.stringify(main)})
      .then(({ Segments }) => new Segments(urls, options).tag('order').take(400))
      .then(taken => parentPort.postMessage(taken))`
  const thread = new Worker(program, { eval: true, workerData: { urls, options: options() } })
  const threads = new Promise((done, failed) => thread.on('message', done).on('error', failed))
  const plain = async url => {
    const ids = []
    for (let i = 0; i < 150; i++) ids.push(BigInt(await (await fetch(`${url}/api/segment/get/order`)).text()))
    return ids
  }
  const all = await Promise.all([ways(one.tag('order'), 200), ways(other.tag('order'), 200), threads, ...urls.map(plain)])
  const ids = all.flatMap(some => [...some])
  assert.ok(ids.length > 3500, `${ids.length} ids`)
  assertDistinct(ids)
  const theirs = await given('order')
  assert.ok(ids.every(id => theirs.has(id)))
  assert.deepEqual([one.stats().tags[0].failures, other.stats().tags[0].failures], [0, 0])
  one.close()
  other.close()
})

test('blocks: a number of the Leaf stands for as many ids as the tag says', async t => {
  const { urls, given } = await leaf(t)
  const ids = new Segments(urls, { ...alone(), blockSize: 100 })
  const taken = await ids.tag('order-x100').take(2000)
  assertDistinct([...taken])
  const blocks = await given('order-x100')
  assert.ok([...taken].every(id => blocks.has(id / 100n)))
  // From 0 to 99 of its block.
  assert.equal(new Set([...taken].map(id => id % 100n)).size, 100)
  const refused = { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /^tag is .*-x\d+/ }
  assert.throws(() => ids.tag('order'), refused)
  assert.throws(() => ids.tag('order-x10'), refused)
  const plain = new Segments(urls, alone())
  assert.throws(() => plain.tag('order-x100'), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /blockSize/ })
  for (const tag of ['order.new', 'order/new']) {
    assert.throws(() => plain.tag(tag), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /^tag is / })
  }
  for (const options of [{ protocol: 'leaf-snowflake', blockSize: 100 }, { protocol: 'range', blockSize: 100 }, { protocol: 'tinyid', step: 10 }]) {
    assert.throws(() => new Segments(urls, { ...alone(), ...options }), { code: 'ERR_LEAFID_INVALID_ARGUMENT' })
  }
  ids.close()
  plain.close()
})

test('a mode that is switched off gives no id, and its end is found', async t => {
  const { urls, tell } = await leaf(t)
  await tell({ do: 'leaf', segment: 'off' })
  // All nodes have said so: reported at once.
  const options = { ...space(), timeoutMs: HANG }
  for (const [given, tag] of [[{}, 'order'], [{ blockSize: 100 }, 'order-x100'], [{}, 'order']]) {
    const ids = new Segments(urls, { ...options, ...given })
    const order = ids.tag(tag)
    await assert.rejects(order.next(), { code: 'ERR_LEAFID_SOURCE_INVALID', message: /switched off/ })
    assert.equal(order.tryNext(), undefined)
    ids.close()
  }
  const ids = new Segments(urls, options)
  await assert.rejects(ids.tag('order').take(50), { code: 'ERR_LEAFID_SOURCE_INVALID' })
  await tell({ do: 'leaf', segment: 'on' })
  assert.ok((await ids.tag('order').take(50)).every(id => id > 0n))
  ids.close()
})

test('the failures of a Leaf have their names', async t => {
  const { url, tell } = await fakeServer(t)
  const ids = new Segments(url, alone())
  for (const [number, code] of [[-2, 'UNKNOWN_TAG'], [-1, 'SEGMENT_UNAVAILABLE'], [-3, 'SEGMENT_UNAVAILABLE']]) {
    const tag = `order${number}`
    await tell({ do: 'leaf', segment: number, tag })
    await assert.rejects(ids.tag(tag).next({ timeoutMs: 3000 }), { code: `ERR_LEAFID_${code}`, message: new RegExp(`id=${number}`) })
  }
  await tell({ do: 'tag', tag: 'gone', known: false })
  await assert.rejects(ids.tag('gone').next(), { code: 'ERR_LEAFID_UNKNOWN_TAG' })
  assert.ok((await ids.tag('other').next()) > 0n)
  ids.close()
})

test('one of two nodes is lost and comes back: ids go on', async t => {
  const { nodes, urls, given } = await leaf(t)
  const ids = new Segments(urls, { ...alone(), adaptive: false, step: 50 })
  const order = ids.tag('order')
  const all = [...(await order.take(200))]
  await nodes[0].tell({ do: 'dead', how: 'refused' })
  all.push(...(await order.take(500)))
  assert.ok(await until('its error', () => ids.stats().servers[0].lastError))
  await nodes[0].tell({ do: 'dead' })
  all.push(...(await order.take(200)))
  assertDistinct(all)
  const theirs = await given('order')
  assert.ok(all.every(id => theirs.has(id)))
  ids.close()
})

test('tinyid: delta and remainder of two databases, several servers, and its token', async t => {
  const [one, other] = [await fakeServer(t), await fakeServer(t)]
  for (const [remainder, { tell }] of [one, other].entries()) {
    await tell({ do: 'token', token: 's&cret é' })
    // Each server here knows one of the two databases.
    await tell({ do: 'tag', tag: 'order é', delta: 2, remainder, step: 20 })
  }
  const options = { ...alone(), protocol: 'tinyid', token: 's&cret é' }
  const both = [one, other].map(({ url }) => new Segments(url, options).tag('order é').take(300))
  const ids = (await Promise.all(both)).map(ids => [...ids])
  for (const [remainder, some] of ids.entries()) assert.ok(some.every(id => id % 2n === BigInt(remainder)))
  assertDistinct(ids.flat())
  await one.tell({ do: 'tag', tag: 'user', delta: 2, step: 20 })
  const user = new Segments([one.url, other.url], options).tag('user')
  const mixed = [...(await user.take(1000))]
  assertDistinct(mixed)
  assert.equal(new Set(mixed.map(id => id % 2n)).size, 2)
  const wrong = new Segments(one.url, { ...options, name: alone().name, token: 'another' })
  await assert.rejects(wrong.tag('order é').next(), error => {
    assert.equal(error.code, 'ERR_LEAFID_SEGMENT_UNAVAILABLE')
    assert.ok(!error.message.includes('another'), error.message)
    return true
  })
})
