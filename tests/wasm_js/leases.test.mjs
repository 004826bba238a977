// Worker ids leased from a server by URL: in Node without the addon, Bun, Deno, and a page.

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Snowflake as Native } from 'leafid'
import { Snowflake, decode } from 'leafid/wasm'
import { RUNTIMES, assertDistinct, here, issue, launch, site } from './support.mjs'
import { fakeServer } from './node/fake-server.mjs'
import { HANG, PATIENT, space as files, thrown } from './node/support.mjs'

/** An id space of its own. */
const space = () => ({ name: files().name })
/** Of who waits for a server however busy the machine is. */
const patience = { timeoutMs: PATIENT, requestTimeoutMs: PATIENT }
const WOULD_BLOCK = 'ERR_LEAFID_WOULD_BLOCK'
const sleep = ms => new Promise(done => setTimeout(done, ms))

/** A server of leases, and `leases`, those of a name. */
async function server(t, leaseMs = 30_000, ...args) {
  const made = await fakeServer(t, '--lease-ms', String(leaseMs), '--threshold-ms', '500', ...args)
  return { ...made, leases: async name => (await made.tell({ do: 'leases', name })).leases }
}

async function until(what, holds) {
  for (const end = Date.now() + HANG; !(await holds()); await sleep(10)) assert.ok(Date.now() < end, what)
}

/** Issues ids for a time; would_block is a pause. */
async function run(flake, ms) {
  const ids = []
  for (const end = Date.now() + ms; Date.now() < end; await sleep(1)) {
    try {
      ids.push(...flake.take(5))
    } catch (error) {
      if (error.code !== WOULD_BLOCK) throw error
    }
  }
  return ids
}

