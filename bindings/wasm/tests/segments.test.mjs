// Segments: buffers, guards and fetches.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module, vectors } from './module.mjs'

const USED_UP = -103n
const module = new Module()
const {
  buffer_new, buffer_offer, buffer_reserve, buffer_seal, buffer_state, buffer_take,
  fetch_begin, fetch_cancelled, fetch_error, fetch_failed, fetch_needs, fetch_new, fetch_poll, fetch_succeeded, fetch_timer,
  guard_mark, guard_new, guard_offer, guard_spans,
  pending_drop_first, pending_first, pending_ids, pending_new, pending_push, tag_check,
  tag_of_ids_check,
} = module.exports

/** A buffer with these segments of stride 1. */
function buffer(...segments) {
  const handle = buffer_new()
  for (const [start, end] of segments) assert.equal(module.ok(buffer_offer(handle, start, end, 1n, NaN)), 1)
  return handle
}

const taken = handle => module.ok(buffer_take(handle))

test('a fetch is due once for each segment, after a tenth of it', () => {
  const { cases } = vectors('prefetch.json')
  assert.ok(cases.length > 0)
  for (const { length, nth } of cases) {
    const handle = buffer([1n, 1n + BigInt(length)])
    const due = Array.from({ length }, () => (taken(handle), module.numbers(1)[0]))
    assert.deepEqual(due, due.map((_, at) => Number(at + 1 === nth)), `of ${length}`)
    assert.equal(buffer_take(handle), USED_UP)
  }
})

test('ids come in the order of the segments, from 0 on', () => {
  for (const { max_id, db_step, processes, first, contiguous_through, round_robin } of vectors('segment_issue.json').cases) {
    let next = BigInt(max_id)
    const refill = handle => {
      assert.equal(module.ok(buffer_offer(handle, next, next + BigInt(db_step), 1n, NaN)), 1)
      next += BigInt(db_step)
    }
    const handles = Array.from({ length: processes }, buffer_new)
    handles.forEach(refill)
    const expected = round_robin ?? first
    const ids = expected.map((_, at) => String(taken(handles[at % processes])))
    assert.deepEqual(ids, expected)
    for (let id = BigInt(first?.length ?? 0) + BigInt(max_id); id <= BigInt(contiguous_through ?? -1); id++) {
      module.ok(buffer_state(handles[0]))
      if (module.numbers(3)[2] === 1) refill(handles[0])
      assert.equal(taken(handles[0]), id)
    }
  }
})

test('many ids are taken at once, and what is left at the end is known', () => {
  const handle = buffer([1n, 101n], [201n, 301n])
  assert.equal(module.ok(buffer_offer(handle, 401n, 501n, 1n, NaN)), 0, 'both slots are in use')
  assert.equal(module.ok(buffer_reserve(handle, 20, 1)), 11, 'the one that makes a fetch due begins the next run')
  assert.deepEqual([module.ids(2), module.numbers(1)], [[1n, 2n], [0]])
  assert.equal(module.ok(buffer_reserve(handle, 20, 1)), 20)
  assert.deepEqual(module.numbers(1), [1])
  assert.equal(module.ok(buffer_reserve(handle, 5_000, 0)), 69)
  module.ok(buffer_state(handle))
  assert.deepEqual(module.numbers(5), [100, 100, 1, 0, 0])
  assert.equal(taken(handle), 201n)
  assert.equal(module.ok(buffer_seal(handle)), 1)
  assert.deepEqual(module.ids(3), [202n, 301n, 1n])
  assert.throws(() => taken(handle), { code: 'closed' })
  assert.throws(() => module.ok(buffer_offer(buffer_new(), 5n, 5n, 1n, NaN)), { code: 'source_invalid' })
  assert.throws(() => module.ok(buffer_offer(buffer_new(), 5n, 6n, 1n, 101)), { code: 'invalid_argument' })
})

test('segments wait in a queue for room', () => {
  const queue = pending_new()
  module.ok(pending_push(queue, 10n, 20n, 1n, 0))
  module.ok(pending_push(queue, 1n, 4n, 1n, 1))
  assert.equal(module.ok(pending_ids(queue)), 13)
  assert.equal(module.ok(pending_first(queue, 2)), 1)
  assert.deepEqual(module.ids(3), [1n, 3n, 1n])
  module.ok(pending_drop_first(queue, 3))
  assert.equal(module.ok(pending_first(queue, 99)), 1)
  assert.deepEqual(module.ids(3), [10n, 20n, 1n])
  module.ok(pending_drop_first(queue, 10))
  assert.equal(module.ok(pending_first(queue, 1)), 0)
})

