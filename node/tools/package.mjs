// Packs the npm packages and installs them; does nothing when nothing changed.
//
//   node node/tools/package.mjs OUT PLATFORM=BUILT… [FOLDER…] [--without-wasm]
//
// `lib` and `wasm` of the package have node/js/front in common, over node/js/native or node/js/wasm: see addScripts.
//
// Packs `leafid`, and `leafid-PLATFORM` with the addon in the folder BUILT, into the folder OUT, and installs all of them
// into each FOLDER. PLATFORM is one of package.json's optionalDependencies, such as linux-x64-gnu, or `here`. Run it in
// the root of the repository; `make build OF=node` and `make dist OF=node` do.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

const withoutWasm = process.argv.includes('--without-wasm')
const [out, ...words] = process.argv.slice(2).filter(word => word !== '--without-wasm')
const build = resolve(out)
const libraries = { darwin: 'libleafid_node.dylib', win32: 'leafid_node.dll', linux: 'libleafid_node.so' }
const addons = words.filter(word => word.includes('=')).map(word => {
  const [platform, built] = word.replace(/^here=/, `${here()}=`).split(/=(.*)/s, 2)
  return [platform, join(built, libraries[platform.split('-')[0]])]
})
const folders = words.filter(word => !word.includes('=')).map(folder => resolve(folder))
const manifest = JSON.parse(readFileSync('node/package.json', 'utf8'))
const programs = ['index', 'testing', 'prometheus', 'opentelemetry'].flatMap(name => [`${name}.js`, `${name}.d.ts`])
const shipped = ['package.json', ...programs, 'README.md', 'bin', 'leases', 'sources', 'js'].map(name => join('node', name))
/** What `make build OF=wasm` built. */
const modules = withoutWasm ? [] : ['leafid', 'leafid-run', 'leafid-public-ids'].map(name => `build/wasm/${name}.wasm`)
const licenses = ['LICENSE-MIT', 'LICENSE-APACHE']
/** Of what an addon and the module contain: packaging/notices.py writes it. */
const notices = 'build/LICENSE-THIRD-PARTY'

function npm(folder, ...args) {
  const options = { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], shell: process.platform === 'win32' }
  return execFileSync('npm', ['--loglevel=error', ...args], options)
}

function here() {
  const { platform, arch } = process
  if (platform === 'win32') return `${platform}-${arch}-msvc`
  if (platform !== 'linux') return `${platform}-${arch}`
  return `${platform}-${arch}-${process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl'}`
}

/** As @napi-rs/cli writes them: npm installs a package only where os, cpu and libc are those of the machine. */
function platformManifest(platform) {
  const name = `leafid-${platform}`
  if (!(name in manifest.optionalDependencies)) throw new Error(`${name} is not among package.json's optionalDependencies`)
  const [os, cpu, abi] = platform.split('-')
  const libc = { gnu: 'glibc', musl: 'musl' }[abi]
  const { version, license, repository, engines } = manifest
  const file = `leafid.${platform}.node`
  return {
    name, version, description: `The addon of leafid for ${platform}`, license, repository, engines,
    os: [os], cpu: [cpu], ...(libc && { libc: [libc] }), main: file, files: [file, 'LICENSE-*'],
  }
}

const files = path => (statSync(path).isDirectory() ? readdirSync(path).sort().flatMap(name => files(join(path, name))) : [path])

function fingerprint() {
  const hash = createHash('sha256')
  for (const [platform, file] of addons) hash.update(`${platform}\0`).update(readFileSync(file))
  for (const file of [...shipped, ...modules, ...licenses, notices].flatMap(files)) hash.update(`${file}\0`).update(readFileSync(file))
  return hash.digest('hex')
}

const unchanged = (file, print) => existsSync(file) && readFileSync(file, 'utf8') === print

