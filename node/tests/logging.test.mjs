// setLogger: leafid's log records for a function of JavaScript's.

import assert from 'node:assert/strict'
import { openSync, writeSync, closeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { LeafidError, Snowflake, setLogger } from 'leafid'
import { HANG, space, start, thrown } from './support.mjs'

const leafid = JSON.stringify(createRequire(import.meta.url).resolve('leafid'))

afterEach(() => setLogger(null))

/** Other tests may hold the same worker id on this machine, and openings warn of it. */
const OTHER_NAME = 'is held on this host under another name'

/** Collects records; `arrived` answers them once there are this many. */
function collect(level) {
  const records = []
  setLogger(record => void (record.message.includes(OTHER_NAME) || records.push(record)), level)
  return async function arrived(count) {
    for (const end = Date.now() + HANG; records.length < count && Date.now() < end; ) {
      await new Promise(done => setTimeout(done, 1))
    }
    return records
  }
}

function damage({ stateDir, name }, worker) {
  const file = openSync(join(stateDir, name, `worker-${worker}.state`), 'r+')
  writeSync(file, 'damaged', 0)
  closeSync(file)
}

test('an opening is information, a damaged slot a warning', async () => {
  const arrived = collect()
  const options = { ...space(), worker: 7 }
  new Snowflake(options).close()
  const [opened] = await arrived(1)
  assert.equal(opened.level, 'info')
  const directory = join(options.stateDir, options.name)
  assert.ok(opened.message.startsWith(`state directory ${directory}, worker id 7 of "${options.name}"`), opened.message)
  damage(options, 7)
  new Snowflake(options).close()
  const [, warned] = await arrived(2)
  assert.equal(warned.level, 'warn')
  assert.match(warned.message, /^one slot of .* is damaged/)
})

test('graver levels alone, another callback, and none', async () => {
  const options = { ...space(), worker: 7 }
  const before = collect('info')
  const arrived = collect('warn')
  new Snowflake(options).close()
  damage(options, 7)
  new Snowflake(options).close()
  const [warned] = await arrived(1)
  assert.equal(warned.level, 'warn')
  setLogger(null)
  damage(options, 7)
  new Snowflake(options).close()
  // Whatever was to come would have: this comes after it.
  const after = collect()
  new Snowflake({ ...space(), worker: 1 }).close()
  assert.equal((await after(1)).length, 1)
  assert.deepEqual([(await before(0)).length, (await arrived(0)).length], [0, 1])
})

test('what is no callback or no level is refused', () => {
  for (const call of [() => setLogger('log'), () => setLogger({}), () => setLogger(() => {}, 'loud'), () => setLogger(null, 3)]) {
    const error = thrown(call)
    assert.ok(error instanceof LeafidError)
    assert.equal(error.code, 'ERR_LEAFID_INVALID_ARGUMENT')
  }
})

test('what a callback throws is an uncaught exception, and the next record comes', async t => {
  const { ended } = start(
    t,
    `const { setLogger } = require('leafid')
    let calls = 0
    setLogger(({ message }) => {
      if (message.includes('${OTHER_NAME}')) return
      calls++
      throw new Error('mine ' + calls)
    })
    process.on('uncaughtException', error => {
      console.log(error.message)
      if (calls === 2) clearInterval(alive)
    })
    const alive = setInterval(() => {}, 1000)
    new Snowflake({ ...options, worker: 1 }).close()
    new Snowflake({ ...options, worker: 2 }).close()`,
    space(),
  )
  assert.deepEqual(await ended, { code: 0, signal: null, out: 'mine 1\nmine 2\n', err: '' })
})

test('uncaught, it ends the process as that of any event does', async t => {
  const { ended } = start(
    t,
    `require('leafid').setLogger(() => { throw new Error('mine') })
    setInterval(() => {}, 1000)
    new Snowflake({ ...options, worker: 1 })`,
    space(),
  )
  const { code, err } = await ended
  assert.equal(code, 1)
  assert.match(err, /Error: mine/)
})

test('it keeps no process alive, nor stops one that exits while records wait', async t => {
  const program = `
    const { setLogger } = require('leafid')
    setLogger(() => {})
    const flakes = Array.from({ length: 20 }, (_, worker) => new Snowflake({ ...options, worker }))`
  for (const end of ['', 'process.exit(0)', 'process.reallyExit(0)']) {
    const { ended } = start(t, `${program}\n${end}`, space())
    assert.deepEqual(await ended, { code: 0, signal: null, out: '', err: '' }, end)
  }
})

test('a busy thread gets the number of dropped messages', async t => {
  const { ended } = start(
    t,
    `const { setLogger } = require('leafid')
    const messages = []
    setLogger(({ message }) => messages.push(message))
    function open(worker) {
      // A close gives up a slow disk.
      try { new Snowflake({ ...options, worker }).close() } catch (error) { if (error.code !== 'ERR_LEAFID_STATE_IO') throw error }
    }
    for (let i = 0; i < 300; i++) open(i)
    const alive = setInterval(() => {
      open(1000)
      const said = messages.flatMap(message => message.match(/ \\((\\d+) records before this one were dropped/)?.[1] ?? [])
      const dropped = said.reduce((sum, count) => sum + Number(count), 0)
      const told = messages.filter(message => !message.includes('worker id 1000 ')).length
      // Perhaps with warnings of other names.
      if (dropped + told >= 300 && dropped > 0) { console.log('all told'); clearInterval(alive) }
    }, 20)
    setTimeout(() => { console.log(messages.length, messages.slice(-3)); process.exit(1) }, ${HANG}).unref()`,
    space(),
  )
  assert.deepEqual(await ended, { code: 0, signal: null, out: 'all told\n', err: '' })
})

test('each thread has its own, which goes with it', async t => {
  const arrived = collect()
  const options = space()
  const code = `
    const { Snowflake, setLogger } = require(${leafid})
    const { parentPort, workerData } = require('node:worker_threads')
    setLogger(({ message }) => message.includes('${OTHER_NAME}') || parentPort.postMessage(message))
    const flake = new Snowflake({ ...workerData, worker: 1 })
    parentPort.on('message', () => process.exit())`
  for (let round = 1; round <= 5; round++) {
    const worker = new Worker(code, { eval: true, workerData: options })
    t.after(() => worker.terminate())
    const [message] = await Promise.race([
      new Promise(done => worker.once('message', message => done([message]))),
      new Promise((_, failed) => worker.once('error', failed)),
    ])
    assert.match(message, /worker id 1 of /)
    assert.equal((await arrived(round)).length, round, 'and here, too')
    await worker.terminate()
  }
  new Snowflake({ ...options, worker: 2 }).close()
  assert.match((await arrived(6))[5].message, /worker id 2 of /)
})