/** Another host asks the server. */
async function asked(url, what, given) {
  const answer = await fetch(`${url}/api/worker/${what}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(given) })
  return answer.ok ? answer.text().then(text => (text ? JSON.parse(text) : {})) : null
}

for (const runtime of Object.keys(RUNTIMES)) {
  test(`${runtime}: a thread that slept beyond its lease, which another host has then`, async t => {
    const { url } = await server(t, 500, '--pool', '1')
    const options = { ...space(), ...patience, worker: url }
    const wakes = join(here, `wakes-${runtime}-${process.pid}`)
    t.after(() => rmSync(wakes, { force: true }))
    const slept = issue(t, runtime, { options, ms: HANG, stopUntil: wakes, patient: true })
    const { workerId } = await slept.opened
    await until('its first ids', () => slept.ids.length > 0)
    let other = null
    const claim = () => ({ name: options.name, instance: 'f'.repeat(32), now: Date.now(), until: Date.now() + 30_000 })
    await until('its lease ended', async () => (other = await asked(url, 'claim', claim())))
    assert.equal(other.worker_id, workerId)
    writeFileSync(wakes, '')
    await sleep(300)
    // That one was issuing ids until now.
    const end = Date.now()
    const released = await asked(url, 'release', { name: options.name, worker_id: workerId, token: other.token, until: end })
    // A lease that ended meanwhile, of itself, leaves its whole span unused.
    const free = released ? end : other.until
    const times = () => slept.ids.map(id => decode(id).timestampMs)
    // It claims the id again, once the other one has released it.
    await until('it goes on', () => times().some(time => time >= free))
    slept.kill()
    await slept.ended
    assert.ok(times()[0] < other.from)
    assert.deepEqual(times().filter(time => time >= other.from && time < free), [])
    assertDistinct(slept.ids)
  })
}

for (const runtime of Object.keys(RUNTIMES)) {
  test(`${runtime}: leases of an object, renewed with their last token and released`, async t => {
    const options = { ...space(), timeoutMs: PATIENT }
    const run = issue(t, runtime, { options, ms: 0, leaseMs: 16_000, renewals: 2 })
    const { said } = await run.ended
    assert.ok(said.claim === 1 && said.renew >= 2 && said.release === 1, JSON.stringify(said))
    assertDistinct(run.ids)
    assert.ok(run.ids.every(id => decode(id).workerId === 7))
  })
}

test('a claim that opens the same options is refused', async () => {
  for (const open of [options => new Snowflake(options), options => Snowflake.open(options)]) {
    let inside
    const options = { ...space(), persist: false }
    options.worker = () => {
      inside = thrown(() => new Snowflake(options))
      return 7
    }
    const flake = await open(options)
    assert.deepEqual([inside.code, flake.workerId, flake.stats().handles], [WOULD_BLOCK, 7, 1])
    flake.close()
  }
})

test('a lease that comes after its caller gave up goes back', async t => {
  const { url, tell, leases } = await server(t)
  await tell({ do: 'fault', fault: { delay_ms: 3_000 }, tag: 'claim', times: 1 })
  const options = { ...space(), worker: url, timeoutMs: 100, requestTimeoutMs: PATIENT }
  const late = /the claim of a worker id did not answer within timeoutMs \(100\)/
  await assert.rejects(Snowflake.open(options), { code: 'ERR_LEAFID_WORKER_LOST', message: late })
  await until('the release', async () => (await leases(options.name))[0]?.token === null)
})

test('without its server a start is refused: no lease is cached', async t => {
  const { url, tell } = await server(t)
  const options = { ...space(), worker: url }
  const run = issue(t, 'node', { options: { ...options, ...patience }, ms: HANG })
  await run.opened
  run.kill()
  await run.ended
  await tell({ do: 'dead', how: 'refused' })
  await assert.rejects(Snowflake.open(options), { code: 'ERR_LEAFID_WORKER_LOST', message: /cannot be reached/ })
})

test('closed while another lease is claimed: that is released, and the next opening waits for it', async t => {
  const { url, tell, leases } = await server(t, 3000)
  const options = { ...space(), ...patience, worker: url }
  const flake = await Snowflake.open(options)
  const ids = await run(flake, 50)
  await tell({ do: 'fault', fault: { status: 409, body: { error: 'worker_lost', message: 'gone' } }, tag: 'renew', times: 1 })
  await tell({ do: 'fault', fault: { delay_ms: 3000 }, tag: 'claim', times: 1 })
  const lost = /the lease of worker id \d+ is being renewed, or another one claimed, .*gone/
  await until('the loss', () => {
    try {
      ids.push(flake.next())
      return false
    } catch ({ message }) {
      return lost.test(message)
    }
  })
  flake.close()
  const other = new Snowflake({ ...options, ...space(), worker: 3, persist: false, layout: 'yitter', requestTimeoutMs: null })
  const next = await Snowflake.open(options)
  assertDistinct(ids, await run(next, 100))
  assert.equal(next.stats().layout, 'leaf')
  next.close()
  other.close()
  await until('the releases', async () => (await leases(options.name)).filter(({ held }) => held).length <= 1)
})

/** The lease that is lost: the rest of it is still used. */
const LOST_MS = 2000

/** Issues ids until the lease is lost. */
async function issuedUntilTheLoss(flake) {
  const ids = []
  const isLost = () => {
    try {
      return void ids.push(flake.next())
    } catch ({ code, message }) {
      if (/the lease of worker id \d+ is (being renewed, or another one claimed|no longer held)/.test(message)) return true
      assert.equal(code, WOULD_BLOCK, message)
    }
  }
  await until('the loss', isLost)
  return ids
}

test('after a loss, ready waits for the next lease', async () => {
  let [claims, go] = [0, null]
  const gate = new Promise(done => (go = done))
  const worker = {
    claim: async () => {
      if (++claims > 1) await gate
      const leaseMs = claims > 1 ? HANG : LOST_MS
      return { workerId: claims, fromMs: Date.now(), untilMs: Date.now() + leaseMs, leaseMs }
    },
    renew: async () => null,
    release() {},
  }
  const flake = await Snowflake.open({ ...space(), worker, timeoutMs: PATIENT })
  const ids = await issuedUntilTheLoss(flake)
  const ready = flake.ready()
  go()
  await ready
  ids.push(flake.next())
  assert.ok(decode(ids.at(-1)).workerId >= 2)
  assertDistinct(ids)
  flake.close()
})

test('after a loss, ready fails with the error of the next claim, and when it is closed', async () => {
  let [claims, go] = [0, null]
  const gate = new Promise(done => (go = done))
  let claim = async () => ({ workerId: 1, fromMs: Date.now(), untilMs: Date.now() + LOST_MS, leaseMs: LOST_MS })
  const worker = { claim: () => claim(++claims), renew: async () => null, release() {} }
  const flake = await Snowflake.open({ ...space(), worker, timeoutMs: 8000 })
  claim = async () => {
    throw new Error('no pool')
  }
  await issuedUntilTheLoss(flake)
  const failed = () => flake.ready().then(() => assert.fail('it is lost'), error => error.message)
  // Callers get the error of a claim once their time has passed since the loss.
  await until('the error', async () => /no pool/.test(await failed()))
  claim = () => gate
  const before = claims
  await until('a claim', () => {
    failed()
    return claims > before
  })
  // It waits for the claim that is under way.
  const ready = flake.ready()
  flake.close()
  await assert.rejects(ready, { code: 'ERR_LEAFID_CLOSED' })
  go(null)
})

test('a page with an object that leases, and one with a function', async t => {
  const browser = await launch()
  t.after(() => browser.close())
  const page = await (await browser.newContext()).newPage()
  await page.goto(await site(t, join(here, 'node_modules/leafid')))
  const found = await page.evaluate(async timeoutMs => {
    const { Snowflake, decode } = await import('/wasm/browser.js')
    const calls = []
    const until = () => Date.now() + 16_000
    const renewals = () => calls.filter(call => call === 'renew').length
    const worker = {
      claim: async ({ name }) => (calls.push(name), { workerId: 5, fromMs: Date.now(), untilMs: until(), leaseMs: 16_000 }),
      renew: async () => (calls.push('renew'), until()),
      release: async () => void calls.push('release'),
    }
    const flake = await Snowflake.open({ name: 'orders', worker, timeoutMs, peerTimes: async () => [Date.now()] })
    const ids = []
    while (renewals() < 2) {
      await flake.ready()
      ids.push(...flake.take(10))
      await new Promise(done => setTimeout(done, 5))
    }
    flake.close()
    while (!calls.includes('release')) await new Promise(done => setTimeout(done, 5))
    const workers = [...new Set(ids.map(id => decode(id).workerId))]
    const worker9 = async (name, previous) => (previous === null ? 9 : null)
    const own = await Snowflake.open({ name: 'other', worker: worker9, exclusiveRange: true })
    const away = [Date.now() - 60_000, Date.now() - 60_000, Date.now() - 60_000]
    const far = await Snowflake.open({ name: 'far', worker: 3, exclusiveRange: true, peerTimes: () => away }).catch(({ code }) => code)
    return { ids: ids.map(String), calls, workers, workerId: own.workerId, far }
  }, PATIENT)
  assertDistinct(found.ids)
  assert.deepEqual([found.workers, found.workerId, found.far], [[5], 9, 'ERR_LEAFID_CLOCK_BACKWARDS'])
  assert.deepEqual([found.calls[0], found.calls.filter(call => call === 'orders').length, found.calls.at(-1)], ['orders', 1, 'release'])
})

test('the native package and pages have other ids of one server', async t => {
  const { url, leases } = await server(t, 16_000)
  const { name, stateDir } = files()
  const native = new Native({ name, stateDir, worker: url, ...patience })
  const browser = await launch()
  t.after(() => browser.close())
  const context = await browser.newContext()
  // Below the page's own origin: a server of another one would have to allow it (CORS).
  const origin = await site(t, join(here, 'node_modules/leafid'), url)
  const page = await context.newPage()
  await page.goto(origin)
  const found = await page.evaluate(async ([name, patience]) => {
    const { Snowflake } = await import('/wasm/browser.js')
    const flake = await Snowflake.open({ name, worker: location.origin, ...patience })
    const ids = []
    for (const end = performance.now() + 9000; performance.now() < end; ) {
      await flake.ready()
      ids.push(...[...flake.take(10)].map(String))
      await new Promise(done => setTimeout(done, 5))
    }
    const { claims, renewalFailures } = flake.stats()
    flake.close()
    const down = await Snowflake.open({ name, worker: 'http://localhost:9' }).catch(error => error)
    if (down.code !== 'ERR_LEAFID_WORKER_LOST') throw down
    return { ids, claims, renewalFailures, workerId: flake.layout && ids.length }
  }, [name, patience])
  assert.deepEqual([found.claims, found.renewalFailures], [1, 0])
  assertDistinct(found.ids, [...native.take(1000)])
  native.close()
  await until('both releases', async () => (await leases(name)).every(({ token }) => token === null))
})
