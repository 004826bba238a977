// workerd, as Miniflare runs it.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { here } from './support.mjs'

/** The script of a worker, and the modules beside it. */
export async function bundled(t, worker = 'workerd_worker') {
  const outdir = mkdtempSync(join(tmpdir(), 'leafid-workerd-'))
  t.after(() => rmSync(outdir, { recursive: true, force: true }))
  await build({
    entryPoints: [join(here, `${worker}.mjs`)],
    bundle: true,
    format: 'esm',
    outdir,
    conditions: ['workerd'],
    external: ['cloudflare:workers'],
    loader: { '.wasm': 'copy' },
    assetNames: '[name]',
  })
  const script = readFileSync(join(outdir, `${worker}.js`), 'utf8')
  const modules = readdirSync(outdir).filter(name => name.endsWith('.wasm'))
  return [
    { type: 'ESModule', path: 'worker.mjs', contents: script },
    ...modules.map(path => ({ type: 'CompiledWasm', path, contents: readFileSync(join(outdir, path)) })),
  ]
}

/** A workerd with the objects of a folder. `ask` calls a function of the worker's. */
export async function workerd(t, modules, folder) {
  const flare = new Miniflare({
    modules,
    compatibilityDate: '2026-01-01',
    compatibilityFlags: ['nodejs_compat'],
    bindings: { LEAFID_TEST_KEY: '00'.repeat(16) },
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
