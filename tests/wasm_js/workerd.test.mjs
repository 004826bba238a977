// leafid/wasm in workerd: Durable Objects, and isolates without storage.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { decode } from 'leafid'
import { assertDistinct } from './support.mjs'
import { fakeServer } from './node/fake-server.mjs'
import { PATIENT, vectors } from './node/support.mjs'
import { bundled, workerd } from './workerd.mjs'

/** These objects are the only ones that have it. */
const SEVEN = { worker: 7, exclusiveRange: true }

test('the vectors; a Durable Object goes on above after a restart; isolates are refused', async t => {
  const modules = await bundled(t)
  const folder = mkdtempSync(join(tmpdir(), 'leafid-objects-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const given = vectors('snowflake.json')
  const runs = []
  for (let start = 0; start < 3; start++) {
    const { ask, stop } = await workerd(t, modules, folder)
    if (start === 0) assert.ok((await ask('vectors', given)).checked > given.valid.length)
    // Requests of one object at once.
    const found = await Promise.all([1, 2, 3].map(() => ask('object/a', { options: SEVEN, count: 500 })))
    assert.deepEqual(found.map(({ code }) => code), [undefined, undefined, undefined], JSON.stringify(found))
    const other = await ask('object/b', { options: { ...SEVEN, worker: 8 }, count: 500 })
    runs.push(found.flatMap(({ ids }) => ids), other.ids)
    const inUse = await ask('object/a', { options: { ...SEVEN, randomStart: 0 }, count: 1 })
    assert.equal(inUse.code, 'ERR_LEAFID_WORKER_IN_USE')
    const refused = await ask('isolate', { options: SEVEN, count: 1 })
    assert.match(refused.message, /an isolate has no storage of its own, .* use a Durable Object .*, or lease the worker id/)
    for (const worker of [7, '7', '0-3']) {
      const { code, message } = await ask('object/a', { options: { worker }, count: 1 })
      assert.equal(code, 'ERR_LEAFID_INVALID_ARGUMENT')
      assert.match(message, /worker is a (number|range), and each Durable Object that runs this code would get the same: lease/)
    }
    const made = await ask('object/a', { options: { worker: 'function' }, count: 1 })
    assert.match(made.message, /worker is a function, and each Durable Object that runs this code may get the same: lease/)
    await stop()
  }
  assertDistinct(...runs)
})

test('public ids, with a key of the environment; it has no files', async t => {
  const { ask } = await workerd(t, await bundled(t))
  const given = vectors('public_ids.json')
  assert.ok((await ask('public-ids', given)).checked > given.valid.length)
  const { public_id } = given.valid.find(({ key, version, id }) => /^0{32}$/.test(key) && version === 0 && id === '1')
  assert.deepEqual(await ask('key', { source: 'env:LEAFID_TEST_KEY' }), { publicId: public_id })
  const refusal = async source => (await ask('key', { source })).message
  assert.match(await refusal('env:LEAFID_NO_KEY'), /^key is env:LEAFID_NO_KEY, which is not set; allowed: "env:NAME", /)
  assert.match(await refusal('file:key'), /^key is file:key, which cannot be read: workerd has no files; allowed: /)
})

test('storage of an object that is deleted while it runs: no further span', async t => {
  const { ask } = await workerd(t, await bundled(t))
  const first = await ask('object/a', { options: SEVEN, count: 100 })
  const after = await ask('object/a', { options: SEVEN, count: 100, deletes: true, ms: 60_000 })
  assert.equal(after.code, 'ERR_LEAFID_WORKER_LOST', JSON.stringify(after))
  assertDistinct(first.ids, after.ids)
})

test('storage of an object that is not durable: no id', async t => {
  const { ask } = await workerd(t, await bundled(t))
  const { ids, code } = await ask('object/a', { options: SEVEN, count: 1, unsynced: true })
  assert.deepEqual([ids, code], [[], 'ERR_LEAFID_STATE_IO'])
})

test('an isolate with an object that leases, beyond its first span; a function is refused', async t => {
  const { ask } = await workerd(t, await bundled(t))
  const found = await ask('leases', { count: 100, ms: 2500 })
  assert.deepEqual([found.code, found.released], [undefined, 1], JSON.stringify(found))
  assertDistinct(found.ids)
  assert.ok(found.ids.every(id => decode(id).workerId === 5))
  assert.match((await ask('function', { options: {}, count: 1 })).message, /an isolate has no storage of its own/)
  const down = await ask('isolate', { options: { worker: 'http://127.0.0.1:9' }, count: 1 })
  assert.equal(down.code, 'ERR_LEAFID_WORKER_LOST')
})

test('an isolate with a lease; requests one after another, beyond its end', async t => {
  const { url } = await fakeServer(t, '--lease-ms', '600', '--threshold-ms', '500')
  const { ask } = await workerd(t, await bundled(t))
  const ids = []
  // A call to the server ends with the request that began it, and is waited for all the same.
  const options = { worker: url, timeoutMs: PATIENT, requestTimeoutMs: 5000 }
  for (let n = 0; n < 12; n++) {
    const found = await ask('isolate', { options, count: 50 })
    assert.equal(found.code, undefined, JSON.stringify(found))
    ids.push(...found.ids)
    await new Promise(done => setTimeout(done, n === 6 ? 1500 : 150))
  }
  assertDistinct(ids)
})
