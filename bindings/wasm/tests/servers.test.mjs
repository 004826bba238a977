// The protocols of servers, and leases.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module, vectors } from './module.mjs'

const NOW = 1_600_000_000_000
const tickOf = ms => ms - 1_288_834_974_657
const module = new Module()
const {
  free, held_begin_call, held_bound, held_due_in_ms, held_is_over, held_lease, held_new, held_released, held_take,
  leaf_check_tag, leaf_judge, leaf_request, lease_check_peers, lease_claim_judge, lease_claim_request, lease_fields, lease_new,
  lease_release_judge, lease_release_request, lease_renewal_judge, lease_renewal_request, lease_span, loss_claim_failed, loss_new,
  loss_poll, peers_check, range_judge, range_request, renewal_failed, renewal_new, response_new, tinyid_judge,
  tinyid_judge_reason, tinyid_request,
} = module.exports

/** The request that a call has made. */
function request(returned) {
  module.ok(returned)
  const [post, once, ...lengths] = module.numbers(5)
  const [path, type, body] = lengths.map(length => Math.max(length, 0)).map((length, at, all) => {
    const from = all.slice(0, at).reduce((sum, before) => sum + before, 0)
    return new TextDecoder().decode(module.output().subarray(from, from + length))
  })
  return { method: post ? 'POST' : 'GET', once: once === 1, path, ...(lengths[2] < 0 ? {} : { type, body }) }
}

function response(status, body, { url = 'http://a/x', option = 0, location, flaw } = {}) {
  const [u, l, f, b] = module.input(url, location ?? '', flaw ?? '', body)
  return module.ok(response_new(status, option, u, location === undefined ? -1 : l, flaw === undefined ? -1 : f, b))
}

/** What a judgement found: a segment and its step, or the error. */
function judged(number) {
  assert.ok(number >= 0 && number <= 4, module.text())
  if (number > 0) return { number, error: module.numbers(1)[0], message: module.text() }
  return { ids: module.ids(3), step: module.numbers(1)[0] }
}

test('a tinyid', () => {
  const { cases, refused } = vectors('tinyid.json')
  assert.ok(cases.length > 0 && refused.length > 0)
  const judge = (body, status = 200) => judged(tinyid_judge(response(status, body), ...module.input('order')))
  for (const { body, ids } of cases) {
    const [start, end, stride] = judge(body).ids
    const found = []
    for (let id = start; id < end; id += stride) found.push(String(id))
    assert.deepEqual(found, ids, body)
  }
  for (const body of refused) assert.ok(judge(body).number >= 2, body)
  assert.deepEqual(request(tinyid_request(...module.input('a b', 't&'), 0, 0n, 255n)), {
    method: 'POST', once: false, path: `/tinyid/id/nextSegmentIdSimple?nonce=${'f'.padStart(31, '0')}f`,
    type: 'application/x-www-form-urlencoded', body: 'bizType=a%20b&token=t%26',
  })
  assert.match(request(tinyid_request(...module.input('a', 't'), 1, 1n, 0n)).path, /nextSegmentId\?nonce=00000000000000010{16}$/)
  const [tag, message] = module.input('order', 'none')
  const answer = response(200, '{"code":5,"message":"x"}')
  module.input('order', 'none')
  assert.deepEqual([judged(tinyid_judge_reason(answer, tag, 11, message))].map(({ number, error }) => [number, error]), [[4, 11]])
})

test('tags are encoded in URLs', () => {
  const { cases } = vectors('tags.json')
  assert.ok(cases.length > 0)
  for (const { tag, path } of cases) {
    if (path === undefined) continue
    const found = request(range_request(...module.input(tag), 0, 5n, 0, 0n, 0n))
    assert.equal(found.path, `/api/segment/range/${path}?after=5&nonce=${'0'.repeat(32)}`)
  }
})

