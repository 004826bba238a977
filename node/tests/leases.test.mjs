// Leases beside the event loop. What is renewed, lost and claimed again, tests/scenarios/api has.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Snowflake, decode } from 'leafid'
import { until } from './counter.mjs'
import { LeaseSource, SPAN, block, run, sleep } from './lease_source.mjs'
import { HANG, inMemory as space } from './support.mjs'

const LOST = 'ERR_LEAFID_WORKER_LOST'
const WOULD_BLOCK = 'ERR_LEAFID_WOULD_BLOCK'
const ascending = ids => ids.every((id, i) => i === 0 || ids[i - 1] < id)

/** Asks until one worker id after the first was seen. */
const recovered = ids => ids.length > 0 && decode(ids.at(-1)).workerId !== decode(ids[0]).workerId

test('a release that opens the same options again gets a generator of its own', async () => {
  const leaseSource = new LeaseSource()
  const options = { ...space(), worker: leaseSource }
  const release = leaseSource.release.bind(leaseSource)
  let again = null
  leaseSource.release = (...given) => {
    release(...given)
    again ??= Snowflake.open(options)
  }
  const flake = await Snowflake.open(options)
  const ids = [flake.next()]
  flake.close()
  while (again === null) await sleep(5)
  const next = await again
  ids.push(next.next())
  assert.equal(next.stats().handles, 1)
  next.close()
  while (leaseSource.called('release').length < 2) await sleep(5)
  assert.equal(leaseSource.called('claim').length, 2)
  leaseSource.assertGave(ids)
})

test('a renewal that misbehaves is a failure: the span is used to its end, then the loss recovers', async () => {
  const lies = {
    throws: () => {
      throw new Error('database away')
    },
    rejects: () => Promise.reject(new Error('database away')),
    'never settles': () => new Promise(() => {}),
    undefined: () => undefined,
    NaN: () => NaN,
    half: lease => lease.untilMs + 0.5,
    text: lease => String(lease.untilMs + 300),
    true: () => true,
    'an empty object': () => ({}),
    'an unknown field': lease => ({ untilMs: lease.untilMs + 300, until: 7 }),
    'another worker id': lease => ({ ...lease, workerId: lease.workerId + 1, untilMs: lease.untilMs + 300 }),
    'a week and more': () => Date.now() + 8 * 86_400_000,
    'a lease that ended': lease => lease.fromMs,
    'a token of another kind': lease => ({ untilMs: lease.untilMs + 300, token: 7 }),
  }
  await Promise.all(Object.entries(lies).map(([what, lie]) => lied(what, lie)))
})

async function lied(what, lie) {
  const leaseSource = new LeaseSource({ once: true })
  leaseSource.renew = lie
  const flake = new Snowflake({ ...space(), worker: leaseSource, timeoutMs: 10_000 })
  const { ids, codes } = await run(flake, HANG, recovered)
  assert.ok(recovered(ids), `${what}: not recovered, ${flake.stats().lastError}`)
  const first = leaseSource.spans[0]
  const { timestampMs } = decode(ids.find(id => decode(id).workerId !== decode(ids[0]).workerId))
  assert.ok(timestampMs > first.fromMs + SPAN * 0.6, `${what}: the span was given up early`)
  leaseSource.assertGave(ids)
  assert.ok(ascending(ids), what)
  // On a busy machine the second lease, whose renewals fail too, may have ended as well; its claim may be under way.
  const [counted, made] = [flake.stats().claims, leaseSource.called('claim').length]
  assert.ok(counted >= 2 && [made, made - 1].includes(counted), `${what}: ${counted} of ${made}`)
  for (const code of codes.keys()) assert.ok([LOST, WOULD_BLOCK].includes(code), `${what}: ${codes.get(code)}`)
  assert.equal(leaseSource.called('claim')[1][0].previous, first.workerId)
  flake.close()
}

test('options are named as here, but not in what the user says', async () => {
  const told = {
    'worker_lost: the renewal of the lease failed: unknown column worker_id': () => Promise.reject(new Error('unknown column worker_id')),
    'invalid_argument: workerId is 5; allowed: 3, because a renewal keeps the worker id': lease => ({ ...lease, workerId: 5 }),
  }
  for (const [text, renew] of Object.entries(told)) {
    const leaseSource = new LeaseSource({ spanMs: 4000 })
    leaseSource.renew = renew
    const flake = new Snowflake({ ...space(), worker: leaseSource })
    await run(flake, HANG, () => flake.stats().lastError?.startsWith(text))
    assert.ok(flake.stats().lastError.startsWith(text), flake.stats().lastError)
    flake.close()
  }
})

test('the peers are asked again before another id is claimed', async () => {
  const answers = [() => [], async () => [], () => Promise.reject(new Error('away'))]
  await Promise.all(answers.map(async answer => {
    const leaseSource = new LeaseSource({ once: true })
    leaseSource.renew = () => null
    let asked = 0
    const peerTimes = () => ++asked && answer()
    const flake = await Snowflake.open({ ...space(), worker: leaseSource, peerTimes })
    assert.equal(asked, 1)
    const { ids } = await run(flake, HANG, recovered)
    assert.ok(recovered(ids), flake.stats().lastError)
    assert.ok(asked >= 2)
    flake.close()
  }))
})

test('a claim after a loss that hangs is made again; what it brings late goes back', async () => {
  const leaseSource = new LeaseSource({ once: true })
  leaseSource.renew = () => null
  const claim = leaseSource.claim.bind(leaseSource)
  let late
  leaseSource.claim = request =>
    request.previous === null || late ? claim(request) : new Promise(done => (late = () => done(claim(request))))
  const flake = new Snowflake({ ...space(), worker: leaseSource, timeoutMs: 5000 })
  const { ids } = await run(flake, HANG, recovered)
  assert.ok(recovered(ids))
  const before = leaseSource.called('release').length
  late()
  await until('its release', () => leaseSource.called('release').length > before)
  leaseSource.assertGave(ids)
  flake.close()
})

test('an event loop that is busy for longer than a span: would_block, then it goes on', async () => {
  const leaseSource = new LeaseSource({ spanMs: 3000 })
  const flake = new Snowflake({ ...space(), worker: leaseSource })
  const ids = []
  const codes = new Set()
  for (const end = Date.now() + HANG; codes.size === 0 && Date.now() < end; ) {
    try {
      ids.push(flake.next())
    } catch (error) {
      codes.add(error.code)
    }
    // Else a span that does not end takes all memory.
    block(1)
  }
  assert.equal(leaseSource.called('renew').length, 0, 'no code of the user runs inside next')
  assert.ok(codes.has(WOULD_BLOCK), [...codes].join())
  const later = await run(flake, HANG, ids => ids.length > 50)
  assert.ok(later.ids.length > 50, [...later.codes.values()].join())
  leaseSource.assertGave([...ids, ...later.ids])
  assert.ok(ascending([...ids, ...later.ids]))
  flake.close()
})
