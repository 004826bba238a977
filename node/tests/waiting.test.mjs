// The JavaScript thread waits for the clock 2 ms at most.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Snowflake, decode } from 'leafid'
import { HANG, record, space, start, wasm } from './support.mjs'

/** What the call throws, if it does. */
function thrownOrUndefined(call) {
  try {
    call()
  } catch (error) {
    return error
  }
}

const unrecorded = wasm && 'leafid/wasm keeps no record'
const SONYFLAKE = { layout: 'sonyflake', worker: 1, randomStart: 0 }

test('a used-up tick of 10 ms is would_block; no id is lost and none repeated', () => {
  const flake = new Snowflake({ ...space(), ...SONYFLAKE })
  const ticks = new Map()
  // Those that were used up and refused once. A tick that the machine took from this thread is not one of them.
  const refused = new Set()
  let last
  while (refused.size < 5) {
    try {
      const { timestampMs, sequence } = decode(flake.next(), 'sonyflake')
      ticks.set((last = timestampMs), [...(ticks.get(timestampMs) ?? []), sequence])
    } catch (error) {
      assert.equal(error.code, 'ERR_LEAFID_WOULD_BLOCK', error.message)
      assert.equal(error.retry, true)
      // Without a record a handle begins with the tick after its opening: before its first id nothing is used up.
      if (last !== undefined) refused.add(last)
    }
  }
  for (const sequence of ticks.values()) assert.deepEqual(sequence, Array.from({ length: sequence.length }, (_, i) => i))
  for (const tick of refused) assert.equal(ticks.get(tick).length, 256)
  flake.close()
})

test('a batch that the tick cannot give is would_block, and loses nothing', () => {
  const flake = new Snowflake({ ...space(), ...SONYFLAKE })
  /** Tries until it is given. */
  function eventually(call) {
    for (const end = Date.now() + HANG; ; ) {
      try {
        return call()
      } catch (error) {
        if (error.code !== 'ERR_LEAFID_WOULD_BLOCK' || Date.now() > end) throw error
      }
    }
  }
  let refused = 0
  for (let round = 0; round < 20 || refused === 0; round++) {
    const half = eventually(() => flake.take(150))
    const array = new BigInt64Array(150)
    const error = thrownOrUndefined(() => flake.fill(array))
    const next = eventually(flake.next)
    if (error === undefined) continue // A new tick had come.
    assert.equal(error.code, 'ERR_LEAFID_WOULD_BLOCK')
    refused++
    assert.ok(array.every(id => id === 0n))
    const [before, after] = [decode(half[149], 'sonyflake'), decode(next, 'sonyflake')]
    if (before.timestampMs === after.timestampMs) assert.equal(after.sequence, before.sequence + 1)
  }
  flake.close()
})

test('a batch larger than a tick ever gives is refused', () => {
  const flake = new Snowflake({ ...space(), ...SONYFLAKE })
  assert.throws(() => flake.take(10_000), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /^n is 10000; allowed: 1 to / })
  flake.close()
})

test('under wait, open waits for the record of a killed process; the constructor does not', { skip: unrecorded }, async t => {
  const options = { ...space(), worker: 1, onClockBackwards: 'wait' }
  // Long enough for a span of seconds.
  const program = 'const f = new Snowflake(options); setInterval(f.next, 1); setTimeout(() => console.log(String(f.next())), 600)'
  const { child, line, ended } = start(t, program, options)
  const last = BigInt(await line())
  child.kill('SIGKILL')
  await ended
  const { until_ms: until } = record(options, 1)
  const error = thrownOrUndefined(() => new Snowflake(options).close())
  assert.ok(error ? error.code === 'ERR_LEAFID_WOULD_BLOCK' && error.retry : Date.now() >= until, `${error}, ${until}`)
  const flake = await Snowflake.open(options)
  assert.ok(flake.next() > last)
  flake.close()
})

test('ticks of a millisecond are waited for', () => {
  const flake = new Snowflake({ ...space(), worker: 1 })
  const ids = flake.take(100_000)
  assert.ok(decode(ids[99_999]).timestampMs - decode(ids[0]).timestampMs >= 23)
  for (let i = 0; i < 20_000; i++) flake.next()
  flake.close()
})