/** Packs what `fill` puts into a folder, and returns the name of the tarball. */
function pack(name, fill) {
  const stage = join(build, 'stage', name)
  mkdirSync(stage, { recursive: true })
  fill(stage)
  for (const file of licenses) cpSync(file, join(stage, file))
  const [{ filename, size }] = JSON.parse(npm(stage, 'pack', '--json', '--pack-destination', build))
  console.log(`packed ${filename}, ${Math.ceil(size / 1024)} KiB`)
  return filename
}

/** The WebAssembly modules as files, and the main one as text in a program. */
function addModules(folder) {
  if (withoutWasm) return
  for (const file of modules) cpSync(file, join(folder, basename(file)))
  const main = readFileSync(modules[0], 'base64')
  const text = `export const bytes = () => Uint8Array.from(atob('${main}'), each => each.charCodeAt(0))\n`
  writeFileSync(join(folder, 'leafid.wasm.js'), text)
}

/** The front beside the files of one adapter, whose names differ. */
function addScripts(adapter, folder, written) {
  cpSync(join('node/js', adapter), folder, { recursive: true })
  for (const name of readdirSync('node/js/front')) {
    if (existsSync(join(folder, name))) throw new Error(`node/js/front and node/js/${adapter} both have ${name}`)
    writeFileSync(join(folder, name), written(readFileSync(join('node/js/front', name), 'utf8')))
  }
}

/**
 * A module that exports functions, classes and constants by name, as CommonJS: neither Jest nor Node before 20.19 loads
 * a module by `require`.
 */
function commonJs(text) {
  const names = [...text.matchAll(/^export (?:async function|function\*?|class|const) (\w+)/gm)].map(([, name]) => name)
  const body = text
    .replace(/^import (\{[^}]*\}) from ('.*')$/gm, 'const $1 = require($2)')
    .replace(/^export (?=async function|function|class|const)/gm, '')
  if (/^(import|export)\b/m.test(body)) throw new Error('a file of the front has an import or an export that is not by name')
  return `'use strict'\n\n${body}\nmodule.exports = { ${names.join(', ')} }\n`
}

function packAll() {
  rmSync(join(build, 'stage'), { recursive: true, force: true })
  mkdirSync(build, { recursive: true })
  for (const old of readdirSync(build).filter(name => name.endsWith('.tgz'))) rmSync(join(build, old))
  const tarballs = [
    pack('leafid', stage => {
      for (const path of shipped.slice(0, -1)) cpSync(path, join(stage, path.slice('node/'.length)), { recursive: true })
      addScripts('native', join(stage, 'lib'), commonJs)
      addScripts('wasm', join(stage, 'wasm'), text => text)
      addModules(join(stage, 'wasm'))
      cpSync(notices, join(stage, 'LICENSE-THIRD-PARTY'))
    }),
  ]
  for (const [platform, addon] of addons) {
    const platformPackage = platformManifest(platform)
    tarballs.push(
      pack(platformPackage.name, stage => {
        cpSync(addon, join(stage, platformPackage.main))
        cpSync(notices, join(stage, 'LICENSE-THIRD-PARTY'))
        writeFileSync(join(stage, 'package.json'), `${JSON.stringify(platformPackage, null, 2)}\n`)
      }),
    )
  }
  writeFileSync(join(build, 'tarballs.json'), JSON.stringify(tarballs))
}

function install(folder) {
  mkdirSync(folder, { recursive: true })
  // A folder of its own: npm would otherwise look for a project above.
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
  const tarballs = JSON.parse(readFileSync(join(build, 'tarballs.json'))).map(name => join(build, name))
  // Offline: the packages of other platforms, which npm looks for in vain, are none of the registry's.
  npm(folder, 'install', '--offline', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', ...tarballs)
}

const print = fingerprint()
if (!unchanged(join(build, 'packed'), print)) {
  packAll()
  writeFileSync(join(build, 'packed'), print)
}
for (const folder of folders) {
  const done = join(folder, 'installed')
  if (unchanged(done, print) && existsSync(join(folder, 'node_modules/leafid/package.json'))) continue
  install(folder)
  writeFileSync(done, print)
}
