// Segments of leafid/wasm in workerd: marks in the storage of a Durable Object.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertDistinct } from './support.mjs'
import { fakeServer } from './node/fake-server.mjs'
import { PATIENT } from './node/support.mjs'
import { bundled, workerd } from './workerd.mjs'

const REGRESSED = 'ERR_LEAFID_SEGMENT_REGRESSED'

test('marks outlive the object; several segments of one object; isolates without storage', async t => {
  const modules = await bundled(t, 'segments_worker')
  const folder = mkdtempSync(join(tmpdir(), 'leafid-objects-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const options = { step: 10 }
  const given = { options, ranges: [[1, 11]], counts: [5] }
  const first = await workerd(t, modules, folder)
  assert.deepEqual(await first.ask('object/a', given), [{ ids: ['1', '2', '3', '4', '5'] }])
  assert.equal((await first.ask('object/a', given))[0].code, REGRESSED)
  // Two at the same moment: one of them.
  const both = await first.ask('object/a', { ...given, ranges: [[11, 21]], concurrent: 2 })
  assert.deepEqual(both.map(({ code }) => code ?? null).sort(), [REGRESSED, null].sort())
  await first.stop()
  const again = await workerd(t, modules, folder)
  assert.equal((await again.ask('object/a', { ...given, ranges: [[15, 25]] }))[0].code, REGRESSED)
  assert.deepEqual((await again.ask('object/a', { ...given, ranges: [[21, 31]], counts: [1] }))[0].ids, ['21'])
  assert.deepEqual((await again.ask('object/b', { ...given, ranges: [[21, 31]], counts: [1] }))[0].ids, ['21'], 'another object has its own marks')
  const [refused] = await again.ask('isolate', given)
  assert.equal(refused.code, 'ERR_LEAFID_INVALID_ARGUMENT')
  assert.match(refused.message, /an isolate has no storage of its own for marks/)
  assert.deepEqual((await again.ask('isolate', { ...given, options: { ...options, persist: false } }))[0].ids.length, 5)
})

test('a mark that is not durable: no id', async t => {
  const { ask } = await workerd(t, await bundled(t, 'segments_worker'))
  const given = { options: {}, ranges: [[1, 11]], counts: [5], unsynced: true }
  assert.deepEqual((await ask('object/a', given)).map(({ ids }) => ids), [[]])
})

test('from servers, in each protocol', async t => {
  const { url } = await fakeServer(t)
  const { ask } = await workerd(t, await bundled(t, 'segments_worker'))
  for (const protocol of ['range', 'leaf', 'leaf-snowflake', 'tinyid']) {
    const options = { protocol, name: protocol, requestTimeoutMs: PATIENT }
    const runs = []
    for (let run = 0; run < 2; run++) runs.push(...(await ask('object/a', { servers: url, options, counts: [30, 20], concurrent: 2 })))
    assert.deepEqual(runs.filter(({ code }) => code), [], protocol)
    assertDistinct(runs.flatMap(({ ids }) => ids))
  }
})
