// The protocols of servers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module, vectors } from './module.mjs'

const module = new Module()
const {
  leaf_check_tag, leaf_judge, leaf_request, range_judge, range_request, response_new, tinyid_judge, tinyid_judge_reason,
  tinyid_request,
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