test('a Leaf', () => {
  const judge = (status, body, options) => judged(leaf_judge(response(status, body, options), 1, ...module.input('order')))
  const path = request(leaf_request(1, ...module.input('order'), -1n, -1n)).path
  assert.equal(path, `/api/segment/get/order?nonce=${'f'.repeat(32)}`)
  assert.match(request(leaf_request(0, ...module.input('order'), 0n, 0n)).path, /^\/api\/snowflake\/get\/order\?/)
  assert.deepEqual(judge(200, '17').ids, [17n, 18n, 1n])
  assert.ok(Number.isNaN(judge(200, '17').step))
  assert.deepEqual([judge(200, '<html>').number, judge(200, '<html>').error], [3, 13])
  assert.match(judge(302, '', { location: 'http://b/' }).message, /redirects to "http:\/\/b\/"/)
  assert.match(judge(200, '17', { flaw: 'was cut short' }).message, /the answer was cut short/)
  assert.match(judge(503, '', { option: 1 }).message, /^http:\/\/a\/x answered 503 without a body/)
  assert.throws(() => module.ok(leaf_check_tag(1, ...module.input('a.b'))), { code: 'invalid_argument' })
  assert.equal(module.ok(leaf_check_tag(10, ...module.input('a-x10'))), 0)
})

test('a server of ranges', () => {
  const nonce = `${'0'.repeat(15)}1${'0'.repeat(15)}2`
  assert.equal(request(range_request(...module.input('order'), 1_000, 900n, 1, 1n, 2n)).path, `/api/segment/range/order?step=1000&after=900&nonce=${nonce}`)
  const judge = (fields, after = 900n) => {
    const body = JSON.stringify({ tag: 'order', start: '1000', end: '2000', stride: 1, step: 500, nonce, ...fields })
    return judged(range_judge(response(200, body), ...module.input('order'), 1_000, after, 1, 1n, 2n))
  }
  assert.deepEqual(judge({}), { ids: [1_000n, 2_000n, 1n], step: 500 })
  assert.match(judge({ nonce: 'x' }).message, /is to another request/)
  assert.equal(judge({}, 1_001n).error, 12)
})

/** A lease of worker id 7 from NOW on, as the tests' server grants it. */
function claimed() {
  const instance = 'c'.repeat(32)
  const { path, body } = request(lease_claim_request(...module.input('orders', instance), NOW, NOW + 30_000))
  assert.equal(path, '/api/worker/claim')
  assert.deepEqual(JSON.parse(body), { name: 'orders', instance, now: NOW, until: NOW + 30_000 })
  const answer = { worker_id: 7, from: NOW, until: NOW + 30_000, lease_ms: 10_000, peer_times: [NOW, NOW, NOW], token: 't', instance }
  const judge = body => lease_claim_judge(response(200, JSON.stringify(body), { option: 1 }), ...module.input('orders', instance))
  assert.equal(judge({ ...answer, instance: 'd' }), 3)
  assert.equal(judge(answer), 0)
  return module.numbers(1)[0]
}

