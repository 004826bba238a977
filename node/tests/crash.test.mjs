// SIGKILL and restart at once.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { directory, space, start } from './support.mjs'

const ROUNDS = 15

test('killed and restarted with one worker id: no id twice, none below an earlier one', async t => {
  const options = { ...space(), worker: 5 }
  const file = join(directory(), 'ids')
  // What was written before the kill is in the file: a write to it is no copy in the process.
  const program = `
    const fs = require('node:fs')
    const flake = new Snowflake(options)
    const out = fs.openSync(${JSON.stringify(file)}, 'a')
    const ids = new BigInt64Array(64)
    console.log('up')
    for (;;) fs.writeSync(out, new Uint8Array(flake.fill(ids).buffer))`
  for (let round = 0; round < ROUNDS; round++) {
    const { child, line, ended } = start(t, program, options)
    assert.equal(await line(), 'up')
    await new Promise(done => setTimeout(done, 5 + Math.random() * 45))
    child.kill('SIGKILL')
    assert.equal((await ended).signal, 'SIGKILL')
  }
  const bytes = readFileSync(file)
  const ids = new BigInt64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 8))
  assert.ok(ids.length >= ROUNDS * 64, `only ${ids.length} ids`)
  for (let i = 1; i < ids.length; i++) assert.ok(ids[i - 1] < ids[i], `${ids[i - 1]} before ${ids[i]}`)
})
