// Sources of segments: circuit breakers, servers, single ids, stocks, and the marks of tags.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from './module.mjs'

const module = new Module()
const {
  breaker_cancelled, breaker_ended, breaker_enter, breaker_new, breaker_released, breaker_state, breaker_timer,
  buffer_new, buffer_refill, buffer_run, buffer_segments, buffer_take, fetch_begin, fetch_failed, fetch_new, fetch_poll,
  fetch_state, fetch_succeeded, leaf_judge, mark_accept, mark_after, mark_name, mark_recent, pending_new, pending_push,
  request_end, request_judged, request_new, request_poll, request_unanswered, response_new, segments_check, servers_back_off_ms,
  servers_deny, servers_error, servers_new, single_begin, single_ended, single_fetch, single_new, single_silent_since,
  single_timer, stock_piece, stock_target, stock_wants,
} = module.exports
const [ASK, NOTHING, WAKE, RELEASE, PROBE] = [0, 1, 2, 3, 4]
const UNAVAILABLE = 11

/** The actions of a breaker, and its number. */
const action = returned => [module.ok(returned), module.numbers(1)[0]]

test('a source that is down is probed by one tag, and then all ask', () => {
  const breaker = module.ok(breaker_new(0))
  for (const tag of [1, 2, 3]) assert.equal(action(breaker_enter(breaker, tag, 0, 0, 1_000))[0], ASK)
  for (const tag of [1, 2]) {
    assert.equal(action(breaker_ended(breaker, tag, 1, NaN, 1_000, 0n))[0], RELEASE)
    assert.equal(module.ok(breaker_released(breaker)), 0, 'it is not down yet')
  }
  action(breaker_ended(breaker, 3, 1, NaN, 1_000, 0n))
  module.ok(breaker_state(breaker))
  assert.deepEqual(module.numbers(3), [1, 0, 3])
  const [asks, at] = action(breaker_enter(breaker, 4, 0, 0, 1_010))
  assert.equal(asks, WAKE)
  assert.ok(at > 1_010)
  assert.equal(action(breaker_enter(breaker, 1, 0, 1, 1_020))[0], NOTHING)
  assert.deepEqual(action(breaker_timer(breaker, at)), [PROBE, 4])
  assert.equal(action(breaker_enter(breaker, 4, 1, 0, at))[0], ASK)
  const [ends, wakes] = action(breaker_ended(breaker, 4, 0, NaN, at + 5, 0n))
  assert.deepEqual([ends, wakes], [RELEASE, NaN])
  assert.equal(module.ok(breaker_released(breaker)), 1)
  assert.deepEqual(module.ids(1), [1n])
  assert.equal(module.ok(breaker_released(breaker)), 0)
})

test('a limited source is asked for a few tags at once, and more tags than one answer holds are released', () => {
  const breaker = module.ok(breaker_new(1))
  const asked = Array.from({ length: 9_000 }, (_, at) => action(breaker_enter(breaker, at + 1, 0, 0, 1_000))[0])
  assert.deepEqual(asked.slice(0, 5), [ASK, ASK, ASK, ASK, RELEASE])
  assert.equal(action(breaker_cancelled(breaker, 1, 0, 1_001))[0], RELEASE)
  assert.equal(module.ok(breaker_released(breaker)), 1)
  // Without a limit all come at once.
  const open = module.ok(breaker_new(0))
  for (const tag of [1, 2, 3]) action(breaker_ended(open, tag, 1, NaN, 1_000, 0n))
  for (let tag = 10; tag < 9_010; tag++) action(breaker_enter(open, tag, 0, 0, 1_001))
  assert.equal(action(breaker_ended(open, 1, 0, 0, 1_002, 0n))[0], RELEASE)
  const released = []
  for (let count; (count = module.ok(breaker_released(open))) > 0; ) released.push(...module.ids(count))
  assert.equal(new Set(released).size, 9_000)
})

