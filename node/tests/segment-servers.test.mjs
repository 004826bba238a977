// Segments from a directory, and from servers over HTTP.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Segments } from 'leafid'
import { alone, between, until, wasm } from './counter.mjs'
import { fakeServer } from './fake-server.mjs'
import { PATIENT, assertDistinct, space } from './support.mjs'


test('a directory is made on purpose, and gives segments that go on', { skip: wasm }, async () => {
  const options = space()
  const source = `file:${join(options.stateDir, 'counters')}`
  assert.throws(() => new Segments(source, options), { code: 'ERR_LEAFID_UNKNOWN_TAG' })
  await assert.rejects(Segments.open(source, options), { code: 'ERR_LEAFID_UNKNOWN_TAG' })
  const made = { ...options, create: true, adaptive: false, tags: { order: { start: 1, step: 10 }, late: { start: 1n } } }
  const ids = await Segments.open(source, made)
  const order = ids.tag('order')
  assert.deepEqual([...(await order.take(15))], between(1, 15))
  await assert.rejects(ids.tag('other').next(), { code: 'ERR_LEAFID_UNKNOWN_TAG' })
  // In memory, and no fetch of this thread's: it may be waited for.
  assert.equal(order.nextSync(), 16n)
  const array = await until('a fetch within 2 ms', () => {
    try {
      return order.takeSync(10)
    } catch (error) {
      assert.equal(error.code, 'ERR_LEAFID_WOULD_BLOCK')
    }
  })
  // What a call had that failed is issued later, perhaps behind a segment that came meanwhile.
  assert.ok(array.every(id => 17n <= id && id <= 30n), `${array}`)
  assertDistinct([...array])
  assert.match(ids.stats().source, /counters/)
  ids.close()
  const again = new Segments([source], { ...options, tags: undefined })
  assert.ok((await again.tag('order').next()) > 26n)
  again.close()
})

test('a step raised at the directory is followed without a restart', { skip: wasm }, async () => {
  const options = { ...space(), create: true, adaptive: false }
  const source = `file:${join(options.stateDir, 'counters')}`
  const ids = new Segments(source, { ...options, tags: { order: { step: 10 } } })
  const order = ids.tag('order')
  await order.take(10)
  const other = new Segments(source, { ...options, name: 'other', tags: { order: { step: 500 } } })
  await other.tag('order').next()
  other.close()
  await until('a longer step', async () => (await order.take(20)) && order.stats().step === 500)
  ids.close()
})

test('segments over HTTP, with what a server gets wrong', async t => {
  const { url, tell } = await fakeServer(t)
  const ids = new Segments([url], { ...alone(), protocol: 'range', adaptive: false, timeoutMs: PATIENT, requestTimeoutMs: PATIENT })
  const order = ids.tag('order')
  assert.deepEqual([...(await order.take(2500))], between(1, 2500))
  await tell({ do: 'tag', tag: 'order', step: 5000 })
  await until('the raised step', async () => (await order.take(1000)) && order.stats().step === 5000)
  const faults = [
    [{ status: 500, body: 'broken' }, 'SEGMENT_UNAVAILABLE', /500.*broken/],
    [{ status: 404, body: '<html>no' }, 'SEGMENT_UNAVAILABLE|SOURCE_INVALID', /404/],
    [{ body: '<html>busy</html>' }, 'SOURCE_INVALID', /html/],
    [{ answer: { start: '7', end: '7' } }, 'SOURCE_INVALID', /7/],
    [{ answer: { end: '9223372036854775808' } }, 'SOURCE_INVALID', /9223372036854775808/],
    [{ headers: { Age: '5' } }, 'SOURCE_INVALID', /Age/i],
    [{ hang: true }, 'SEGMENT_UNAVAILABLE', /127\.0\.0\.1/],
  ]
  await Promise.all(faults.map(async ([fault, code, message], i) => {
    await tell({ do: 'fault', fault, tag: `t${i}` })
    // Of their own, which have not seen the other faults.
    const requestTimeoutMs = fault.hang ? 300 : PATIENT
    const others = new Segments([url], { ...alone(), protocol: 'range', timeoutMs: 5000, requestTimeoutMs })
    const error = await others.tag(`t${i}`).next().then(id => assert.fail(`${id}: ${JSON.stringify(fault)}`), error => error)
    assert.match(error.code, new RegExp(`^ERR_LEAFID_(${code})$`), `${JSON.stringify(fault)}: ${error.message}`)
    assert.match(error.message, message)
    assert.ok(error.message.includes(url), error.message)
    others.close()
  }))
  await tell({ do: 'clear' })
  await tell({ do: 'tag', tag: 'gone', known: false })
  await assert.rejects(ids.tag('gone').next(), { code: 'ERR_LEAFID_UNKNOWN_TAG' })
  assert.equal(await until('an id', () => ids.tag('t0').next().catch(() => null)), 1n)
  ids.close()
})

test('a slow server does not block this thread; nextSync is would_block', async t => {
  const { url, tell } = await fakeServer(t)
  await tell({ do: 'fault', fault: { delay_ms: 1000 } })
  const ids = new Segments(url, { ...alone(), protocol: 'range', timeoutMs: PATIENT, requestTimeoutMs: PATIENT })
  const order = ids.tag('order')
  assert.throws(order.nextSync, { code: 'ERR_LEAFID_WOULD_BLOCK', retry: true })
  assert.equal(order.tryNext(), undefined)
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  t.after(() => clearInterval(timer))
  assert.equal(await order.next(), 1n)
  assert.ok(turns > 5, `${turns} turns of the event loop`)
  ids.close()
})
