// Worker ids from a function or an object of the user's: what it is asked, and what it may not answer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeafidError, Snowflake, decode } from 'leafid'
import { until } from './counter.mjs'
import { LeaseSource } from './lease_source.mjs'
import { inMemory as space, thrown } from './support.mjs'

const LOST = 'ERR_LEAFID_WORKER_LOST'
const IN_USE = 'ERR_LEAFID_WORKER_IN_USE'
const INVALID = 'ERR_LEAFID_INVALID_ARGUMENT'
const WOULD_BLOCK = 'ERR_LEAFID_WOULD_BLOCK'

/** What open is rejected with. */
const rejected = options =>
  Snowflake.open(options).then(
    () => assert.fail('it was opened'),
    error => error,
  )

test('a function is asked once, and whoever shares its generator asks nothing', () => {
  const asked = []
  const options = { ...space(), worker: (...given) => asked.push(given) && 7 }
  const flakes = [new Snowflake(options), new Snowflake(options)]
  assert.deepEqual(asked, [[options.name, null]])
  assert.ok(flakes[0].next() < flakes[1].next())
  assert.deepEqual([flakes[1].workerId, flakes[1].stats().handles, flakes[1].stats().claims], [7, 2, 1])
  assert.equal(flakes[1].stats().leaseUntilMs, null)
  for (const flake of flakes) flake.close()
  const last = new Snowflake(options)
  assert.equal(asked.length, 2)
  last.close()
})

test('another function is another source', () => {
  const options = space()
  const one = new Snowflake({ ...options, worker: () => 1 })
  const two = new Snowflake({ ...options, worker: () => 2 })
  assert.deepEqual([one.workerId, two.workerId], [1, 2])
  one.close()
  two.close()
})

test('what it throws is worker_lost, with its text and as the cause', async () => {
  const throwing = [new Error('database away'), new TypeError('x is no function'), 'database away', 7, undefined, null]
  throwing.push(Object.create(null), { toString: () => assert.fail('said') })
  for (const what of throwing) {
    const worker = () => {
      throw what
    }
    const renew = () => null
    for (const source of [worker, { claim: worker, renew, release: renew }, async () => worker()]) {
      const options = { ...space(), worker: source }
      const errors = [await rejected(options)]
      if (source.constructor.name !== 'AsyncFunction') errors.push(thrown(() => new Snowflake(options)))
      for (const error of errors) {
        assert.ok(error instanceof LeafidError)
        assert.equal(error.code, LOST)
        assert.ok('cause' in error && error.cause === what)
        assert.match(error.message, /^the claim of a worker id failed: ./)
        if (what instanceof Error) assert.ok(error.message.includes(what.message), error.message)
      }
    }
  }
})

test('the text of an error of the user\'s stays as it is', async () => {
  const worker = () => {
    throw new Error('column worker_id of table timeout_ms')
  }
  const message = 'the claim of a worker id failed: column worker_id of table timeout_ms'
  for (const error of [thrown(() => new Snowflake({ ...space(), worker })), await rejected({ ...space(), worker })]) {
    assert.equal(error.message, message)
  }
})

test('a LeafidError keeps its code', async () => {
  for (const code of [IN_USE, LOST, 'ERR_LEAFID_CLOCK_BACKWARDS', WOULD_BLOCK]) {
    const mine = new LeafidError(code, 'said so')
    const worker = () => {
      throw mine
    }
    for (const error of [thrown(() => new Snowflake({ ...space(), worker })), await rejected({ ...space(), worker })]) {
      assert.deepEqual([error.code, error.message, error.cause], [code, 'said so', mine])
    }
  }
})

test('nothing free is worker_in_use', async () => {
  for (const none of [null, undefined]) {
    const renew = () => null
    for (const worker of [() => none, async () => none, { claim: async () => none, renew, release: renew }]) {
      const error = await rejected({ ...space(), worker })
      assert.equal(error.code, IN_USE)
      assert.match(error.message, /^the claim found no free worker id/)
    }
  }
})

