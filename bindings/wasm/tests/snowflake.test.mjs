// A generator in its spans, and the record from which the next one starts.

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

for (const name of ['leafid', 'leafid-snowflake']) {
  /** What the error has as message: the small module has the name of a wrong argument alone. */
  const said = (message, small) => (name === 'leafid' ? message : small)

  test(`${name}: ids are issued only inside of spans, until the generator is sealed`, () => {
    const module = new Module(name)
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
    assert.throws(() => module.ok(snowflake_next(flake, NOW)), { code: 'closed', message: said(/^the generator was closed/, '') })
    assert.throws(() => module.ok(snowflake_next(99, NOW)), { code: 'closed', message: said(/^handle 99 is not a snowflake/, '') })
  })

  test(`${name}: a tick that is used up, and a clock that goes back`, () => {
    const module = new Module(name)
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
    const backwards = { code: 'clock_backwards', message: said(/^the clock reads 1599999999994 ms .*, 7 ms behind the last id's/, '') }
    assert.throws(() => module.ok(snowflake_next(flake, NOW - 6)), backwards)
    assert.throws(() => module.ok(snowflake_next(flake, 0)), { code: 'before_epoch' })
  })

  test(`${name}: rules are checked`, () => {
    const module = new Module(name)
    for (const wrong of [{ backwards: 'stop' }, { exhausted: 'x' }, { maxBackwardsMs: 99 }, { randomStart: 0.5 }, { backwards: 'wait', exhausted: 'borrow' }]) {
      assert.throws(() => module.rules(wrong), { code: 'invalid_argument' })
    }
    assert.throws(() => module.ok(module.exports.snowflake_new(module.layout('leaf'), module.rules(), 1_024, 0, 0n)), {
      message: said('worker_id is 1024; allowed: 0 to 1023', 'worker_id'),
    })
    for (const from of [-1, NaN, 0.5, 2 ** 41 + 1]) {
      assert.throws(() => module.ok(module.exports.snowflake_new(module.layout('leaf'), module.rules(), 0, from, 0n)), {
        code: 'invalid_argument',
      })
    }
  })
}

test('every generator starts where the record of the one before ends', () => {
  const module = new Module()
  const { extension_due_in_ms, extension_failed, extension_new, extension_poll, extension_written, record_admit, record_begin } = module.exports
  const { record_extend, record_fields, record_first_free, record_next_until, record_unused, snowflake_grant, snowflake_new, snowflake_next } = module.exports
  const layout = module.layout('leaf')
  const rules = module.rules()
  let record = module.ok(record_unused(39, layout))
  const start = now => {
    assert.equal(module.ok(record_admit(record, rules, now)), 0)
    const [from] = module.numbers(1)
    const until = module.ok(record_next_until(record, rules, from, now, 0))
    record = module.ok(record_begin(record, from, until, now, 1n, -1n))
    const flake = module.ok(snowflake_new(layout, rules, 39, from, 0n))
    module.ok(snowflake_grant(flake, from, until))
    return { flake, from, until }
  }
  const first = start(NOW)
  assert.deepEqual([first.from, first.until], [tickOf(NOW), tickOf(NOW) + 500])
  module.ok(record_fields(record))
  assert.deepEqual(module.numbers(4), [39, first.from, first.until, NOW])
  assert.equal(module.text(), '0000000000000001ffffffffffffffff')

  const extension = module.ok(extension_new(0))
  const poll = (now, boot, lease = Infinity) => module.ok(extension_poll(extension, first.flake, record, lease, now, boot))
  assert.equal(poll(NOW, 0), 0)
  assert.equal(poll(NOW + 250, 250), 1)
  const [from, until] = module.numbers(2)
  assert.deepEqual([from, until], [tickOf(NOW) + 250, tickOf(NOW) + 750])
  assert.equal(poll(NOW + 500, 500, tickOf(NOW) + 500), 3)
  assert.equal(module.ok(extension_failed(extension)), 200)
  module.ok(extension_written(extension))
  record = module.ok(record_extend(record, from, until, NOW + 250))
  module.ok(snowflake_grant(first.flake, from, until))
  assert.equal(module.ok(extension_due_in_ms(first.flake, NOW + 250)), 251)
  const last = module.ok(snowflake_next(first.flake, NOW + 749))

  const second = start(NOW + 300)
  assert.equal(second.from, until, 'the clock is behind what was granted')
  assert.ok(module.ok(snowflake_next(second.flake, NOW + 300)) > last)
  assert.equal(module.ok(record_first_free(record, 7)), 7)
  assert.throws(() => module.ok(record_admit(record, rules, NOW - 10_000)), { code: 'clock_backwards' })
  const waits = module.rules({ backwards: 'wait' })
  assert.equal(module.ok(record_admit(record, waits, NOW + 300)), 1)
  module.ok(record_fields(record))
  const [, , end] = module.numbers(3)
  assert.equal(module.ok(record_admit(record, waits, NOW + 300)), 1)
  assert.deepEqual(module.numbers(1), [end - tickOf(NOW) + NOW])
})

test('a reset starts at the clock, and skips what was granted above it', () => {
  const module = new Module()
  const { record_admit, record_begin, record_check, record_first_free, record_reset, record_unused } = module.exports
  const layout = module.layout('leaf')
  const far = tickOf(NOW) + 86_400_000_000
  let record = module.ok(record_begin(module.ok(record_unused(7, layout)), far, far + 500, NOW, 0n, 1n))
  assert.throws(() => module.ok(record_admit(record, module.rules(), NOW)), { code: 'clock_backwards' })
  record = module.ok(record_reset(record, NOW))
  module.ok(record_check(record))
  assert.equal(module.ok(record_admit(record, module.rules(), NOW)), 0)
  assert.deepEqual(module.numbers(1), [tickOf(NOW)])
  assert.equal(module.ok(record_first_free(record, far)), far + 500)
})
