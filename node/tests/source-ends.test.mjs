// How leases are given back: by close, collection, and every end of a thread or process.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { Snowflake, decode } from 'leafid'
import { until } from './counter.mjs'
import { LeaseSource, block, run, sleep } from './lease_source.mjs'
import { HANG, inMemory as space, start } from './support.mjs'

const LOST = 'ERR_LEAFID_WORKER_LOST'

/** The garbage collector, which a flag brings. */
async function collector() {
  const v8 = await import('node:v8')
  v8.setFlagsFromString('--expose-gc')
  return (await import('node:vm')).runInNewContext('gc')
}

test('close while a renewal is under way: released after it, with its token', async () => {
  const leaseSource = new LeaseSource({ spanMs: 12_000 })
  const renew = leaseSource.renew.bind(leaseSource)
  let go
  leaseSource.renew = (...given) => new Promise(done => (go = () => done(renew(...given))))
  const flake = new Snowflake({ ...space(), worker: leaseSource, timeoutMs: 2 * HANG })
  const { ids } = await run(flake, HANG, () => go !== undefined)
  const before = performance.now()
  flake.close()
  assert.ok(performance.now() - before < HANG)
  assert.equal(leaseSource.called('release').length, 0, 'never beside a renewal')
  go()
  await until('the release', () => leaseSource.called('release').length > 0)
  const [[lease]] = leaseSource.called('release')
  assert.equal(lease.token, 't2')
  leaseSource.assertGave(ids)
  const next = new Snowflake({ ...space(), worker: leaseSource })
  assert.equal(next.workerId, decode(ids[0]).workerId, 'the id is free again')
  next.close()
})

test('close with a renewal that the event loop has not come to: it is not made', async () => {
  const leaseSource = new LeaseSource({ spanMs: 20_000 })
  const flake = new Snowflake({ ...space(), worker: leaseSource })
  // A renewal is due after half of it.
  block(leaseSource.spanMs * 0.52)
  flake.close()
  await until('the release', () => leaseSource.called('release').length > 0)
  assert.deepEqual(leaseSource.calls.map(([kind]) => kind), ['claim', 'release'])
})

test('a release that fails is a warning of the process', async t => {
  const warnings = []
  const listen = warning => warnings.push(warning)
  process.on('warning', listen)
  t.after(() => process.off('warning', listen))
  const failing = [
    () => {
      throw new Error('database away')
    },
    () => Promise.reject(new Error('database away')),
  ]
  for (const release of failing) {
    const leaseSource = new LeaseSource()
    leaseSource.release = release
    const flake = new Snowflake({ ...space(), worker: leaseSource })
    flake.close()
    await until('the warning', () => warnings.length > 0)
    const warning = warnings.pop()
    assert.equal(warning.name, 'LeafidWarning')
    assert.equal(warning.message, 'worker id 3 was not released: database away; its lease ends by itself')
  }
})

test('using, and a handle that is collected, release', async () => {
  const collect = await collector()
  if (Symbol.dispose) {
    const leaseSource = new LeaseSource()
    new Snowflake({ ...space(), worker: leaseSource })[Symbol.dispose]()
    assert.equal(leaseSource.called('release').length, 1)
  }
  const leaseSource = new LeaseSource({ spanMs: 60_000 })
  ;(() => new Snowflake({ ...space(), worker: leaseSource }).next())()
  while (leaseSource.called('release').length === 0) {
    collect()
    await sleep(10)
  }
  assert.equal(leaseSource.called('release').length, 1)
})

test('what openings took comes back: threads, descriptors, calls', async () => {
  const count = () => [readdirSync('/proc/self/task').length, readdirSync('/proc/self/fd').length]
  const options = space()
  async function rounds(n) {
    for (let i = 0; i < n; i++) {
      const leaseSource = new LeaseSource({ spanMs: 60_000 })
      const flake = await Snowflake.open({ ...options, worker: i % 2 ? leaseSource : async () => i % 8 })
      flake.next()
      flake.close()
      if (i % 2) assert.equal(leaseSource.called('release').length, 1)
    }
    await sleep(50)
  }
  await rounds(10)
  const before = count()
  await rounds(300)
  const less = () => count().every((now, i) => now <= before[i])
  await until(`as few as ${before}`, less)
})

test('a source whose handles are gone is collected', async () => {
  const collect = await collector()
  let collected = false
  const gone = new FinalizationRegistry(() => (collected = true))
  ;(() => {
    const leaseSource = new LeaseSource()
    gone.register(leaseSource)
    new Snowflake({ ...space(), worker: leaseSource }).close()
  })()
  while (!collected) {
    collect()
    await sleep(10)
  }
})

const HEAD = `
  const row = { untilMs: 0 }
  const say = text => require('node:fs').writeSync(1, text + '\\n')
  const worker = {
    claim: () => ({ workerId: 7, fromMs: Date.now(), untilMs: Date.now() + spanMs, leaseMs: spanMs }),
    renew: (lease, untilMs) => Date.now() + spanMs,
    release: (lease, untilMs) => say('released ' + (untilMs > last)),
  }
  let [last, spanMs] = [0, 20_000]
  const next = flake => (last = decode(flake.next()).timestampMs)
`