test('an answer that is no worker id is refused, naming it', async () => {
  for (const answer of [1024, -1, 2 ** 40, NaN, Infinity, 1.5, '7', true, false, {}, [7], 7n, Symbol('s'), () => 7]) {
    for (const worker of [() => answer, async () => answer]) {
      const error = await rejected({ ...space(), worker })
      assert.equal(error.code, INVALID, String(answer))
      assert.match(error.message, /^workerId is .*; allowed: as the claim's answer /s)
      if (typeof answer === 'number') assert.ok(error.message.startsWith(`workerId is ${answer};`), error.message)
    }
  }
  const small = thrown(() => new Snowflake({ ...space(), worker: () => 32, layout: '35|5|23', epochMs: Date.UTC(2026, 0, 1) }))
  assert.match(small.message, /^workerId is 32; allowed: as the claim's answer 0 to 31 /)
})

test('a promise that never settles is worker_lost after timeoutMs; what it brings late is released', async () => {
  const never = await rejected({ ...space(), worker: () => new Promise(() => {}), timeoutMs: 2000 })
  assert.equal(never.code, LOST)
  assert.match(never.message, /timeoutMs \(2000\)/)
  const leaseSource = new LeaseSource()
  const claim = leaseSource.claim.bind(leaseSource)
  let answer
  leaseSource.claim = request => new Promise(done => (answer = () => done(claim(request))))
  assert.equal((await rejected({ ...space(), worker: leaseSource, timeoutMs: 2000 })).code, LOST)
  assert.equal(leaseSource.called('release').length, 0)
  answer()
  await until('the release', () => leaseSource.called('release').length > 0)
  const [[lease, untilMs]] = leaseSource.called('release')
  assert.equal(untilMs, lease.fromMs)
})

test('an object without all methods is refused, naming what it lacks', () => {
  const method = () => null
  const lacking = [
    [{ claim: method }, /renew and release/],
    [{ claim: method, renew: method }, /an object without release;/],
    [{ claim: 7, renew: method, release: method }, /an object without claim;/],
    [{ claim: null, renew: null, release: null }, /claim and renew and release/],
  ]
  for (const [worker, message] of lacking) {
    const error = thrown(() => new Snowflake({ ...space(), worker }))
    assert.equal(error.code, INVALID)
    assert.match(error.message, /^worker is /)
    assert.match(error.message, message)
  }
})

test('a lease is refused if a field is missing, unknown or of another kind', async () => {
  const good = () => ({ workerId: 5, fromMs: Date.now(), untilMs: Date.now() + 1000 })
  const wrong = [7, '7', true, [5], 7n, Symbol('s'), new Date()].map(answer => [answer, /^(claim|workerId) is /])
  for (const name of ['workerId', 'fromMs', 'untilMs']) {
    for (const value of [undefined, null, NaN, 1.5, '7', true, 7n, {}]) {
      wrong.push([{ ...good(), [name]: value }, new RegExp(`^${name} is .*; allowed: .* integer`)])
    }
  }
  for (const value of [NaN, 1.5, '7', true, 0, -1, 604_800_001]) wrong.push([{ ...good(), leaseMs: value }, /^leaseMs is /])
  for (const value of [7, true, {}]) wrong.push([{ ...good(), token: value }, /^token is /])
  for (const value of [7, '7', {}, ['7'], [NaN]]) wrong.push([{ ...good(), peerTimesMs: value }, /^peerTimesMs is /])
  wrong.push([{ ...good(), worker_id: 5 }, /^"worker_id" is an unknown field of a lease; allowed: workerId, fromMs, /])
  wrong.push([{ ...good(), workerId: 1024 }, /^workerId is 1024; allowed: as the claim's answer 0 to 1023/])
  wrong.push([{ ...good(), workerId: -1 }, /^workerId is -1;/])
  wrong.push([{ ...good(), untilMs: Date.now() + 8 * 86_400_000 }, /^untilMs is /])
  wrong.push([{ workerId: 5, fromMs: 2e12, untilMs: 2e12 }, /^untilMs is /])
  for (const [answer, message] of wrong) {
    const source = { claim: () => answer, renew: () => null, release: () => {} }
    for (const error of [thrown(() => new Snowflake({ ...space(), worker: source })), await rejected({ ...space(), worker: source })]) {
      assert.equal(error.code, INVALID, error.message)
      assert.match(error.message, message)
    }
  }
})

test('methods are called on their object, with requests as described', () => {
  const leaseSource = new LeaseSource()
  const before = Date.now()
  const options = { ...space(), worker: leaseSource }
  const flake = new Snowflake(options)
  const [[{ name, instance, previous, nowMs, untilMs, ...rest }]] = leaseSource.called('claim')
  assert.deepEqual([name, previous, rest], [options.name, null, {}])
  assert.match(instance, /^[0-9a-f]{32}$/)
  assert.ok(nowMs >= before && nowMs <= Date.now() && untilMs > nowMs)
  const id = flake.next()
  flake.close()
  const [[lease, until]] = leaseSource.called('release')
  assert.deepEqual(Object.keys(lease).sort(), ['fromMs', 'leaseMs', 'token', 'untilMs', 'workerId'])
  assert.ok(until > decode(id).timestampMs && until <= lease.untilMs)
})
