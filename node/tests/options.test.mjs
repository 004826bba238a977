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

/** What no number may be. */
const NO_NUMBERS = [NaN, Infinity, -Infinity, 1.5, 2 ** 64, 2 ** 53, '', 'x', true, [], {}, () => 1, Symbol('s'), 7n]
const NO_TEXTS = [7, 7n, true, [], {}, () => 'x', Symbol('s')]

test('numbers', t => {
  const base = { ...space(), worker: 1 }
  const bounds = {
    epochMs: [-1, Date.now() + 86_400_000],
    maxBackwardsMs: [-1, 0, 99, 3_600_001],
    randomStart: [-1, 1_000_001],
    timeoutMs: [-1, 0, 3_600_001],
    noRecordWaitMs: [-1, 3_600_001],
  }
  for (const [option, beyond] of Object.entries(bounds)) {
    for (const value of [...NO_NUMBERS, '7', ...beyond]) {
      assert.ok(refuses(t, base, option, value).startsWith(`${option} is `), option)
    }
    for (const value of beyond) assert.ok(refuses(t, base, option, value).startsWith(`${option} is ${value}`), option)
  }
})

test('texts', t => {
  const base = { ...space(), worker: 1 }
  const wrong = {
    name: ['', '.x', 'a/b', 'a b', 'ä', 'x'.repeat(65), '\0'],
    stateDir: [''],
    onClockBackwards: ['', 'WAIT', 'borrow'],
    onExhausted: ['', 'continue'],
    layout: ['', 'Leaf', '41|10', '41|10|12|1', '41|10|x', '41|10|13', '-1|10|12', '64|0|0', '41,10,12'],
  }
  for (const [option, texts] of Object.entries(wrong)) {
    for (const value of [...NO_TEXTS.filter(v => option !== 'layout' || Object(v) !== v || Array.isArray(v)), ...texts]) {
      const message = refuses(t, base, option, value)
      assert.ok(/^\w+ is /.test(message), message)
      if (option !== 'layout') assert.ok(message.startsWith(`${option} is `), message)
    }
  }
})

test('worker', t => {
  const { stateDir, name } = space()
  const wrong = [
    // A function gives worker ids.
    ...NO_NUMBERS.filter(value => typeof value !== 'function'),
    -1,
    1024,
    '-1',
    '1024',
    '1-2-3',
    '31-0',
    '0-1024',
    '0-31/2',
    ' 7',
    '7.0',
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
    'http://',
    'http://ids,',
    'http://ids:0',
    'https://ids?a=b',
    'http://ann:secret@ids',
    'ftp://ids',
  ]
  for (const value of wrong) {
    assert.match(refuses(t, { stateDir, name }, 'worker', value), /^worker is /)
  }
})

test('options of lease servers', t => {
  const base = { ...space(), worker: 'http://127.0.0.1:9' }
  const wrong = {
    token: [...NO_TEXTS, '', 'a\nb'],
    headers: [...NO_NUMBERS.filter(value => Object(value) !== value || Array.isArray(value)), 7, { a: 1 }, { a: null }, { Host: 'x' }, { 'a b': 'x' }],
    caFile: [...NO_TEXTS, '', '/no/such/file'],
    requestTimeoutMs: [...NO_NUMBERS, '7', -1, 0, 3_600_001],
    connectTimeoutMs: [...NO_NUMBERS, '7', -1, 0, 3_600_001],
  }
  const right = { token: 'x', headers: { a: 'b' }, caFile: '/x', requestTimeoutMs: 500, connectTimeoutMs: 500 }
  for (const [option, values] of Object.entries(wrong)) {
    // Values are checked at once, also where the claim comes later.
    for (const lazy of [false, true]) {
      for (const value of values) assert.ok(refuses(t, { ...base, lazy }, option, value).startsWith(`${option} is `), option)
    }
    for (const worker of [7, '0-31', { first: 0, last: 3 }, () => 7]) {
      const message = refuses(t, { ...base, worker }, option, right[option])
      assert.equal(message, `${option} is set; allowed: only with the URL of a lease server as worker`)
    }
  }
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