test('a lease is claimed, renewed and released', () => {
  const lease = claimed()
  module.ok(lease_fields(lease))
  assert.deepEqual([module.numbers(5), module.text()], [[7, NOW, NOW + 30_000, 10_000, 1], 't'])
  const layout = module.layout('leaf')
  module.ok(lease_span(lease, layout, module.rules(), NOW))
  assert.deepEqual(module.numbers(2), [tickOf(NOW), tickOf(NOW) + 30_000])
  assert.equal(module.ok(lease_check_peers(lease, NOW + 9_999)), 0)
  assert.throws(() => module.ok(lease_check_peers(lease, NOW + 10_000)), { code: 'clock_backwards' })
  const peers = new Uint8Array(BigInt64Array.of(BigInt(NOW), BigInt(NOW), 0n).buffer)
  assert.equal(module.ok(peers_check(...module.input(peers), NOW + 9_999)), 0)
  assert.throws(() => module.ok(peers_check(...module.input(peers), NOW + 10_000)), { code: 'clock_backwards' })

  const held = module.ok(held_new(lease, tickOf(NOW) + 30_000, 1_000, NOW, 300))
  assert.equal(module.ok(held_begin_call(held, 5_999, NOW + 4_999, 0)), 0)
  assert.equal(module.ok(held_due_in_ms(held, 1_000)), 5_000)
  const renewing = module.ok(held_begin_call(held, 6_000, NOW + 5_000, 0))
  const [wish] = module.numbers(1)
  assert.equal(wish, NOW + 30_000)
  const { once, body } = request(lease_renewal_request(renewing, wish, ...module.input('orders', 'n1')))
  assert.deepEqual([once, JSON.parse(body)], [true, { name: 'orders', worker_id: 7, token: 't', until: wish, nonce: 'n1' }])
  const renewed = JSON.stringify({ until: NOW + 40_000, lease_ms: 10_000, token: 'u', nonce: 'n1' })
  assert.equal(lease_renewal_judge(response(200, renewed, { option: 1 }), ...module.input('n2')), 3)
  assert.equal(lease_renewal_judge(response(200, renewed, { option: 1 }), ...module.input('n1')), 0)
  const [result] = module.numbers(1)
  assert.equal(module.ok(held_take(held, result, layout, 6_000, 6_010, NOW + 5_010)), 0)
  assert.equal(module.ok(held_bound(held, 15_999)), tickOf(NOW) + 40_000)
  assert.equal(module.ok(held_bound(held, 16_000)), 0)
  module.ok(lease_fields(module.ok(held_lease(held))))
  assert.equal(module.text(), 'u')
  const released = module.ok(held_released(held, 0))
  assert.deepEqual(JSON.parse(request(lease_release_request(released, NOW, ...module.input('orders'))).body).token, 'u')
  assert.equal(lease_release_judge(response(204, '', { option: 1 })), 0)
  free(held)
})

test('a lease that is lost is claimed anew, with pauses', () => {
  const layout = module.layout('leaf')
  const lease = module.ok(lease_new(7, NOW, NOW + 3_000, 1_000, ...module.input('first')))
  const held = module.ok(held_new(lease, tickOf(NOW) + 3_000, 0, NOW, 300))
  assert.ok(module.ok(held_begin_call(held, 500, NOW + 500, 0)) > 0)
  const kept = module.ok(renewal_new(NOW + 4_000, NaN, -1))
  assert.equal(module.ok(held_take(held, kept, layout, 500, 500, NOW + 500)), 0)
  const down = module.ok(renewal_failed(7, ...module.input('down')))
  assert.equal(module.ok(held_take(held, down, layout, 600, 600, NOW + 600)), 1)
  assert.deepEqual([module.numbers(1), module.text()], [[7], 'down'])
  assert.equal(module.ok(held_is_over(held, 600, tickOf(NOW) + 600)), 0)
  assert.equal(module.ok(held_is_over(held, 1_500, tickOf(NOW) + 1_500)), 1)
  assert.match(module.text(), /could not be renewed \(down\)/)
  const unknown = module.ok(renewal_failed(-4, ...module.input('away')))
  assert.equal(module.ok(held_take(held, unknown, layout, 700, 700, NOW + 700)), 1)
  assert.deepEqual([module.numbers(1), module.text()], [[4], 'away'])
  const other = module.ok(renewal_failed(0, ...module.input('')))
  assert.equal(module.ok(held_take(held, other, layout, 700, 700, NOW + 700)), 2)
  const why = module.text()
  assert.match(why, /no longer held here/)
  assert.equal(module.ok(held_released(held, other)), 0)

  const loss = module.ok(loss_new(7, 6, ...module.input(why), 0, 700, 0))
  assert.equal(module.ok(loss_poll(loss, 700, 20_000, 0)), 0)
  assert.deepEqual(module.numbers(1), [1])
  assert.equal(module.ok(loss_poll(loss, 700, 20_000, 0)), 1)
  assert.equal(module.ok(loss_claim_failed(loss, 1, 6, ...module.input('down'), 700)), 1)
  assert.equal(module.ok(loss_poll(loss, 700, 20_000, 0)), 2)
  assert.deepEqual(module.numbers(2), [200, 6])
  assert.match(module.text(), /no other could be claimed: down/)
  assert.equal(module.ok(loss_claim_failed(loss, 9, 6, ...module.input('late'), 700)), 0)
})
