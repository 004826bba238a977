// What is packed: names, versions, files.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import * as leafid from 'leafid'
import { root } from './support.mjs'

const require = createRequire(import.meta.url)
const manifest = require('leafid/package.json')
const folder = dirname(require.resolve('leafid/package.json'))
const modules = dirname(folder)
const platform = readdirSync(modules).find(name => name.startsWith('leafid-'))

test('one version: the addon, package.json and the workspace', () => {
  const workspace = readFileSync(join(root, 'Cargo.toml'), 'utf8').match(/^version = "([^"]+)"/m)[1]
  assert.deepEqual([leafid.version, manifest.version], [workspace, workspace])
})

test('the names, by import and by require', () => {
  const classes = ['LeafidError', 'PublicIds', 'Segments', 'Snowflake']
  const names = [...classes, 'compose', 'decode', 'firstIdAt', 'formatId', 'lastIdAt', 'metrics', 'parseId', 'setLogger', 'version']
  assert.deepEqual(Object.keys(leafid).filter(name => !['default', 'module.exports'].includes(name)), names)
  assert.deepEqual(Object.keys(require('leafid')).sort(), names)
  const types = readFileSync(join(folder, 'index.d.ts'), 'utf8')
  const declared = [...types.matchAll(/^export declare (?:class|const|function) (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual([...new Set(declared)].sort(), names)
})

test('the files, with no install script, and a package of this platform for the addon', () => {
  const licenses = ['LICENSE-APACHE', 'LICENSE-MIT']
  const exported = ['index', 'opentelemetry', 'prometheus', 'testing'].flatMap(name => [`${name}.d.ts`, `${name}.js`])
  const shipped = ['LICENSE-THIRD-PARTY', 'README.md', 'bin', 'leases', 'lib', 'package.json', 'sources', 'wasm', ...exported]
  assert.deepEqual(readdirSync(folder).sort(), [...licenses, ...shipped].sort())
  assert.equal(manifest.dependencies, undefined)
  assert.equal(manifest.scripts, undefined)
  const { main, scripts, os, cpu, version } = require(`${platform}/package.json`)
  assert.deepEqual(readdirSync(join(modules, platform)).sort(), [...licenses, 'LICENSE-THIRD-PARTY', main, 'package.json'].sort())
  assert.deepEqual([scripts, os, cpu, version], [undefined, [process.platform], [process.arch], manifest.version])
})

test('the licences name the crates in both packages', () => {
  const locked = readFileSync(join(root, 'Cargo.lock'), 'utf8')
  for (const each of [folder, join(modules, platform)]) {
    const text = readFileSync(join(each, 'LICENSE-THIRD-PARTY'), 'utf8')
    for (const crate of ['lol_alloc', 'napi', 'ring', 'rustls', 'serde_json', 'ureq']) {
      const [, version] = locked.match(new RegExp(`^name = "${crate}"\nversion = "([^"]+)"`, 'm'))
      assert.ok(text.includes(`\n${crate} ${version} (`), `${crate} ${version}`)
    }
  }
})

test('the packages of the platforms: the same in package.json and in the code, of this version', () => {
  const named = [...readFileSync(join(folder, 'lib/native.js'), 'utf8').matchAll(/require\('(leafid-[^']+)'\)/g)]
  assert.deepEqual(Object.keys(manifest.optionalDependencies), named.map(([, name]) => name))
  assert.deepEqual(new Set(Object.values(manifest.optionalDependencies)), new Set([manifest.version]))
})

/** What `require('leafid')` throws where the package is alone, or beside the addon of `beside`, after `prelude`. */
function refusal(t, prelude, beside) {
  const project = mkdtempSync(join(tmpdir(), 'leafid-alone-'))
  t.after(() => rmSync(project, { recursive: true }))
  cpSync(folder, join(project, 'node_modules/leafid'), { recursive: true })
  if (beside !== undefined) {
    cpSync(join(modules, platform), join(project, 'node_modules', platform), { recursive: true })
    beside(join(project, 'node_modules'))
  }
  const program = `${prelude}; try { require('leafid') } catch ({ code, message }) { console.log(JSON.stringify({ code, message })) }`
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], { cwd: project, encoding: 'utf8' })
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

test('a missing package of the platform: the error names platform, C library, package and what to do', t => {
  const { code, message } = refusal(t, '')
  assert.equal(code, 'ERR_LEAFID_INTERNAL')
  const { glibcVersionRuntime: glibc } = process.report.getReport().header
  const libc = process.platform !== 'linux' ? '' : glibc ? ` with glibc ${glibc}` : ' with musl'
  assert.ok(message.startsWith(`leafid has no addon on ${process.platform}-${process.arch}${libc}: the package ${platform} is not installed.`), message)
  assert.match(message, /Delete node_modules and run `npm install` on this platform, without --omit=optional\./)
})

test('an addon that does not load: the error has the reason', t => {
  const { main } = require(`${platform}/package.json`)
  const { code, message } = refusal(t, '', modules => writeFileSync(join(modules, platform, main), 'no addon'))
  assert.equal(code, 'ERR_LEAFID_INTERNAL')
  assert.ok(message.startsWith(`the addon of leafid does not load on ${process.platform}-${process.arch}`), message)
  assert.ok(message.includes(`: ${platform}: `) && message.includes('.node'), message)
})

test('an addon of another version: the error names both', t => {
  const { code, message } = refusal(t, '', modules => {
    writeFileSync(join(modules, 'leafid/package.json'), JSON.stringify({ ...manifest, version: '9.8.7' }))
  })
  assert.equal(code, 'ERR_LEAFID_INTERNAL')
  const begin = `the addon in the package ${platform} is of leafid ${manifest.version}, and the package leafid is of 9.8.7: `
  assert.ok(message.startsWith(begin) && message.includes('`npm install`'), message)
})

test('a platform without a package: the error names those that have one', t => {
  const { code, message } = refusal(t, "Object.defineProperty(process, 'platform', { value: 'sunos' })")
  assert.equal(code, 'ERR_LEAFID_INTERNAL')
  assert.match(message, /^leafid has no addon for sunos-\w+, only for darwin-arm64, .*win32-x64-msvc\. Build one/)
})
