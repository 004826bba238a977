// A generator in its spans, in the module without the machines. Its errors have the name of a wrong argument as message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module, NEED_SPAN, WAIT_UNTIL } from './module.mjs'

const NOW = 1_600_000_000_000
const tickOf = ms => ms - 1_288_834_974_657

/** A generator of worker id 39 with a span of `ticks` from NOW. */
function generator(module, { ticks = 500, ...rules } = {}) {
  const layout = module.layout('leaf')
  const flake = module.ok(module.exports.snowflake_new(layout, module.rules(rules), 39, tickOf(NOW), 0n))
  if (ticks > 0) module.ok(module.exports.snowflake_grant(flake, tickOf(NOW), tickOf(NOW) + ticks))
  return flake
}

test('ids are issued only inside of spans, until the generator is sealed', () => {
  const module = new Module('leafid-snowflake')
  const { snowflake_first_unused, snowflake_grant, snowflake_next, snowflake_seal, snowflake_until } = module.exports
  const flake = generator(module, { ticks: 0 })
  assert.equal(snowflake_next(flake, NOW), BigInt(NEED_SPAN))
  assert.equal(snowflake_first_unused(flake), tickOf(NOW))
  module.ok(snowflake_grant(flake, tickOf(NOW), tickOf(NOW) + 2))
  assert.equal(snowflake_until(flake), tickOf(NOW) + 2)
  assert.equal(snowflake_next(flake, NOW), 1_305_120_710_456_406_016n)
  assert.equal(snowflake_next(flake, NOW), 1_305_120_710_456_406_017n)
  assert.equal(snowflake_next(flake, NOW + 2), BigInt(NEED_SPAN))
  assert.equal(snowflake_seal(flake), tickOf(NOW) + 1)
  assert.equal(snowflake_seal(flake), -1)
  assert.equal(snowflake_first_unused(flake), -1)
  assert.throws(() => module.ok(snowflake_next(flake, NOW)), { code: 'closed', message: '' })
  assert.throws(() => module.ok(snowflake_next(99, NOW)), { code: 'closed', message: '' })
})

test('a tick that is used up, and a clock that goes back', () => {
  const module = new Module('leafid-snowflake')
  const { snowflake_left_in_tick, snowflake_next, snowflake_reserve } = module.exports
  const flake = generator(module, { backwards: 'wait' })
  assert.equal(snowflake_reserve(flake, NOW, 10_000), 4_096)
  const ids = module.ids(4_096)
  ids.forEach((id, at) => assert.equal(id, 1_305_120_710_456_406_016n + BigInt(at)))
  assert.equal(snowflake_left_in_tick(flake, NOW), 0)
  assert.equal(snowflake_next(flake, NOW), BigInt(WAIT_UNTIL))
  assert.deepEqual(module.numbers(1), [NOW + 1])
  assert.ok(module.ok(snowflake_next(flake, NOW + 1)) > ids.at(-1))
  assert.equal(snowflake_next(flake, NOW - 4), BigInt(WAIT_UNTIL))
  const backwards = { code: 'clock_backwards', message: '' }
  assert.throws(() => module.ok(snowflake_next(flake, NOW - 6)), backwards)
  assert.throws(() => module.ok(snowflake_next(flake, 0)), { code: 'before_epoch' })
})

test('rules are checked', () => {
  const module = new Module('leafid-snowflake')
  for (const wrong of [{ backwards: 'stop' }, { exhausted: 'x' }, { maxBackwardsMs: 99 }, { randomStart: 0.5 }, { backwards: 'wait', exhausted: 'borrow' }]) {
    assert.throws(() => module.rules(wrong), { code: 'invalid_argument' })
  }
  assert.throws(() => module.ok(module.exports.snowflake_new(module.layout('leaf'), module.rules(), 1_024, 0, 0n)), {
    message: 'worker_id',
  })
  for (const from of [-1, NaN, 0.5, 2 ** 41 + 1]) {
    assert.throws(() => module.ok(module.exports.snowflake_new(module.layout('leaf'), module.rules(), 0, from, 0n)), {
      code: 'invalid_argument',
    })
  }
})