test('a guard refuses what came before, also after a restart', () => {
  const guard = module.ok(guard_new(1, 0n, 0, 32))
  module.ok(guard_offer(guard, 1n, 101n, 1n, 0n))
  module.ok(guard_offer(guard, 1_001n, 1_101n, 1n, 0n))
  assert.equal(guard_mark(guard), 1_101n)
  assert.throws(() => module.ok(guard_offer(guard, 100n, 200n, 1n, 0n)), { code: 'segment_regressed', message: /cross those given before/ })
  assert.equal(module.ok(guard_spans(guard)), 2)
  const spans = module.ids(6)
  assert.deepEqual(spans, [1n, 101n, 1n, 1_001n, 1_101n, 1n])
  module.input(new Uint8Array(BigInt64Array.from(spans).buffer))
  const resumed = module.ok(guard_new(1, 1_101n, 2, 32))
  assert.throws(() => module.ok(guard_offer(resumed, 100n, 200n, 1n, 0n)), { code: 'segment_regressed' })
  module.ok(guard_offer(resumed, 101n, 200n, 1n, 0n))
  const ascending = module.ok(guard_new(0, 500n, 0, 32))
  assert.throws(() => module.ok(guard_offer(ascending, 400n, 500n, 1n, 500n)), { code: 'segment_regressed' })
  assert.throws(() => module.ok(guard_new(3, 0n, 0, 32)), { code: 'invalid_argument' })
})

test('the step follows the use', () => {
  const { cases } = vectors('adaptive_step.json')
  assert.ok(cases.length > 0)
  for (const { name, db_step, fetches } of cases) {
    const fetch = module.ok(fetch_new(db_step, 1))
    let now = 10_000_000
    for (const { previous_fetch_age_ms, step, db_step: changed } of fetches) {
      now += previous_fetch_age_ms ?? 0
      assert.equal(module.ok(fetch_poll(fetch, 1, 1, now)), 1, name)
      assert.equal(module.ok(fetch_begin(fetch, 0, db_step, now)), 1, name)
      const [wanted, asked] = module.numbers(2)
      if (changed === undefined) assert.deepEqual([wanted, asked], [step, step], name)
      module.ok(fetch_succeeded(fetch, wanted, changed ?? db_step, now))
    }
  }
})

test('fetches never overlap, and back off after failures', () => {
  const fetch = module.ok(fetch_new(100, 0))
  const poll = (now, waits = 1) => module.ok(fetch_poll(fetch, waits, 1, now))
  assert.equal(poll(1_000), 1)
  assert.equal(poll(1_000), 0)
  module.ok(fetch_needs(fetch, 250))
  assert.equal(module.ok(fetch_begin(fetch, 0, 100, 1_000)), 1)
  assert.deepEqual(module.numbers(3), [100, 250, 0])
  assert.equal(module.ok(fetch_failed(fetch, 11, ...module.input('no answer'), 0, 1_000, 0n)), 1)
  assert.throws(() => module.ok(fetch_error(fetch)), { code: 'segment_unavailable', message: 'no answer' })
  assert.deepEqual(module.numbers(1), [0])
  assert.equal(poll(1_100), 2)
  assert.deepEqual(module.numbers(1), [1_200])
  assert.equal(module.ok(fetch_timer(fetch, 1_199)), 0)
  assert.equal(module.ok(fetch_timer(fetch, 1_200)), 1)
  assert.equal(poll(1_200), 1)
  assert.equal(module.ok(fetch_begin(fetch, NaN, 100, 1_200)), 0)
  assert.equal(poll(1_200), 1)
  module.ok(fetch_cancelled(fetch))
  assert.equal(poll(1_200), 1)
  assert.equal(module.ok(fetch_begin(fetch, 0, 100, 1_200)), 1)
  module.ok(fetch_failed(fetch, 10, ...module.input('unknown'), 0, 1_200, 0n))
  assert.throws(() => module.ok(fetch_error(fetch)), { code: 'unknown_tag' })
  assert.deepEqual(module.numbers(1), [1])
  assert.equal(poll(99_000, 0), 0, 'only for a caller')
  assert.equal(poll(99_000), 1)
  assert.equal(module.ok(fetch_begin(fetch, 0, 100, 99_000)), 1)
  module.ok(fetch_succeeded(fetch, 100, NaN, 99_000))
  assert.equal(module.ok(fetch_error(fetch)), 0)
  assert.throws(() => module.ok(fetch_failed(fetch, 99, ...module.input(''), 0, 0, 0n)), { code: 'invalid_argument' })
})

test('tags are checked', () => {
  assert.equal(module.ok(tag_check(...module.input('order/2026'))), 0)
  assert.equal(module.ok(tag_of_ids_check(1, ...module.input('order-x100'))), 0)
  for (const size of [NaN, 100]) {
    assert.throws(() => module.ok(tag_of_ids_check(size, ...module.input('order-x100'))), { code: 'invalid_argument' })
  }
  for (const tag of ['', 'a\n', 'x'.repeat(129)]) assert.throws(() => module.ok(tag_check(...module.input(tag))), { code: 'invalid_argument' })
})
