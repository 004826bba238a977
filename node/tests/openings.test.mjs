// How openings ask the user callback: at once, awaited, together, or with the first id.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Snowflake, decode } from 'leafid'
import { until } from './counter.mjs'
import { LeaseSource, sleep } from './lease_source.mjs'
import { inMemory as space, thrown } from './support.mjs'

const LOST = 'ERR_LEAFID_WORKER_LOST'
const WOULD_BLOCK = 'ERR_LEAFID_WOULD_BLOCK'

/** What the call returns or throws once the claim of a lazy one has ended. */
async function claimed(call) {
  const ended = await until('the claim', () => {
    try {
      return { value: call() }
    } catch (error) {
      return error.code === WOULD_BLOCK ? null : { error }
    }
  })
  if ('error' in ended) throw ended.error
  return ended.value
}

/** What open is rejected with. */
const rejected = options =>
  Snowflake.open(options).then(
    () => assert.fail('it was opened'),
    error => error,
  )

test('the constructor refuses a promise, says what to do, and gives back what it brings', async () => {
  for (const worker of [async () => 7, () => Promise.reject(new Error('later')), { claim: async () => null, renew() {}, release() {} }]) {
    const error = thrown(() => new Snowflake({ ...space(), worker }))
    assert.equal(error.code, WOULD_BLOCK)
    assert.match(error.message, /await Snowflake\.open/)
  }
  const leaseSource = new LeaseSource()
  const claim = leaseSource.claim.bind(leaseSource)
  leaseSource.claim = async request => claim(request)
  assert.equal(thrown(() => new Snowflake({ ...space(), worker: leaseSource })).code, WOULD_BLOCK)
  await until('the release', () => leaseSource.called('release').length === 1)
  const error = thrown(() => new Snowflake({ ...space(), worker: 1, peerTimes: async () => [] }))
  assert.match(error.message, /^peerTimes returned a promise.*Snowflake\.open/)
})

test('openings at the same time make one claim, and fail as one', async () => {
  let asked = 0
  let go
  const gate = new Promise(done => (go = done))
  const worker = async () => {
    asked++
    await gate
    return 7
  }
  const options = { ...space(), worker }
  const opening = Promise.all(Array.from({ length: 5 }, () => Snowflake.open(options)))
  assert.equal(thrown(() => new Snowflake(options)).code, WOULD_BLOCK, 'the constructor does not wait for it')
  go()
  const flakes = await opening
  assert.equal(asked, 1)
  assert.equal(flakes[0].stats().handles, 5)
  for (const flake of flakes) flake.close()

  let failed = 0
  const failing = async () => {
    await sleep(10)
    throw new Error(`failure ${++failed}`)
  }
  const bad = { ...space(), worker: failing }
  const errors = await Promise.all(Array.from({ length: 4 }, () => rejected(bad)))
  assert.equal(failed, 1)
  for (const error of errors) assert.match(error.message, /failure 1$/)
  assert.match((await rejected(bad)).message, /failure 2$/)
})

test('a subclass opens as itself, and asks once', async () => {
  class Mine extends Snowflake {}
  let asked = 0
  const mine = await Mine.open({ ...space(), worker: async () => ++asked })
  assert.ok(mine instanceof Mine)
  assert.deepEqual([asked, mine.workerId, mine.stats().handles], [1, 1, 1])
  mine.close()
})

test('lazy: the claim begins with the first id, from the event loop, and is not waited for', async () => {
  let inside = false
  let asked = 0
  for (const later of [value => value, async value => value]) {
    asked = 0
    const worker = () => {
      assert.ok(!inside, 'called inside next')
      asked++
      return later(7)
    }
    const flake = new Snowflake({ ...space(), worker, lazy: true })
    await sleep(5)
    assert.equal(asked, 0)
    for (let i = 0; i < 3; i++) {
      inside = true
      const error = thrown(flake.next)
      inside = false
      assert.deepEqual([error.code, error.retry], [WOULD_BLOCK, true])
    }
    assert.equal(decode(await claimed(flake.next)).workerId, 7)
    assert.equal(asked, 1)
    flake.close()
  }
})

test('lazy: an error of the claim is that of the next call, and then it is made again', async () => {
  let asked = 0
  const mine = new Error('not yet')
  const worker = async () => {
    if (++asked === 1) throw mine
    return 7
  }
  const flake = await Snowflake.open({ ...space(), worker, lazy: true })
  assert.equal(thrown(flake.stats).code, WOULD_BLOCK)
  const error = await claimed(() => flake.workerId).catch(error => error)
  assert.deepEqual([error.code, error.cause], [LOST, mine])
  assert.equal(thrown(() => flake.take(3)).code, WOULD_BLOCK)
  assert.equal(await claimed(() => flake.workerId), 7)
  assert.equal(asked, 2)
  flake.close()
})

test('lazy: an error that no call had in time is the cause of the next one, which claims again', async () => {
  let asked = 0
  const worker = async () => {
    asked++
    throw new Error('not yet')
  }
  const flake = new Snowflake({ ...space(), worker, lazy: true, timeoutMs: 50 })
  assert.equal(thrown(flake.next).cause, undefined)
  // On a busy machine a claim may last for longer than such a pause: its error is then that of the call.
  let before
  const error = await until('an older failure', async () => {
    await sleep(200)
    before = asked
    const error = thrown(flake.next)
    return error.code === WOULD_BLOCK && error.cause && error
  })
  assert.deepEqual([error.cause.code, error.retry], [LOST, true])
  await until('the next claim', () => asked > before)
  flake.close()
})

test('closed while the claim is under way: what it brings goes back', async () => {
  const leaseSource = new LeaseSource()
  const claim = leaseSource.claim.bind(leaseSource)
  let answer
  leaseSource.claim = request => new Promise(done => (answer = () => done(claim(request))))
  const flake = new Snowflake({ ...space(), worker: leaseSource, lazy: true })
  assert.equal(thrown(flake.next).code, WOULD_BLOCK)
  await until('the claim', () => answer)
  flake.close()
  answer()
  await until('the release', () => leaseSource.called('release').length > 0)
  assert.deepEqual(leaseSource.calls.map(([kind]) => kind), ['claim', 'release'])
  assert.equal(thrown(flake.next).code, 'ERR_LEAFID_CLOSED')
})
