// The recipes of docs/NODE.md, and the checkers of packages. Run where leafid is installed, below a folder with the tools:
// `make test OF=node-tools` makes it.

import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { folder, here, run, tarball, tool } from './run.mjs'

/** Runs a bundle in an empty folder, so that it finds nothing but what lies beside it. */
function serves(t, fill, program = 'server.cjs') {
  const made = folder(t, 'bundle')
  fill(made)
  const { id, workerId, number } = JSON.parse(run(process.execPath, [program], made))
  assert.ok(BigInt(id) > 0n && workerId >= 0 && workerId < 32 && number === 1)
  return readdirSync(made)
}

const addons = files => files.filter(name => name.endsWith('.node')).length

test('Jest', () => {
  // Two files in one process: each has the modules and the globals again.
  cpSync(join(here, 'jest/ids.test.cjs'), join(here, 'jest/again.test.cjs'))
  assert.match(tool('jest', ['--rootDir=jest', '--testMatch=**/*.test.cjs', '--runInBand']), /Tests: +6 passed, 6 total/)
})

test('Jest with jsdom', () => {
  const all = ['--testMatch=**/*.test.cjs']
  assert.match(tool('jest', ['--rootDir=jest', '--env=jsdom', ...all], here, 1), /leafid\/wasm\/browser\.js/)
  const config = '--config=page/jest.config.cjs'
  assert.match(tool('jest', [config, '--rootDir=jest', ...all]), /Tests: +6 passed, 6 total/)
  assert.match(tool('jest', [config, '--rootDir=page', ...all]), /Tests: +4 passed, 4 total/)
})

for (const pool of ['forks', 'threads']) {
  test(`Vitest, in ${pool}`, () => {
    cpSync(join(here, 'vitest/ids.test.mjs'), join(here, 'vitest/again.test.mjs'))
    assert.match(tool('vitest', ['run', '--root=vitest', `--pool=${pool}`]), /Tests +6 passed \(6\)/)
  })
}

test('docs/TESTING.md, under both', () => {
  assert.match(tool('jest', ['--rootDir=page', '--testMatch=**/*.test.cjs']), /Tests: +4 passed, 4 total/)
  assert.match(tool('vitest', ['run', '--root=page', 'orders.test.mjs']), /Tests +1 passed \(1\)/)
})

test('worker_threads', () => {
  assert.deepEqual(JSON.parse(run(process.execPath, ['workers.mjs'])), { ids: 5000, workerIds: 1 })
})

const esbuild = (folder, ...options) => {
  const extension = options.includes('--format=esm') ? '.mjs' : '.cjs'
  tool('esbuild', ['bundles/server.mjs', '--bundle', '--platform=node', `--outdir=${folder}`, `--out-extension:.js=${extension}`, ...options])
}

test('esbuild, with the addon beside the bundle', t => {
  assert.equal(addons(serves(t, folder => esbuild(folder, '--loader:.node=copy'))), 1)
})

const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"

test('esbuild, with the addon beside an ES module', t => {
  const fill = folder => esbuild(folder, '--loader:.node=copy', '--format=esm', `--banner:js=${banner}`)
  assert.equal(addons(serves(t, fill, 'server.mjs')), 1)
})

test('esbuild, with leafid outside of the bundle', t => {
  serves(t, folder => {
    esbuild(folder, '--external:leafid')
    cpSync(join(here, 'node_modules'), join(folder, 'node_modules'), { recursive: true })
  })
})

test('webpack, with the addon beside the bundle', t => {
  assert.equal(addons(serves(t, folder => tool('webpack', ['--env', `out=${folder}`], join(here, 'bundles')))), 1)
})

test('webpack, with leafid outside of the bundle', t => {
  serves(t, folder => {
    tool('webpack', ['--env', `out=${folder}`, '--env', 'external'], join(here, 'bundles'))
    cpSync(join(here, 'node_modules'), join(folder, 'node_modules'), { recursive: true })
  })
})

test('a bundle without the addon: the error says what to do', t => {
  const made = folder(t, 'bundle')
  esbuild(made, '--external:leafid-*')
  assert.ok(existsSync(join(made, 'server.cjs')))
  assert.match(run(process.execPath, ['server.cjs'], made, 1), /leafid has no addon on .*: the package leafid-.* is not installed\. .*keep leafid out of the bundle/)
})

test('publint', () => {
  const said = tool('publint', ['run', tarball, '--strict'])
  assert.match(said, /All good!/)
})

test('attw: the types fit what require and import give', () => {
  // leafid/wasm is an ES module: a module of CommonJS imports it by import().
  const said = tool('attw', [tarball, '--no-emoji', '--no-color', '--ignore-rules', 'cjs-resolves-to-esm'])
  assert.match(said, /No problems found/)
})

test('docs/NODE.md has these recipes, and the packages of all platforms', () => {
  const page = readFileSync(join(process.env.LEAFID_ROOT, 'docs/NODE.md'), 'utf8')
  const options = ['--external:leafid', '--loader:.node=copy', '--format=esm', '--pool=forks', '--pool=threads', banner]
  const { optionalDependencies } = JSON.parse(readFileSync(join(here, 'node_modules/leafid/package.json'), 'utf8'))
  for (const text of [...options, ...Object.keys(optionalDependencies)]) assert.ok(page.includes(text), text)
})