test('each end of a process releases, none hangs, and nothing keeps it', async t => {
  const opened = 'const flake = new Snowflake({ ...options, worker }); next(flake);'
  const hanging = "worker.renew = () => { say('renewing'); setTimeout(renewing, 50); return new Promise(() => {}) };"
  const awake = 'const awake = setInterval(() => {}, 1000);'
  const ends = {
    [opened]: [0, 'released true\n'],
    [`${opened} process.exit(3)`]: [3, 'released true\n'],
    [`${opened} throw new Error('meant to be')`]: [1, 'released true\n'],
    [`${opened} flake.close()`]: [0, 'released true\n'],
    [`worker.renew = () => (say('renewed'), setTimeout(() => { next(flake); clearInterval(awake) }, 5), Date.now() + spanMs); ${opened} ${awake}`]: [0, 'renewed\nreleased true\n'],
    // A renewal is due, and the event loop does not come to it; the lease is still held.
    [`${opened} Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_400); process.exit(0)`]: [0, 'released true\n'],
    [`${opened} worker.release = () => { throw new Error('away') }; process.exit(4)`]: [4, ''],
    // Never beside a renewal, and no event loop is left to wait for it.
    [`${hanging} ${opened} ${awake} const renewing = () => process.exit(5)`]: [5, 'renewing\n'],
    [`${hanging} ${opened} ${awake} const renewing = () => clearInterval(awake)`]: [0, 'renewing\n'],
    [`${hanging} ${opened} ${awake} const renewing = () => { clearInterval(awake); flake.close() }`]: [0, 'renewing\n'],
    "worker.claim = () => new Promise(() => {}); Snowflake.open({ ...options, worker, timeoutMs: 2000 }).catch(e => say(e.code))": [
      0,
      `${LOST}\n`,
    ],
    "worker.claim = () => new Promise(() => {}); Snowflake.open({ ...options, worker }); setTimeout(() => process.exit(6), 20)": [6, ''],
  }
  await Promise.all(
    Object.entries(ends).map(async ([program, [expected, said]]) => {
      const { code, out, err } = await start(t, HEAD + program, space()).ended
      assert.equal(code, expected, `${program}: ${err}`)
      assert.equal(out, said, program)
    }),
  )
})

test('a source of each worker thread; their ends release, also with a call under way', async t => {
  const options = space()
  const code = `
    const { Snowflake } = require(process.env.LEAFID_MAIN)
    const { workerData: { options, workerId, end }, parentPort } = require('node:worker_threads')
    const spanMs = end === 'hangs' ? 12_000 : 600_000
    const lent = () => ({ workerId, fromMs: Date.now(), untilMs: Date.now() + spanMs, leaseMs: spanMs })
    const worker = {
      claim: lent,
      renew: () => end === 'hangs' ? new Promise(() => parentPort.postMessage('renewing')) : lent(),
      release: () => parentPort.postMessage('released'),
    }
    const flake = new Snowflake({ ...options, worker })
    const ids = []
    const timer = setInterval(() => {
      try { ids.push(...flake.take(10)) } catch {}
      if (end === 'hangs' || ids.length <= 100) return
      clearInterval(timer)
      parentPort.postMessage(ids)
      if (end === 'close') flake.close()
      if (end === 'exit') process.exit(0)
    }, 3)`
  const program = `
    const { Worker } = require('node:worker_threads')
    const { once } = require('node:events')
    process.env.LEAFID_MAIN = require.resolve('leafid')
    async function one(end, workerId) {
      const thread = new Worker(${JSON.stringify(code)}, { eval: true, workerData: { options, workerId, end } })
      const heard = []
      thread.on('message', heard1 => heard.push(heard1))
      thread.on('error', error => heard.push(String(error)))
      if (end === 'hangs') {
        while (!heard.includes('renewing')) await new Promise(done => setTimeout(done, 5))
        await thread.terminate()
      } else await once(thread, 'exit')
      return [end, heard.filter(each => typeof each === 'string'), heard.filter(Array.isArray).flat().map(String)]
    }
    Promise.all(['', 'close', 'exit', 'hangs'].map(one)).then(all => console.log(JSON.stringify(all)))`
  const { code: status, out, err } = await start(t, program, options).ended
  assert.equal(status, 0, err)
  const all = JSON.parse(out)
  const ids = all.flatMap(([, , ids]) => ids)
  for (const [end, heard, ids] of all.slice(0, 3)) {
    assert.deepEqual(heard, ['released'], end)
    assert.ok(ids.length > 100, `${end}: ${ids.length}`)
  }
  assert.ok(all[3][1].every(each => each === 'renewing'))
  assert.equal(new Set(ids).size, ids.length)
})
