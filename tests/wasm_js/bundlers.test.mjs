// leafid/wasm in bundles for browsers, each loaded in Chromium: the recipes of docs/WASM.md.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
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

const guide = readFileSync(join(process.env.LEAFID_ROOT, 'docs/WASM.md'), 'utf8')
/** What bundles import, from which entry, and how many bytes that is: of JavaScript, and with the module. */
const sizes = [...guide.matchAll(/^\| `?([\w ]+?)`? \| `([\w/]+)` \| ([\d.]+) kB \| ([\d.]+) kB \|$/gm)].map(
  ([, name, entry, ...kb]) => [name, entry, kb.map(each => each * 1000)],
)
const known = new Map()
/** How many bytes a file is over the wire. */
function compressed(path) {
  if (!known.has(path)) known.set(path, brotliCompressSync(readFileSync(path)).length)
  return known.get(path)
}

/** How many bytes the modules are that a script names. */
function modules(script) {
  const named = new Set(readFileSync(script, 'utf8').match(/leafid[\w-]*\.wasm\b/g))
  return [...named].reduce((sum, name) => sum + compressed(join(here, 'node_modules/leafid/wasm', name)), 0)
}

test('docs/WASM.md has the size of each entry', () => {
  const entries = ['leafid/wasm', 'leafid/wasm/decode', 'leafid/wasm/snowflake']
  assert.deepEqual([...new Set(sizes.map(([, entry]) => entry))].sort(), entries)
})

for (const [name, entry, [script, most]] of sizes) {
  test(`a bundle has only what it imports: ${name} from ${entry}`, t => {
    const [input, output] = [join(bundles, 'input.js'), join(folder(t), 'output.js')]
    const [names, used] = name === 'all names' ? ['* as leafid', 'leafid'] : [`{ ${name} }`, name]
    writeFileSync(input, `import ${names} from '${entry}'\nconsole.log(${used})\n`)
    t.after(() => rmSync(input))
    tool('esbuild', ['input.js', '--bundle', '--format=esm', '--minify', `--outfile=${output}`, '--log-level=warning'])
    const size = compressed(output)
    assert.ok(size <= script && size > script - 500, `${size} bytes`)
    const all = size + modules(output)
    // The compiler orders functions by a hash that has the folder of the sources in it: some hundred bytes either way.
    assert.ok(Math.abs(all - most) < 1000, `${all} bytes with the module`)
  })
}

test('Vite', async t => {
  const made = folder(t)
  tool('vite', ['build', '--logLevel=warn', `--outDir=${made}`, '--emptyOutDir'])
  assert.equal(await shows(t, made), 1)
  const scripts = readdirSync(join(made, 'assets')).filter(name => name.endsWith('.js'))
  const size = scripts.map(name => compressed(join(made, 'assets', name))).reduce((one, other) => one + other)
  assert.ok(size < 12_000, `${size} bytes`)
})

test('Vite, of leafid/wasm/snowflake: its module, and no other', async t => {
  const [made, source] = [folder(t), folder(t)]
  mkdirSync(join(source, 'node_modules'))
  symlinkSync(join(here, 'node_modules/leafid'), join(source, 'node_modules/leafid'))
  const page = readFileSync(join(bundles, 'page.js'), 'utf8').replace("'leafid/wasm'", "'leafid/wasm/snowflake'")
  writeFileSync(join(source, 'page.js'), page)
  cpSync(join(bundles, 'index.html'), join(source, 'index.html'))
  tool('vite', ['build', source, '--logLevel=warn', `--outDir=${made}`, '--emptyOutDir'])
  assert.equal(await shows(t, made), 1)
  const files = readdirSync(join(made, 'assets'))
  const of = extension => files.filter(name => name.endsWith(extension)).map(name => compressed(join(made, 'assets', name)))
  assert.deepEqual(of('.wasm'), [compressed(join(here, 'node_modules/leafid/wasm/leafid-run.wasm'))])
  const size = of('.js').reduce((one, other) => one + other)
  assert.ok(size < 12_000, `${size} bytes`)
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
  assert.equal(await shows(t, made), 3, 'all of the folder')
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
  for (const text of ['leafid/wasm/inline', '--bundle --format=esm', "optimizeDeps: { exclude: ['leafid'] }", '<script type="module">']) assert.ok(guide.includes(text), text)
})