/** The next server of a request, or the error of all of it. */
const polled = (servers, request, now, left = 1_000) => {
  module.ok(request_poll(servers, request, now, left))
  return [module.numbers(2), module.ids(2)]
}

function answered(status, url, body) {
  const [urlLength, bodyLength] = module.input(url, body)
  return module.ok(response_new(status, 0, urlLength, -1, -1, bodyLength))
}

test('a request goes from server to server, and a server that fails backs off', () => {
  const servers = module.ok(servers_new(2))
  const request = module.ok(request_new(servers, ...module.input('order'), 1, 0, 0n, 7n, 300))
  assert.throws(() => polled(servers, request + 1, 1_000), { code: 'closed' })
  assert.deepEqual(polled(servers, request, 1_000), [[0, 300], [0n, 7n]])
  const none = [UNAVAILABLE, ...module.input('http://a/x is away', 'http://a is away')]
  assert.equal(module.ok(request_unanswered(servers, request, ...none, 1_000)), 0)
  assert.deepEqual(polled(servers, request, 1_000, 700), [[1, 700], [0n, 8n]])
  const response = answered(200, 'http://b/x', '17')
  assert.equal(leaf_judge(response, 1, ...module.input('order')), 0)
  assert.equal(module.ok(request_judged(servers, request, response, 0, 0, ...module.input('', 'http://b'), 1_000)), 1)
  module.ok(request_end(servers, request))
  assert.throws(() => module.ok(servers_error(servers, 0)), { code: 'segment_unavailable', message: 'http://a/x is away' })
  assert.equal(module.ok(servers_error(servers, 1)), 0)
  assert.equal(module.ok(servers_back_off_ms(servers, 1, 1_000)), 0)
  const next = module.ok(request_new(servers, ...module.input('other'), 1, 0, 0n, 9n, 300))
  assert.equal(polled(servers, next, 1_010)[0][0], 1, 'the first one backs off')
  const wrong = answered(401, 'http://b/y', '<html>')
  const judgement = leaf_judge(wrong, 1, ...module.input('other'))
  assert.equal(judgement, 4)
  const told = [judgement, module.numbers(1)[0], ...module.input(module.text(), 'http://b')]
  assert.equal(module.ok(request_judged(servers, next, wrong, ...told, 1_010)), 0)
  assert.throws(() => polled(servers, next, 1_010), { code: 'source_invalid', message: /answered 401/ })
  module.ok(request_end(servers, next))
  assert.equal(module.ok(servers_deny(servers, ...module.input('other'))), 0, 'one of them was away')
})

/** What the last call of single ids wants: [workers, timer, end, number, requests]. */
const wanted = () => module.numbers(5)

test('single ids: several requests at once, and a fetch ends once', () => {
  const single = module.ok(single_new(4))
  module.ok(single_fetch(single, 1, 3, 0, 1_000))
  assert.deepEqual(wanted(), [3, NaN, 0, 0, 0])
  assert.deepEqual([0, 0, 0, 0].map(() => module.ok(single_begin(single, 1_000))), [1, 1, 1, 0])
  assert.equal(module.ok(single_silent_since(single, 1)), 1_000)
  const came = (id, now) => module.ok(single_ended(single, 1, id, id + 1n, 1n, 0, 0, now))
  came(5n, 1_001)
  assert.deepEqual(wanted().slice(1, 3), [1_020, 0], 'others gather until then')
  module.ok(single_timer(single, 1, 1_020))
  assert.deepEqual(wanted().slice(2, 4), [1, 1])
  assert.deepEqual(module.ids(3), [5n, 6n, 1n])
  module.ok(single_fetch(single, 1, 2, 1, 1_030))
  module.ok(single_ended(single, 1, 0n, 0n, 0n, UNAVAILABLE, ...module.input('down'), 1_031))
  const [, , end, number, requests] = wanted()
  assert.deepEqual([end, number, requests, module.text()], [2, UNAVAILABLE, 2, 'down'])
  assert.equal(single_silent_since(single, 9), -1)
})

