// Segments from a directory, and from servers over HTTP.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Segments } from 'leafid'
import { alone, between, sleep, until, wasm } from './counter.mjs'
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

test('a slow server does not block this thread; nextSync is would_block', async t => {
  const { url, tell } = await fakeServer(t)
  await tell({ do: 'fault', fault: { delay_ms: PATIENT } })
  const ids = new Segments(url, { ...alone(), protocol: 'range', timeoutMs: PATIENT, requestTimeoutMs: PATIENT })
  const order = ids.tag('order')
  assert.throws(order.nextSync, { code: 'ERR_LEAFID_WOULD_BLOCK', retry: true })
  assert.equal(order.tryNext(), undefined)
  const first = order.next()
  for (let turns = 0; turns < 5; turns++) await sleep(5)
  await tell({ do: 'clear' })
  assert.equal(await first, 1n)
  ids.close()
})
