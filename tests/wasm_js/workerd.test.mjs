// leafid/wasm in workerd: Durable Objects, and isolates without storage.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { assertDistinct, here } from './support.mjs'
import { fakeServer } from './node/fake-server.mjs'
import { vectors } from './node/support.mjs'

const timeout = 60_000

/** The script of workerd_worker.mjs, and the module beside it. */
async function bundled(t) {
  const outdir = mkdtempSync(join(tmpdir(), 'leafid-workerd-'))
  t.after(() => rmSync(outdir, { recursive: true, force: true }))
  await build({
    entryPoints: [join(here, 'workerd_worker.mjs')],
    bundle: true,
    format: 'esm',
    outdir,
    conditions: ['workerd'],
    external: ['cloudflare:workers'],
    loader: { '.wasm': 'copy' },
    assetNames: '[name]',
  })
  const script = readFileSync(join(outdir, 'workerd_worker.js'), 'utf8')
  return [
    { type: 'ESModule', path: 'worker.mjs', contents: script },
    { type: 'CompiledWasm', path: 'leafid.wasm', contents: readFileSync(join(outdir, 'leafid.wasm')) },
  ]
}

/** A workerd with the objects of a folder. `ask` calls a function of the worker's. */
async function workerd(t, modules, folder) {
  const flare = new Miniflare({
    modules,
    compatibilityDate: '2026-01-01',
    durableObjects: { IDS: { className: 'Ids', useSQLite: true } },
    durableObjectsPersist: folder,
  })
  t.after(() => flare.dispose().catch(() => {}))
  async function ask(path, given = {}) {
    const answer = await flare.dispatchFetch(`http://localhost/${path}`, { method: 'POST', body: JSON.stringify(given) })
    return answer.json()
  }
  return { ask, stop: () => flare.dispose() }
}

test('the vectors; a Durable Object goes on above after a restart; isolates are refused', { timeout }, async t => {
  const modules = await bundled(t)
  const folder = mkdtempSync(join(tmpdir(), 'leafid-objects-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const given = vectors('snowflake.json')
  const runs = []
  for (let start = 0; start < 3; start++) {
    const { ask, stop } = await workerd(t, modules, folder)
    if (start === 0) assert.ok((await ask('vectors', given)).checked > given.valid.length)
    // Requests of one object at once.
    const found = await Promise.all([1, 2, 3].map(() => ask('object/a', { options: { worker: 7 }, count: 500 })))
    assert.deepEqual(found.map(({ code }) => code), [undefined, undefined, undefined], JSON.stringify(found))
    const other = await ask('object/b', { options: { worker: 8 }, count: 500 })
    runs.push(found.flatMap(({ ids }) => ids), other.ids)
    const inUse = await ask('object/a', { options: { worker: 7, randomStart: 0 }, count: 1 })
    assert.equal(inUse.code, 'ERR_LEAFID_WORKER_IN_USE')
    const refused = await ask('isolate', { options: { worker: 7 }, count: 1 })
    assert.match(refused.message, /an isolate has no storage of its own, .* use a Durable Object .*, or lease the worker id/)
    assert.match((await ask('object/a', { options: { worker: '0-3' }, count: 1 })).message, /worker is 'a range'; allowed: 7, or another/)
    await stop()
  }
  assertDistinct(...runs)
})

test('storage of an object that is deleted while it runs: no further span', { timeout }, async t => {
  const { ask } = await workerd(t, await bundled(t))
  const first = await ask('object/a', { options: { worker: 7 }, count: 100 })
  const after = await ask('object/a', { options: { worker: 7 }, count: 100, deletes: true, ms: 5000 })
  assert.equal(after.code, 'ERR_LEAFID_WORKER_LOST', JSON.stringify(after))
  assertDistinct(first.ids, after.ids)
})

test('an isolate with a lease; requests one after another, beyond its end', { timeout }, async t => {
  const { url } = await fakeServer(t, '--lease-ms', '600', '--threshold-ms', '500')
  const { ask } = await workerd(t, await bundled(t))
  const ids = []
  for (let n = 0; n < 12; n++) {
    const found = await ask('isolate', { options: { worker: url }, count: 50 })
    assert.equal(found.code, undefined, JSON.stringify(found))
    ids.push(...found.ids)
    await new Promise(done => setTimeout(done, n === 6 ? 1500 : 150))
  }
  assertDistinct(ids)
})