test('a stock grows with the use', () => {
  assert.deepEqual([0, 1, 100, 10_000].map(taken => module.ok(stock_target(1_000, 1, taken))), [1, 3, 201, 1_000])
  assert.equal(stock_wants(1_000, 1, 10, 1, 0), -1)
  assert.equal(module.ok(stock_wants(1_000, 1, 10, 0, 0)), 1)
  assert.equal(module.ok(stock_wants(1_000, 0, 10, 899, 5)), 101)
  assert.equal(module.ok(stock_piece(1_000, 1, 1, 10_000)), 100)
})

test('a buffer is filled from a queue, without a loss of what a number cannot hold', () => {
  const [buffer, queue] = [buffer_new(), pending_new()]
  const end = 2n ** 63n - 1n
  module.ok(pending_push(queue, 1n, end, 1n, 0))
  assert.equal(module.ok(buffer_refill(buffer, queue, NaN, NaN, 0)), 1)
  assert.equal(module.ok(buffer_segments(buffer, queue)), 1)
  assert.deepEqual(module.ids(3), [1n, end, 1n])
  assert.equal(buffer_take(buffer), 1n)
  assert.deepEqual([1, 2, 3].map(now => module.ok(buffer_run(buffer, now))), [1, 8, 64])
  assert.equal(buffer_take(buffer), 75n)
  // Of a stock short pieces, so that it is looked at often enough.
  const [pieces, more] = [buffer_new(), pending_new()]
  module.ok(pending_push(more, 1n, 101n, 1n, 0))
  assert.equal(module.ok(buffer_refill(pieces, more, 10, 50, 0)), 2)
  assert.equal(module.ok(buffer_segments(pieces, more)), 3)
  assert.deepEqual(module.ids(9), [1n, 11n, 1n, 11n, 20n, 1n, 20n, 101n, 1n])
})

test('the fetches of a tag are counted, and say why ids were left out', () => {
  const fetch = module.ok(fetch_new(100, 1))
  const state = () => (module.ok(fetch_state(fetch)), module.numbers(6))
  assert.deepEqual(state(), [100, 0, 0, 0, 0, 0])
  assert.equal(module.ok(fetch_poll(fetch, 1, 1, 1_000)), 1)
  assert.deepEqual(state().slice(1, 3), [1, 0])
  assert.equal(module.ok(fetch_begin(fetch, 0, 1_000, 1_000)), 1)
  assert.deepEqual(state().slice(1, 3), [1, 1])
  module.ok(fetch_succeeded(fetch, 100, NaN, 1_000, 12, ...module.input('came before')))
  assert.deepEqual(state().slice(1), [0, 0, 1, 0, 0])
  assert.throws(() => module.ok(module.exports.fetch_error(fetch)), { code: 'segment_regressed', message: 'came before' })
  for (const failures of [0, 0, 0, 0, 1]) {
    module.ok(fetch_poll(fetch, 1, 1, 9_000))
    module.ok(fetch_begin(fetch, 1, 1_000, 9_000))
    assert.equal(module.ok(fetch_failed(fetch, 12, ...module.input('came before'), 0, 9_000, 0n, 1)), failures)
  }
})

const bytes = (...segments) => new Uint8Array(BigInt64Array.from(segments.flat()).buffer)
const accept = (file, segments, after = 0n, order = 0) =>
  module.ok(mark_accept(...module.input('callback', 'order', 'mark', file, bytes(...segments)), order, after, 1_700_000_000_000))

