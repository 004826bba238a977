// Worker ids leased from servers, by URL: claimed off this thread.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Snowflake, decode } from 'leafid'
import { until, wasm } from './counter.mjs'
import { sleep } from './lease_source.mjs'
import { fakeServer } from './fake-server.mjs'
import * as support from './support.mjs'
import { PATIENT, assertDistinct, start, thrown } from './support.mjs'

const main = createRequire(import.meta.url).resolve('leafid')
const IN_USE = 'ERR_LEAFID_WORKER_IN_USE'
const LOST = 'ERR_LEAFID_WORKER_LOST'
const WOULD_BLOCK = 'ERR_LEAFID_WOULD_BLOCK'

// A server, or the event loop that asks it by fetch, may be kept waiting for longer than a request usually is.
const space = () => ({ ...support.inMemory(), requestTimeoutMs: PATIENT })
const elsewhere = () => ({ ...support.elsewhere(), requestTimeoutMs: PATIENT })

/** A server of leases that last for `leaseMs`, and `leases`, those of a name, by worker id. */
async function server(t, leaseMs = 30_000, ...args) {
  const made = await fakeServer(t, '--lease-ms', String(leaseMs), '--threshold-ms', '500', ...args)
  const leases = async name => (await made.tell({ do: 'leases', name })).leases
  const asked = async kind => (await made.tell({ do: 'report', requests: 0 })).tags[kind]?.total ?? 0
  return { ...made, leases, asked }
}

/** As the constructor makes it, which cannot ask a server by fetch. */
const constructed = async options => (wasm ? Snowflake.open(options) : new Snowflake(options))

test('open keeps the event loop free, however many; one claim serves all', async t => {
  const { url, tell, asked } = await server(t)
  await tell({ do: 'fault', fault: { delay_ms: PATIENT }, tag: 'claim' })
  class Mine extends Snowflake {}
  const options = { ...space(), worker: url, peerTimes: async () => [Date.now()] }
  const opening = Promise.all([Mine.open(options), Snowflake.open(options), Snowflake.open(options)])
  await until('the claim, while the event loop turns', () => asked('claim'))
  await tell({ do: 'clear' })
  const flakes = await opening
  assert.equal(await asked('claim'), 1)
  assert.ok(flakes[0] instanceof Mine)
  assert.deepEqual([flakes[0].stats().handles, flakes[0].next() < flakes[1].next()], [3, true])
  // The constructor finds it open, or waits for the server.
  new Snowflake(options).close()
  await tell({ do: 'fault', fault: { delay_ms: 300 }, tag: 'claim' })
  const begun = performance.now()
  const other = await constructed({ ...space(), worker: [url] })
  assert.ok(performance.now() - begun > 250)
  assert.ok(other.next() > 0n)
  for (const flake of [...flakes, other]) flake.close()
})

test('close waits for no server', async t => {
  const { url, tell, leases, asked } = await server(t)
  const { name, ...rest } = support.space()
  await tell({ do: 'fault', fault: { delay_ms: 30_000 }, tag: 'release' })
  const flake = await Snowflake.open({ name, ...rest, worker: url })
  const last = flake.next()
  const begun = performance.now()
  flake.close()
  assert.ok(performance.now() - begun < 29_000, `${performance.now() - begun} ms`)
  assert.equal(thrown(flake.next).code, 'ERR_LEAFID_CLOSED')
  await until('the release', async () => (await leases(name))[0].token === null)
  assert.ok(decode(last).timestampMs < (await leases(name))[0].until)
  assert.equal(await asked('release'), 1)
})

test('lazy: the first call begins the claim, and no call waits for it', async t => {
  const { url, tell, asked } = await server(t, 30_000, '--pool', '1')
  for (const more of [{}, { peerTimes: async () => [] }]) {
    await tell({ do: 'forget' })
    await tell({ do: 'fault', fault: { delay_ms: PATIENT }, tag: 'claim' })
    const options = { ...space(), worker: url, lazy: true, ...more }
    const flake = more.peerTimes ? await Snowflake.open(options) : new Snowflake(options)
    assert.equal(flake.layout.workerBits, 10)
    await sleep(5)
    assert.equal(await asked('claim'), 0)
    for (const call of [flake.next, flake.stats, () => flake.take(5), () => flake.workerId]) {
      const error = thrown(call)
      assert.deepEqual([error.code, error.retry], [WOULD_BLOCK, true])
    }
    await until('the claim', () => asked('claim'))
    await tell({ do: 'clear' })
    const waits = error => (error.code === WOULD_BLOCK ? undefined : Promise.reject(error))
    const id = await until('an id', () => {
      try {
        return flake.next()
      } catch (error) {
        return waits(error)
      }
    })
    assert.deepEqual([decode(id).workerId, flake.stats().handles, await asked('claim')], [0, 1, 1])
    // Its only id is taken: an error of the claim is that of a call, and then it is made again.
    const second = new Snowflake({ ...options, ...elsewhere(), peerTimes: undefined })
    for (let i = 0; i < 2; i++) {
      assert.equal(thrown(second.next).code, WOULD_BLOCK)
      const error = await until('its error', async () => {
        await sleep(20)
        const error = thrown(second.next)
        return error.code !== WOULD_BLOCK && error
      })
      assert.equal(error.code, IN_USE)
    }
    second.close()
    assert.equal(thrown(second.next).code, 'ERR_LEAFID_CLOSED')
    flake.close()
  }
  // Closed while the claim is under way: what it brings goes back.
  await tell({ do: 'forget' })
  await tell({ do: 'fault', fault: { delay_ms: PATIENT }, tag: 'claim' })
  const flake = new Snowflake({ ...space(), worker: url, lazy: true })
  assert.equal(thrown(flake.next).code, WOULD_BLOCK)
  flake.close()
  await tell({ do: 'clear' })
  await until('the release', () => asked('release'))
})

