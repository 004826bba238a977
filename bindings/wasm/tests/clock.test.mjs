// The filter of a clock that leaps ahead.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from './module.mjs'

const [NOW, DAY] = [1_800_000_000_001, 86_400_000]
const module = new Module()
const { clock_filter, clock_new, clock_used } = module.exports
const event = () => (module.numbers(1)[0] === 1 ? module.text() : null)

test('a leap is followed once it has lasted for a minute', () => {
  const clock = module.ok(clock_new())
  module.ok(clock_used(clock))
  const filter = (now, boot) => module.ok(clock_filter(clock, now, boot))
  assert.equal(filter(NOW, 1_000.25), NOW)
  assert.equal(filter(NOW + DAY, 2_000.25), NOW + 1_000)
  assert.match(event(), /^the clock jumped 86399 s ahead; leafid follows it if it stays there for 60 s$/)
  assert.equal(filter(NOW + DAY + 59_000, 61_000.25), NOW + 60_000)
  assert.equal(event(), null)
  assert.equal(filter(NOW + DAY + 60_000, 62_000.25), NOW + DAY + 60_000)
  assert.match(event(), /leafid follows it now$/)
})
