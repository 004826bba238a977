// What is packed: names, versions, files.

import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import * as leafid from 'leafid'
import { root } from './support.mjs'

const require = createRequire(import.meta.url)
const manifest = require('leafid/package.json')
const folder = dirname(require.resolve('leafid/package.json'))

test('one version: the addon, package.json and the workspace', () => {
  const workspace = readFileSync(join(root, 'Cargo.toml'), 'utf8').match(/^version = "([^"]+)"/m)[1]
  assert.deepEqual([leafid.version, manifest.version], [workspace, workspace])
})

test('the names, by import and by require', () => {
  const names = ['LeafidError', 'Segments', 'Snowflake', 'compose', 'decode', 'metrics', 'setLogger', 'version']
  assert.deepEqual(Object.keys(leafid).filter(name => !['default', 'module.exports'].includes(name)), names)
  assert.deepEqual(Object.keys(require('leafid')).sort(), names)
  const types = readFileSync(join(folder, 'index.d.ts'), 'utf8')
  const declared = [...types.matchAll(/^export declare (?:class|const|function) (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual([...new Set(declared)].sort(), names)
})

test('the files, with one addon and no dependency', () => {
  assert.deepEqual(readdirSync(folder).map(file => file.replace(/^leafid\..*\.node$/, 'ADDON')).sort(), [
    'ADDON',
    'README.md',
    'bin',
    'index.d.ts',
    'index.js',
    'lib',
    'package.json',
  ])
  assert.equal(manifest.dependencies, undefined)
  assert.equal(manifest.scripts, undefined)
})