test('errors are named as options are here', async t => {
  const { url, tell } = await server(t)
  await tell({ do: 'fault', fault: { hang: true }, tag: 'claim' })
  const slow = { ...space(), worker: url, requestTimeoutMs: 100 }
  await assert.rejects(Snowflake.open(slow), { code: LOST, message: /requestTimeoutMs/ })
  await tell({ do: 'fault', fault: { answer: { lease_ms: 0 } }, tag: 'claim' })
  // A field of the answer keeps its name.
  await assert.rejects(Snowflake.open({ ...slow, requestTimeoutMs: PATIENT }), { code: LOST, message: /lease_ms 0/ })
})

const alone = wasm && 'in leafid/wasm each thread has a lease of its own'
test('worker_threads share one lease, and their ends do not give it back', { skip: alone }, async t => {
  const { url, asked } = await server(t)
  const options = { ...space(), worker: [url] }
  const program = `
    const { Snowflake } = require(${JSON.stringify(main)})
    const { parentPort, workerData: { options, end } } = require('node:worker_threads')
    Snowflake.open(options).then(flake => {
      parentPort.postMessage(flake.take(5000))
      if (end === 'exit') process.exit(0)
      if (end === 'close') flake.close()
    })`
  const flake = await Snowflake.open(options)
  const taken = ['', 'close', 'exit'].map(end => {
    const thread = new Worker(program, { eval: true, workerData: { options, end } })
    const ids = new Promise((done, failed) => thread.on('message', done).on('error', failed))
    return Promise.all([ids, new Promise(done => thread.on('exit', done))])
  })
  const ids = [...flake.take(5000)]
  for (const [some] of await Promise.all(taken)) ids.push(...some)
  assert.equal(ids.length, 20_000)
  assertDistinct(ids)
  assert.deepEqual([await asked('claim'), await asked('release')], [1, 0])
  await until('their handles to be closed', () => flake.stats().handles === 1)
  flake.close()
})

const unreleased = wasm && 'no fetch is made at the end of a process'
test('each end of a process gives the lease back, with a renewal under way too, and none hangs', { skip: unreleased }, async t => {
  const { url, tell, leases } = await server(t, 3_600_000)
  const opened = 'Snowflake.open(options).then(flake => { flake.next();'
  const ends = {
    natural: [`${opened} })`, 0, true],
    exit: [`${opened} process.exit(3) })`, 3, true],
    thrown: [`${opened} setImmediate(() => { throw new Error('meant to be') }) })`, 1, true],
    closed: [`${opened} flake.close(); process.exit(4) })`, 4, true],
    constructed: ['new Snowflake(options).next()', 0, true],
    'while it claims': ['Snowflake.open(options); setTimeout(() => process.exit(5), 20)', 5],
    'while it claims lazily': ['try { new Snowflake({ ...options, lazy: true }).next() } catch {}', 0],
  }
  const each = async ([what, [program, expected, released, renews]]) => {
    const options = { ...space(), worker: url }
    const { child, ended } = start(t, program, options)
    if (renews) {
      const its = ({ tag, body }) => tag === 'renew' && JSON.parse(body).name === options.name
      await until(`a renewal: ${what}`, async () => child.exitCode !== null || (await tell({ do: 'report' })).requests.some(its))
      child.stdin.end('\n')
    }
    const { code, signal, err } = await ended
    assert.deepEqual([code, signal], [expected, null], `${what}: ${err}`)
    if (what !== 'thrown') assert.equal(err, '', what)
    // A server may be late, but the process has asked it.
    if (released) await until(`the release: ${what}`, async () => (await leases(options.name))[0].token === null)
  }
  await Promise.all(Object.entries(ends).map(each))
  await tell({ do: 'pool', lease_ms: 12_000 })
  await tell({ do: 'fault', fault: { hang: true }, tag: 'renew' })
  const renewing = {
    natural: [`${opened} process.stdin.on('data', () => {}) })`, 0, false, true],
    exit: [`${opened} process.stdin.on('data', () => process.exit(3)) })`, 3, false, true],
    closed: [`${opened} process.stdin.on('data', () => flake.close()) })`, 0, false, true],
  }
  await Promise.all(Object.entries(renewing).map(each))
})
