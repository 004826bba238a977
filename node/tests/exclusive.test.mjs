// Processes beside each other: who gets which worker id.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Snowflake, setLogger } from 'leafid'
import { assertDistinct, space, start } from './support.mjs'


test('child_process.fork children of a parent that has one open', async () => {
  const options = { ...space(), worker: '0-7' }
  const flake = new Snowflake(options)
  const program = `
    const { Snowflake } = require('leafid')
    process.on('message', options => {
      const flake = new Snowflake(options)
      process.send({ workerId: flake.workerId, ids: [...flake.take(20_000)].map(String) }, () => process.disconnect())
    })`
  const file = join('tests', `fork-${process.pid}.cjs`)
  writeFileSync(file, program)
  const children = Array.from({ length: 3 }, () => fork(file, { env: { ...process.env, NODE_TEST_CONTEXT: '' } }))
  const answers = children.map(child => once(child, 'message'))
  for (const child of children) child.send(options)
  const ids = [...flake.take(20_000)].map(String)
  const workers = [flake.workerId]
  for (const [answer] of await Promise.all(answers)) {
    ids.push(...answer.ids)
    workers.push(answer.workerId)
  }
  assert.equal(ids.length, 80_000)
  assertDistinct(ids)
  // A child may end before the next one starts, whose id it then takes over.
  assert.equal(workers.slice(1).includes(workers[0]), false)
  flake.close()
})

test('a cluster of four with a range repeats no id', async t => {
  const options = { ...space(), worker: '0-31' }
  const program = `
    const cluster = require('node:cluster')
    if (cluster.isPrimary) {
      const all = new Set()
      const workers = new Set()
      let total = 0
      let done = 0
      for (let i = 0; i < 4; i++) cluster.fork()
      cluster.on('message', (from, { workerId, ids }) => {
        workers.add(workerId)
        for (const id of ids) all.add(id)
        total += ids.length
        if (++done === 4) {
          console.log(JSON.stringify({ total, distinct: all.size, workers: workers.size }))
          for (const worker of Object.values(cluster.workers)) worker.send('end')
        }
      })
    } else {
      const flake = new Snowflake(options)
      const ids = Array.from({ length: 20_000 }, () => flake.nextString())
      process.on('message', () => process.exit(0))
      process.send({ workerId: flake.workerId, ids })
    }`
  // The cluster's workers run the primary's file: `node -e` has none.
  const file = join('tests', `cluster-${process.pid}.cjs`)
  writeFileSync(file, `const options = ${JSON.stringify(options)}; const { Snowflake } = require('leafid');${program}`)
  const { ended } = start(t, file)
  const { out, err, code } = await ended
  assert.equal(code, 0, err)
  assert.deepEqual(JSON.parse(out), { total: 80_000, distinct: 80_000, workers: 4 })
})

test('a full range is waited for, by open beside the event loop', async t => {
  const options = { ...space(), worker: { first: 3, last: 4 } }
  const one = new Snowflake({ ...options, randomStart: 1 })
  const other = new Snowflake({ ...options, randomStart: 2 })
  const waits = new Promise(resolve => {
    setLogger(({ message }) => message.includes('waiting up to 60000 ms') && resolve(message))
  })
  t.after(() => setLogger(null))
  const third = Snowflake.open({ ...options, randomStart: 3, timeoutMs: 60_000 })
  assert.match(await waits, /twice as many ids as processes/)
  const freed = other.workerId
  other.close()
  const flake = await third
  assert.equal(flake.workerId, freed)
  flake.close()
  one.close()
})
