// Closing, and every way in which a process ends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Snowflake, decode } from 'leafid'
import { inMemory, record, space, start } from './support.mjs'


test('after close every call is closed, and a second close is nothing', () => {
  const flake = new Snowflake({ ...space(), worker: 1 })
  flake.next()
  flake.close()
  flake.close()
  const closed = { name: 'LeafidError', code: 'ERR_LEAFID_CLOSED', retry: false }
  const array = new BigInt64Array(4)
  for (const call of [flake.next, flake.nextString, () => flake.take(3), () => flake.fill(array), flake.stats, () => flake.workerId]) {
    assert.throws(call, closed)
  }
  assert.deepEqual(array, new BigInt64Array(4))
  assert.equal(flake.layout.timestampBits, 41)
})

test('opened again at once it goes on above', () => {
  const options = { ...space(), worker: 1 }
  let last = 0n
  for (let round = 0; round < 20; round++) {
    const flake = new Snowflake(options)
    const first = flake.next()
    assert.ok(first > last)
    last = flake.take(100)[99]
    flake.close()
  }
})

test('an unused one leaves nothing reserved', () => {
  const options = { ...inMemory(), worker: 1 }
  const before = Date.now()
  new Snowflake(options).close()
  assert.ok(record(options, 1).until_ms <= Date.now() + 1, `${record(options, 1).until_ms - before} ms ahead`)
})

test('Symbol.dispose closes', { skip: !Symbol.dispose }, () => {
  const flake = new Snowflake({ ...space(), worker: 1 })
  flake[Symbol.dispose]()
  assert.throws(flake.next, { code: 'ERR_LEAFID_CLOSED' })
})

test('nothing keeps the process, and each end of it closes: the record ends at the last id', async t => {
  const ends = {
    '': 0,
    'process.exit(3)': 3,
    'throw new Error("meant to be")': 1,
    'Promise.reject(new Error("meant to be"))': 1,
    'process.on("exit", () => { last = flake.next(); console.log(String(last)) })': 0,
    'flake.close()': 0,
    'setTimeout(() => process.exit(0), 20); setInterval(() => {}, 1000)': 0,
    'process.on("SIGTERM", () => process.exit(9)); process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)': 9,
    'new (require("worker_threads").Worker)("setInterval(() => {}, 5)", { eval: true }); setTimeout(() => process.exit(0), 50)': 0,
  }
  for (const [program, expected] of Object.entries(ends)) {
    const options = { ...inMemory(), worker: 7 }
    const { ended } = start(
      t,
      `const flake = new Snowflake(options); let last = flake.take(10)[9]; console.log(String(last)); ${program}`,
      options,
    )
    const { code, out, err } = await ended
    assert.equal(code, expected, `${program}: ${err}`)
    const last = BigInt(out.trim().split('\n').at(-1))
    assert.equal(record(options, 7).until_ms, decode(last).timestampMs + 1, program || 'its natural end')
    const next = new Snowflake(options)
    assert.ok(next.next() > last)
    next.close()
  }
})

test('a process that follows takes the same id, also after a kill', async t => {
  const options = { ...space(), worker: 7 }
  let last = 0n
  for (const end of ['', 'process.exit(0)', 'process.kill(process.pid, "SIGKILL")', 'process.abort()', '']) {
    const { out, err } = await start(t, `console.log(String(new Snowflake(options).next())); ${end}`, options).ended
    assert.match(out, /^[0-9]+\n$/, err)
    assert.ok(BigInt(out) > last)
    last = BigInt(out)
  }
})
