// leafid/wasm in bundles for browsers, each loaded in Chromium: the recipes of docs/WASM.md.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { HANG } from './node/support.mjs'
import { here, launch, site } from './support.mjs'

const bin = join(here, '../node_modules/.bin')
const bundles = join(here, 'bundles')

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

function tool(name, args) {
  const { status, stdout, stderr, error } = spawnSync(join(bin, name), args, { cwd: bundles, encoding: 'utf8', timeout: HANG })
  assert.equal(status, 0, `${name} ${args.join(' ')}: ${error ?? ''}\n${stdout}\n${stderr}`)
}

/** A folder for a bundle. */
function folder(t) {
  const made = mkdtempSync(join(tmpdir(), 'leafid-bundle-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const PAGE = `<!doctype html><title>leafid</title><script type="module" src="/page.js"></script>`

/** Loads the page of a folder, which shows its ids. */
async function shows(t, made) {
  if (!readdirSync(made).includes('index.html')) writeFileSync(join(made, 'index.html'), PAGE)
  const context = await browser.newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  const errors = []
  page.on('pageerror', error => errors.push(String(error)))
  await page.goto(`${await site(t, made)}/index.html`)
  await page.waitForFunction(() => globalThis.shown, null, { timeout: HANG }).catch(error => assert.fail(`${error}\n${errors.join('\n')}`))
  const { ids, workerId } = await page.evaluate(() => globalThis.shown)
  assert.equal(workerId, 7)
  assert.equal(new Set(ids).size, 10)
  return readdirSync(made, { recursive: true }).filter(name => name.endsWith('.wasm')).length
}

test('Vite', async t => {
  const made = folder(t)
  tool('vite', ['build', '--logLevel=warn', `--outDir=${made}`, '--emptyOutDir'])
  assert.equal(await shows(t, made), 1)
})

test('webpack', async t => {
  const made = folder(t)
  tool('webpack', ['--mode=production', `--output-path=${made}`, '--entry=./page.js', '--output-filename=page.js', '--stats=errors-only'])
  assert.equal(await shows(t, made), 1)
})

test('esbuild, with the module in the bundle', async t => {
  const made = folder(t)
  tool('esbuild', ['page_inline.js', '--bundle', '--format=iife', '--minify', `--outfile=${join(made, 'page.js')}`, '--log-level=warning'])
  assert.equal(await shows(t, made), 0)
})

test('esbuild, with the module beside the bundle', async t => {
  const made = folder(t)
  tool('esbuild', ['page.js', '--bundle', '--format=esm', `--outfile=${join(made, 'page.js')}`, '--log-level=warning'])
  cpSync(join(here, 'node_modules/leafid/wasm/leafid.wasm'), join(made, 'leafid.wasm'))
  assert.equal(await shows(t, made), 1)
})

test('a plain <script type="module">', async t => {
  const made = folder(t)
  mkdirSync(join(made, 'leafid'))
  cpSync(join(here, 'node_modules/leafid/wasm'), join(made, 'leafid/wasm'), { recursive: true })
  cpSync(join(bundles, 'plain.html'), join(made, 'index.html'))
  assert.equal(await shows(t, made), 2, 'all of the folder')
})

test('leafid itself is WebAssembly in a bundle for browsers', async t => {
  const made = folder(t)
  writeFileSync(join(bundles, 'page_leafid.js'), readFileSync(join(bundles, 'page.js'), 'utf8').replace('leafid/wasm', 'leafid'))
  tool('webpack', ['--mode=production', `--output-path=${made}`, '--entry=./page_leafid.js', '--output-filename=page.js', '--stats=errors-only'])
  assert.equal(await shows(t, made), 1)
})

test('public ids are for servers, and no bundle for browsers has them', () => {
  const bundle = (...options) => {
    const input = "import { PublicIds } from 'leafid/wasm/public-ids'\nconsole.log(PublicIds)\n"
    return spawnSync(join(bin, 'esbuild'), ['--bundle', '--format=esm', ...options], { cwd: bundles, encoding: 'utf8', input, timeout: HANG })
  }
  assert.match(bundle().stderr, /Could not resolve "leafid\/wasm\/public-ids"/)
  assert.equal(bundle('--platform=node').status, 0)
})

test('docs/WASM.md has these recipes', () => {
  const page = readFileSync(join(process.env.LEAFID_ROOT, 'docs/WASM.md'), 'utf8')
  for (const text of ['leafid/wasm/inline', '--bundle --format=esm', "optimizeDeps: { exclude: ['leafid'] }", '<script type="module">']) assert.ok(page.includes(text), text)
})
