// The table of errors, and how an error looks.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { readFileSync } from 'node:fs'
import { LeafidError, Snowflake, decode } from 'leafid'
import { thrown, vectors } from './support.mjs'

const require = createRequire(import.meta.url)
const { errors } = vectors('errors.json')

test('the table is that of the addon', () => {
  const native = require(require.resolve('leafid').replace('index.js', 'lib/native.js'))
  const rows = errors.map(({ number, code, retry }) => ({ number, name: code, retry }))
  assert.deepEqual(native.codes(), rows)
})

test('each code says whether a retry can help', () => {
  for (const { node, retry } of errors) {
    const error = new LeafidError(node, 'x')
    assert.deepEqual([error.code, error.retry], [node, retry])
  }
})

test('index.d.ts lists the codes', () => {
  const types = readFileSync(require.resolve('leafid').replace('index.js', 'index.d.ts'), 'utf8')
  const union = types.slice(types.indexOf('type LeafidErrorCode'), types.indexOf('class LeafidError'))
  assert.deepEqual(union.match(/ERR_LEAFID_[A-Z_]+/g), errors.map(({ node }) => node))
})

test('an error is an Error with code, retry, name and a stack', () => {
  const error = thrown(() => decode('x'))
  assert.ok(error instanceof LeafidError && error instanceof Error)
  assert.equal(error.name, 'LeafidError')
  assert.equal(error.retry, false)
  assert.match(error.stack, /^LeafidError: id is "x"; allowed: /)
  assert.match(error.stack, /errors\.test/)
})

test('open rejects with what the constructor throws', async () => {
  const bad = { worker: 1024 }
  const sync = thrown(() => new Snowflake(bad))
  await assert.rejects(Snowflake.open(bad), { name: 'LeafidError', code: sync.code, message: sync.message })
})
