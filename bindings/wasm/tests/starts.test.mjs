// The start of a generator: which worker id, and from which tick.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from './module.mjs'

const NOW = 1_600_000_000_000
const tickOf = ms => ms - 1_288_834_974_657

const module = new Module()
const { record_after_lost_slot, record_begin, record_closed, record_fields, record_unused, search_new, search_peeked } = module.exports
const { search_poll, search_refused, space_check, start_after, start_poll, worker_range } = module.exports
const layout = module.layout('leaf')
const rules = module.rules()
const unused = module.ok(record_unused(7, layout))

const start = (record, { lease = [NaN, NaN], floor = 0, after = 0, wait = 0, forgets = 0, now = NOW } = {}) =>
  module.ok(start_poll(record, rules, ...lease, floor, after, wait, forgets, now))

test('worker ids and names as users write them', () => {
  const range = (text, host = '') => {
    module.ok(worker_range(layout, ...module.input('worker', text, host)))
    return module.numbers(2)
  }
  assert.deepEqual([range('7'), range('0-31'), range('hostname:orders*8', 'orders-2')], [[7, 7], [0, 31], [16, 23]])
  for (const wrong of ['', 'x', '5-3', '1024', '-1', 'hostname:orders']) assert.throws(() => range(wrong), { code: 'invalid_argument' })
  assert.equal(module.ok(space_check(...module.input('orders'))), 0)
  assert.throws(() => module.ok(space_check(...module.input('a/b'))), { code: 'invalid_argument', message: /^name is "a\/b"/ })
})

test('a clock before the epoch, or before the module was built, is refused', () => {
  const { clock_check } = module.exports
  const check = (now, of = layout) => module.ok(clock_check(of, now))
  assert.equal(check(Date.now()), 0)
  // A day of 2020: the module is younger.
  assert.throws(() => check(NOW), { code: 'clock_backwards', message: /but this leafid was built after/ })
  assert.throws(() => check(1_000_000_000_000), { code: 'before_epoch' })
  // The host passes a layout of its own, whose epoch the user chose.
  const own = module.ok(module.exports.layout_new(Date.now() + 86_400_000, 1, 41, 10, 12, ...module.input('worker-sequence')))
  assert.throws(() => check(Date.now(), own), { code: 'invalid_argument', message: /^epoch_ms is .*not ahead of the clock/ })
})

test('how long a start without a record waits: the option, or else the environment', () => {
  const { no_record_wait } = module.exports
  const waits = (ms, text, leased = 0) =>
    module.ok(no_record_wait(ms, ...(text === undefined ? [-1] : module.input(text)), leased))
  assert.deepEqual([waits(NaN), waits(NaN, ''), waits(NaN, '700'), waits(5, '700'), waits(0, '700')], [0, 0, 700, 5, 0])
  assert.equal(waits(NaN, '700', 1), 0)
  for (const wrong of ['yes', '-1', '3600001', '1.5', ' 7']) {
    assert.throws(() => waits(NaN, wrong), { code: 'invalid_argument', message: /^LEAFID_NO_RECORD_WAIT_MS is / })
  }
  assert.throws(() => waits(5, undefined, 1), { code: 'invalid_argument', message: /^no_record_wait_ms is 5; allowed: 0 with leases/ })
})

test('a claim without an answer is sent again, by one caller at a time', () => {
  const { claims_new, claim_begin, claim_failed } = module.exports
  const claims = module.ok(claims_new())
  const begin = (instance, asked) => {
    module.ok(claim_begin(claims, ...module.input('orders http://a', instance), asked))
    return [module.text(), module.numbers(1)[0]]
  }
  const failed = (instance, asked, number) => {
    const [key, id, message] = module.input('orders http://a', instance, 'it is down')
    return module.ok(claim_failed(claims, key, id, asked, number, message))
  }
  assert.deepEqual(begin('one', 10), ['one', 10])
  assert.deepEqual(begin('two', 20), ['two', 20])
  // 11: segment_unavailable. No server answered.
  assert.throws(() => failed('one', 10, 11), { code: 'worker_lost', message: 'it is down' })
  assert.deepEqual(begin('three', 30), ['one', 10])
  // 5: worker_in_use, an answer.
  assert.throws(() => failed('one', 10, 5), { code: 'worker_in_use' })
  assert.deepEqual(begin('four', 40), ['four', 40])
})

test('a start, with leases, existing ids and no record', () => {
  assert.equal(start(unused), 0)
  assert.deepEqual(module.numbers(3), [tickOf(NOW), tickOf(NOW) + 500, NaN])
  start(unused, { forgets: 1 })
  assert.equal(module.numbers(1)[0], tickOf(NOW) + 1)
  start(unused, { lease: [tickOf(NOW) + 10, tickOf(NOW) + 15] })
  assert.deepEqual(module.numbers(2), [tickOf(NOW) + 10, tickOf(NOW) + 15])
  const after = module.ok(start_after(layout, BigInt(tickOf(NOW) + 99) << 22n))
  assert.equal(after, tickOf(NOW) + 100)
  start(unused, { after })
  assert.equal(module.numbers(1)[0], after)
  // The generator before a loss may have been far ahead.
  start(unused, { floor: tickOf(NOW) + 3_000, lease: [tickOf(NOW), tickOf(NOW) + 20_000] })
  assert.equal(module.numbers(1)[0], tickOf(NOW) + 3_000)
  start(unused, { wait: 3_001 })
  assert.deepEqual(module.numbers(3), [tickOf(NOW) + 3_002, tickOf(NOW) + 3_002, NOW + 3_002])
  assert.throws(() => start(unused, { wait: -1 }), { code: 'invalid_argument', message: /^no_record_wait_ms is -1/ })
  assert.throws(() => start(unused, { now: 0 }), { code: 'before_epoch' })
})

test('a record after a clean end, and after a lost slot', () => {
  const begun = module.ok(record_begin(unused, tickOf(NOW), tickOf(NOW) + 500, NOW, 0n, 1n))
  const until = record => {
    module.ok(record_fields(record))
    return module.numbers(3)[2]
  }
  assert.equal(until(module.ok(record_closed(begun, tickOf(NOW) + 3, NOW))), tickOf(NOW) + 3)
  assert.ok(until(module.ok(record_after_lost_slot(begun, rules, NOW))) >= tickOf(NOW) + 3_000)
})

test('a search takes ids that the clock has passed first, and tries again while they are held', () => {
  const search = module.ok(search_new(...module.input('orders'), 0, 1, 200, 0, 0, 1_000))
  const poll = boot => [module.ok(search_poll(search, boot)), module.numbers(1)[0]]
  const held = boot => module.ok(search_refused(search, 5, ...module.input('held'), boot))
  assert.deepEqual(poll(1_000), [1, 0])
  const ahead = module.ok(record_begin(unused, tickOf(NOW), tickOf(NOW) + 500, NOW, 0n, 1n))
  module.ok(search_peeked(search, ahead, NOW))
  assert.deepEqual(poll(1_000), [1, 1])
  module.ok(search_peeked(search, 0, NOW))
  assert.deepEqual(poll(1_000), [0, 1])
  held()
  assert.deepEqual(poll(1_000), [0, 0])
  held()
  assert.equal(poll(1_000)[0], 3)
  assert.throws(() => {
    for (let boot = 1_200; ; boot += 50) {
      const [action, id] = poll(boot)
      if (action === 1) module.ok(search_peeked(search, 0, NOW))
      if (action === 0) held(id)
    }
  }, { code: 'worker_in_use', message: /^no worker id of 0-1 of "orders" came free/ })
})
