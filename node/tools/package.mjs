// Assembles, packs and installs the npm package from the built addon; does nothing when nothing changed.
//
//   node node/tools/package.mjs <target/release> <folder>…
//
// Packs into build/node/, and installs the tarball into each folder. Run it in the root of the repository, after
// `cargo build --release -p leafid-node`; `make node-package` does both.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const [built, ...folders] = process.argv.slice(2)
const library = { darwin: 'libleafid_node.dylib', win32: 'leafid_node.dll' }[process.platform] ?? 'libleafid_node.so'
const addon = join(built, library)
const source = resolve('node')
const build = resolve('build/node')
const stage = join(build, 'package')
const tarball = join(build, 'leafid.tgz')
const shipped = ['package.json', 'index.js', 'index.d.ts', 'README.md', 'bin', 'lib']
const foldersShipped = ['bin', 'lib']

function npm(folder, ...args) {
  const options = { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], shell: process.platform === 'win32' }
  return execFileSync('npm', ['--loglevel=error', ...args], options)
}

/** What the addon is called for this platform; `lib/native.js` looks for it. */
function addonName() {
  const base = `leafid.${process.platform}-${process.arch}`
  if (process.platform !== 'linux') return `${base}.node`
  return `${base}-${process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl'}.node`
}

function fingerprint() {
  const hash = createHash('sha256').update(addonName())
  const files = shipped.flatMap(name =>
    foldersShipped.includes(name) ? readdirSync(join(source, name)).sort().map(file => join(source, name, file)) : [join(source, name)],
  )
  for (const file of [...files, addon]) hash.update(file).update('\0').update(readFileSync(file))
  return hash.digest('hex')
}

const unchanged = (file, print) => existsSync(file) && readFileSync(file, 'utf8') === print

function pack(print) {
  const done = join(build, 'packed')
  if (unchanged(done, print) && existsSync(tarball)) return
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(stage, { recursive: true })
  for (const name of shipped) cpSync(join(source, name), join(stage, name), { recursive: true })
  cpSync(addon, join(stage, addonName()))
  const [{ filename, size }] = JSON.parse(npm(stage, 'pack', '--json', '--pack-destination', build))
  renameSync(join(build, filename), tarball)
  writeFileSync(done, print)
  console.log(`packed ${filename} (${addonName()}, ${Math.ceil(size / 1024)} KiB) as build/node/leafid.tgz`)
}

function install(folder, print) {
  const done = join(folder, 'installed')
  if (unchanged(done, print) && existsSync(join(folder, 'node_modules/leafid/package.json'))) return
  mkdirSync(folder, { recursive: true })
  // A folder of its own: npm would otherwise look for a project above.
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
  npm(folder, 'install', '--offline', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', tarball)
  writeFileSync(done, print)
}

const print = fingerprint()
mkdirSync(build, { recursive: true })
pack(print)
for (const folder of folders) install(resolve(folder), print)
