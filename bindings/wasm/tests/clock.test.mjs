// The filter of a clock that leaps ahead.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from './module.mjs'

const [NOW, DAY] = [1_800_000_000_001, 86_400_000]
const module = new Module()
const { clock_filter, clock_leap, clock_new, clock_observe, clock_used } = module.exports
const event = () => (module.numbers(1)[0] === 1 ? module.text() : null)

test('a leap is followed once it has lasted for a minute', () => {
  const clock = module.ok(clock_new())
  const filter = (now, boot) => module.ok(clock_filter(clock, now, boot))
  assert.equal(filter(NOW, 1_000.25), NOW)
  assert.equal(filter(NOW + DAY, 2_000.25), NOW + 1_000)
  assert.match(event(), /^the clock jumped 86399 s ahead; leafid follows it if it stays there for 60 s$/)
  assert.equal(module.ok(clock_leap(clock)), 1)
  assert.deepEqual(module.numbers(2), [DAY - 1_000, 2_000])
  assert.equal(filter(NOW + DAY + 59_000, 61_000.25), NOW + 60_000)
  assert.equal(event(), null)
  assert.equal(filter(NOW + DAY + 60_000, 62_000.25), NOW + DAY + 60_000)
  assert.match(event(), /leafid follows it now$/)
  assert.equal(module.ok(clock_leap(clock)), 0)
})

test('a leap that began before is learnt from a record, unless a generator is open', () => {
  for (const isUsed of [false, true]) {
    const clock = module.ok(clock_new())
    module.ok(clock_filter(clock, NOW + DAY, 100_000))
    if (isUsed) module.ok(clock_used(clock))
    module.ok(clock_observe(clock, NOW, 99_000, NaN, NaN, NOW + DAY, 100_000))
    assert.equal(event() === null, isUsed)
    assert.equal(module.ok(clock_filter(clock, NOW + DAY + 1_000, 101_000)), isUsed ? NOW + DAY + 1_000 : NOW + 2_000)
  }
})
