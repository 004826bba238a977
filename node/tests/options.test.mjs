// Every option refuses what it cannot be, naming itself, the value and what is allowed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { LeafidError, Snowflake, compose } from 'leafid'
import { directory, space, start, thrown, wasm } from './support.mjs'

function refuses(t, base, option, value, shown) {
  const error = thrown(() => new Snowflake({ ...base, [option]: value }).close())
  const what = `${option}: ${String(shown ?? typeof value)} gave ${error.message}`
  assert.ok(error instanceof LeafidError, what)
  assert.equal(error.code, 'ERR_LEAFID_INVALID_ARGUMENT', what)
  assert.match(error.message, /; allowed: ./, what)
  return error.message
}

test('ranges and lists that are no worker', t => {
  const base = space()
  const wrong = [
    { first: 0 },
    { last: 1 },
    { first: 0, last: 31, step: 2 },
    { first: 0, last: 1.5 },
    { first: -1, last: 3 },
    { first: 3, last: 2 },
    { first: 0, last: 2 ** 64 },
    { first: '0', last: '31' },
    [0, 31],
    ['http://ids', 7],
    ['http://ids', '7'],
    ['0-31'],
    ['http://ids', ''],
  ]
  for (const value of wrong) assert.match(refuses(t, base, 'worker', value), /^worker is /)
})

test('layout fields', t => {
  const base = { ...space(), worker: 1 }
  const wrong = [
    [{ timestampBits: 0 }, /^timestampBits is 0;/],
    [{ timestampBits: 63 }, /^timestampBits is 63;/],
    [{ timestampBits: '41' }, /^timestampBits is '41';/],
    [{ workerBits: -1 }, /^workerBits is -1;/],
    [{ workerBits: 1.5 }, /^workerBits is 1.5;/],
    [{ sequenceBits: 32 }, /^sequenceBits is 32;/],
    [{ timestampBits: 41, workerBits: 10, sequenceBits: 13 }, /^layout is 41\|10\|13, 64 bits;/],
    [{ epochMs: -1 }, /^epochMs is -1;/],
    [{ epochMs: NaN }, /^epochMs is NaN;/],
    [{ tickMs: 0 }, /^tickMs is 0;/],
    [new Map([['workerBits', 5]]), /^layout is /],
    [{ tickMs: 3_600_001 }, /^tickMs is 3600001;/],
    [{ order: 'x' }, /^order is "x";/],
    [{ order: 7 }, /^order is 7;/],
    [{ worker_bits: 5 }, /^"worker_bits" is an unknown option; the nearest is workerBits; allowed: timestampBits, /],
  ]
  for (const [layout, message] of wrong) {
    assert.match(refuses(t, base, 'layout', layout), message)
    assert.throws(() => compose(1_700_000_000_000, 0, 0, layout), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message })
  }
})

test('unknown names are refused', t => {
  const base = { ...space(), worker: 1 }
  for (const name of ['workers', 'Persist', 'state_dir', 'shared_fs', '', '__proto', 'constructor']) {
    const message = refuses(t, base, name, undefined)
    assert.match(message, new RegExp(`^"${name}" is an unknown option(; the nearest is \\w+)?; allowed: worker, name, stateDir, `))
  }
})

test('options must be an object, or a worker id', () => {
  for (const options of [true, [], 7n, Symbol('s'), () => {}]) {
    assert.throws(() => new Snowflake(options), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /^options is / })
  }
  for (const worker of ['x', '', 1.5, 1024, NaN]) {
    assert.throws(() => new Snowflake(worker), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /^worker is / })
  }
})

test('a worker id alone, and what an inspection shows', { skip: wasm && 'leafid/wasm keeps no records here' }, t => {
  process.env.LEAFID_STATE_DIR = directory()
  t.after(() => delete process.env.LEAFID_STATE_DIR)
  const flake = new Snowflake('3-5')
  assert.equal(inspect(flake), `Snowflake { workerId: ${flake.workerId} }`)
  flake.close()
  assert.equal(inspect(flake), 'Snowflake { closed }')
  assert.equal(inspect(new Snowflake({ worker: 3, lazy: true })), 'Snowflake { unclaimed }')
})

test('an option that throws when read gives its own error', t => {
  const given = {
    ...space(),
    get worker() {
      throw new RangeError('mine')
    },
  }
  assert.throws(() => new Snowflake(given), { name: 'RangeError', message: 'mine' })
})

test('undefined and null are the default', t => {
  const absent = ['layout', 'epochMs', 'onClockBackwards', 'maxBackwardsMs', 'onExhausted', 'randomStart', 'timeoutMs']
  absent.push('token', 'headers', 'caFile', 'requestTimeoutMs', 'connectTimeoutMs')
  const { stateDir, name } = space()
  const plain = new Snowflake({ stateDir, name, worker: 1 })
  for (const value of [undefined, null]) {
    const flake = new Snowflake({ stateDir, name, worker: 1, ...Object.fromEntries(absent.map(o => [o, value])) })
    assert.equal(flake.stats().handles, 2)
    flake.close()
  }
  assert.equal(plain.stats().layout, 'leaf')
  plain.close()
})

test('every kind of worker and layout that is allowed', t => {
  const workers = [[0, 0], [1023, 1023], ['7', 7], ['7-9', 7], [{ first: 7, last: 9 }, 7], [{ first: 5, last: 5 }, 5]]
  for (const [worker, id] of workers) {
    const flake = new Snowflake({ ...space(), worker })
    assert.equal(flake.workerId, id)
    flake.close()
  }
  const epochMs = Date.UTC(2026, 0, 1)
  const bits = { timestampBits: 35, workerBits: 5, sequenceBits: 23 }
  for (const layout of ['35|5|23', bits, { ...bits, epochMs }, { ...bits, epochMs: 1, tickMs: 1 }]) {
    const flake = new Snowflake({ ...space(), worker: 31, layout, epochMs })
    assert.deepEqual(flake.layout, { ...bits, epochMs, tickMs: 1, order: 'worker-sequence' })
    assert.ok(Object.isFrozen(flake.layout))
    flake.close()
  }
})

test('LEAFID_WORKER is the default, and without it the constructor refuses', async t => {
  const options = space()
  const tell = 'try { console.log(new Snowflake(options).workerId) } catch (error) { console.log(error.code, error.message) }'
  const outcome = async env => (await start(t, tell, options, { env }).ended).out
  assert.equal(await outcome({ LEAFID_WORKER: '12' }), '12\n')
  assert.equal(await outcome({ LEAFID_WORKER: '12-13' }), '12\n')
  assert.match(await outcome({ LEAFID_WORKER: 'x' }), /^ERR_LEAFID_INVALID_ARGUMENT .*"x"/)
  assert.match(await outcome({ LEAFID_WORKER: undefined }), /^ERR_LEAFID_INVALID_ARGUMENT worker is not set/)
})

test('every message names options as they are written here', () => {
  const made = thrown(() => new Snowflake({ worker: 7, stateDir: '/proc/leafid' }))
  assert.equal(made.code, 'ERR_LEAFID_STATE_IO')
  assert.match(made.message, /stateDir/)
  assert.doesNotMatch(made.message, /state_dir/)
})
