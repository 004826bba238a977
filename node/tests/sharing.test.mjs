// The same options in one process are one generator: objects, modules and worker_threads.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Snowflake } from 'leafid'
import { HANG, assertDistinct, space } from './support.mjs'

const require = createRequire(import.meta.url)

/** A worker thread that runs `program` with `flake` open; `stay` keeps it. */
function worker(options, program) {
  const code = `
    const { Snowflake } = require(${JSON.stringify(require.resolve('leafid'))})
    const { parentPort, workerData } = require('node:worker_threads')
    const flake = new Snowflake(workerData)
    ${program}`
  return new Worker(code, { eval: true, workerData: options })
}

/** The handles of `flake`'s generator once there are this many; workers end a moment after they say so. */
async function handles(flake, wanted) {
  for (const end = Date.now() + HANG; flake.stats().handles !== wanted && Date.now() < end; ) {
    await new Promise(done => setTimeout(done, 5))
  }
  return flake.stats().handles
}

test('two objects share', () => {
  const options = { ...space(), worker: { first: 4, last: 9 } }
  const [one, two] = [new Snowflake(options), new Snowflake({ ...options, worker: '4-9' })]
  assert.deepEqual([one.workerId, two.workerId, one.stats().handles], [4, 4, 2])
  const ids = []
  for (let i = 0; i < 5000; i++) ids.push(one.next(), two.next())
  assert.ok(ids.every((id, i) => i === 0 || ids[i - 1] < id))
  one.close()
  assert.equal(two.stats().handles, 1)
  assert.ok(two.next() > ids.at(-1))
  two.close()
})

test('the CommonJS and the ES module are one', async () => {
  assert.equal(require('leafid').Snowflake, Snowflake)
  assert.equal((await import('leafid')).default.Snowflake, Snowflake)
})

test('other settings do not share', () => {
  const options = { ...space(), worker: 7 }
  const flake = new Snowflake(options)
  for (const other of [{ randomStart: 0 }, { layout: '42|10|11' }, { onExhausted: 'borrow' }]) {
    assert.throws(() => new Snowflake({ ...options, ...other }), { code: 'ERR_LEAFID_WORKER_IN_USE', retry: true })
  }
  flake.close()
})

test('worker_threads share with each other and with the main thread', async () => {
  const options = { ...space(), worker: '0-31' }
  const flake = new Snowflake(options)
  const program = `
    const ids = new BigInt64Array(50_000)
    for (let i = 0; i < ids.length; i++) ids[i] = flake.next()
    parentPort.postMessage({ ids, workerId: flake.workerId, handles: flake.stats().handles })`
  const workers = [worker(options, program), worker(options, program)]
  const answers = workers.map(thread => once(thread, 'message'))
  const ids = [...flake.take(50_000)]
  for (const [answer] of await Promise.all(answers)) {
    assert.equal(answer.workerId, flake.workerId)
    assert.ok(answer.handles >= 2)
    ids.push(...answer.ids)
  }
  assert.equal(ids.length, 150_000)
  assertDistinct(ids)
  await Promise.all(workers.map(thread => thread.terminate()))
  assert.equal(await handles(flake, 1), 1)
  flake.close()
})

test('a worker that ends, exits, fails or is terminated closes its handle', async () => {
  const options = { ...space(), worker: 1 }
  const flake = new Snowflake(options)
  const ends = {
    ends: '',
    exits: 'process.exit(3)',
    fails: 'throw new Error("meant to be")',
    terminated: 'setInterval(flake.next, 1); parentPort.postMessage("up")',
  }
  for (const [how, program] of Object.entries(ends)) {
    const thread = worker(options, `flake.next(); ${program}`)
    thread.on('error', error => assert.match(error.message, /meant to be/))
    // Not `once`, which an error ends: the thread's exit may come before anybody asks for it again.
    const ended = new Promise(resolve => thread.once('exit', resolve))
    if (how === 'terminated') {
      await once(thread, 'message')
      assert.equal(flake.stats().handles, 2)
      await thread.terminate()
    }
    await ended
    assert.equal(await handles(flake, 1), 1, how)
  }
  flake.close()
})

test('the addon loads in a worker alone, again and again', async () => {
  const options = { ...space(), worker: 1 }
  const ids = []
  for (let i = 0; i < 8; i++) {
    const thread = worker(options, 'parentPort.postMessage(flake.take(1000))')
    thread.on('message', some => ids.push(...some))
    await once(thread, 'exit')
  }
  assert.equal(ids.length, 8000)
  assert.ok(ids.every((id, i) => i === 0 || ids[i - 1] < id))
})

test('an unreferenced handle is closed when it is collected', async t => {
  if (!globalThis.gc) {
    const v8 = await import('node:v8')
    v8.setFlagsFromString('--expose-gc')
    globalThis.gc = (await import('node:vm')).runInNewContext('gc')
  }
  const options = { ...space(), worker: 1 }
  const flake = new Snowflake(options)
  for (let i = 0; i < 100; i++) new Snowflake(options).next()
  while (flake.stats().handles > 1) {
    globalThis.gc()
    await new Promise(done => setTimeout(done, 10))
  }
  flake.close()
})