test('a mark is the file of the native package, and refuses what came before', () => {
  const nothing = new Uint8Array()
  assert.equal(module.ok(mark_after(...module.input('callback', 'order', 'mark', nothing))), 0n)
  assert.equal(accept(nothing, [[1n, 11n, 1n]]), 1)
  assert.deepEqual([module.ids(3), module.numbers(3)], [[1n, 11n, 1n], [0, 0, 0]])
  const file = module.output()
  assert.equal(file.length, 8192)
  const [, slot] = new TextDecoder().decode(file.subarray(0, 4096)).match(/^(\{.*\})/)
  const { leafid, number, source, tag, mark, fetched_ms } = JSON.parse(slot)
  assert.deepEqual([leafid, number, source, tag, mark, fetched_ms], ['mark', 2, 'callback', 'order', '11', 1_700_000_000_000])
  assert.equal(module.ok(mark_after(...module.input('callback', 'order', 'mark', file))), 11n)
  assert.throws(() => accept(file, [[5n, 15n, 1n]], 0n), { code: 'segment_regressed' })
  assert.throws(() => accept(file, [[11n, 21n, 1n]], 30n), { code: 'segment_regressed' })
  // Of several those that are new: the error of the others follows the bytes.
  assert.equal(accept(file, [[1n, 2n, 1n], [20n, 21n, 1n]], 0n, 1), 1)
  assert.deepEqual([module.ids(3), module.numbers(3)], [[20n, 21n, 1n], [1, 0, 12]])
  const next = module.output()
  assert.match(new TextDecoder().decode(next.subarray(8192)), /^the source gave the segment from 1 to 2/)
  assert.deepEqual(next.subarray(0, 4096), file.subarray(0, 4096), 'the other slot is as it was')
  assert.equal(module.ok(mark_recent(...module.input('mark', file))), 1_700_000_000_000)
  assert.equal(module.text(), 'order')
  // A damaged slot: the other one is used. Both, or another tag's: refused.
  const half = file.slice().fill(120, 4096)
  assert.equal(accept(half, [[11n, 21n, 1n]]), 1)
  assert.deepEqual(module.numbers(2), [1, 1])
  assert.throws(() => accept(file.slice().fill(120), [[11n, 21n, 1n]]), { code: 'state_corrupt', message: /^mark is / })
  assert.throws(() => module.ok(mark_after(...module.input('callback', 'other', 'mark', file))), { code: 'state_corrupt' })
})

test('marks have the names of the native package', () => {
  module.ok(mark_name(...module.input('callback', 'a/b')))
  assert.match(module.text(), /^segment-[0-9a-f]{16}-a%2fb\.mark$/)
  const name = module.text()
  module.ok(mark_name(...module.input('callback'), -1))
  assert.ok(name.startsWith(module.text()))
})

test('options of segments are checked', () => {
  const check = ({ source = 0, name = 'orders', ordered = -1, numbers = [] } = {}) =>
    module.ok(segments_check(source, ...module.input(name), ...Array.from({ length: 7 }, (_, at) => numbers[at] ?? NaN), ordered))
  assert.deepEqual([0, 1, 2, 3, 4].map(source => check({ source })), [0, 1, 2, 0, 1])
  assert.deepEqual(module.numbers(7), [NaN, 10, 2_000, 1_000, 300, 4, 1])
  check({ source: 2 })
  assert.equal(module.numbers(7)[6], 0)
  assert.deepEqual([check({ ordered: 0 }), check({ source: 4, ordered: 1 })], [1, 0])
  for (const [given, message] of [
    [{ name: 'a b' }, /^name is /],
    [{ numbers: [0] }, /^step is 0/],
    [{ numbers: [1.5] }, /^step is /],
    [{ numbers: [NaN, 101] }, /^prefetch is 101/],
    [{ numbers: [NaN, NaN, 0] }, /^timeout_ms is 0/],
    [{ numbers: [NaN, NaN, NaN, NaN, NaN, 65] }, /^connections is 65/],
    [{ source: 3, numbers: [NaN, NaN, NaN, NaN, NaN, NaN, 5] }, /^block_size is 5/],
    [{ source: 1, ordered: 1 }, /^ordered_source is true/],
    [{ source: 4, numbers: [5] }, /^step is 5/],
  ]) {
    assert.throws(() => check(given), { code: 'invalid_argument', message })
  }
})
