'use strict'

// The package from CommonJS: the README's first example.

const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { Snowflake, LeafidError, decode, compose } = require('leafid')

test('from CommonJS', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'leafid-node-'))
  process.on('exit', () => rmSync(stateDir, { recursive: true, force: true }))
  const options = { worker: { first: 0, last: 31 }, name: `node-${randomBytes(6).toString('hex')}`, stateDir, timeoutMs: 60_000 }
  const flake = new Snowflake(options)
  const { timestampMs, workerId, sequence } = decode(flake.next())
  assert.equal(decode(compose(timestampMs, workerId, sequence)).timestampMs, timestampMs)
  const other = await Snowflake.open(options)
  assert.ok(other instanceof Snowflake)
  const { open } = Snowflake
  const third = await open(options)
  assert.ok(third instanceof Snowflake)
  assert.equal(flake.stats().handles, 3)
  for (const each of [flake, other, third]) each.close()
  assert.throws(flake.next, LeafidError)
})
