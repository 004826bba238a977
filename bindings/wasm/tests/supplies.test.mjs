// Supplies: what no scenario says of the exports.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from './module.mjs'
import { Stage } from './scenario_stage.mjs'

const callback = { fetch: { callback: true } }
const alone = { ...callback, name: 'shop', step: 10, adaptive: false, persist: false }
const range = { ...alone, fetch: undefined, servers: ['http://a', 'http://b'], protocol: 'range', step: undefined }
const invalid = message => ({ code: 'invalid_argument', message })
const counted = (first, count) => Array.from({ length: count }, (_, at) => BigInt(first + at))

/** A supply, and its tag "order" whose ids a caller waits for. */
function opened(options = {}, calls = undefined, take = { take: 1 }) {
  const stage = new Stage('segments', { ...alone, ...options }, calls).play({ open: 'a' }, { ...take, by: 'x' })
  const [supply] = stage.processes
  return { stage, supply, order: supply.tag(take.tag) }
}

const asked = ({ stage }) => stage.next().asked[0]
const fetched = (start, end) => ({ asks: 'fetch', gives: { start, end } })

test('the options are those of the native package', () => {
  const module = new Module()
  const made = given => (module.call('supply_new', JSON.stringify(given), '', 0n), [module.numbers(2), module.text()])
  assert.deepEqual(made({ ...callback, persist: false }), [[2_000, 0], 'default\ncallback'])
  assert.deepEqual(made({ servers: 'http://a', protocol: 'range', timeout_ms: 5 }), [[5, 1], 'default\nrange'])
  for (const [given, message] of [
    [{}, /^servers is not set, nor is fetch/],
    [{ ...callback, name: 'a b' }, /^name is "a b"/],
    [{ ...callback, step: 1.5 }, /^step is 1.5/],
    [{ ...callback, prefetch: 101 }, /^prefetch is 101/],
    [{ ...callback, protocol: 'range' }, /^protocol is set/],
    [{ ...callback, nonsense: 1 }, /^"nonsense" is an unknown option/],
    [{ servers: ['http://a'], connections: 65 }, /^connections is 65/],
    [{ servers: ['http://a'], ordered_source: true }, /^ordered_source is true/],
    [{ servers: ['http://a'], protocol: 'tinyid', step: 5 }, /^step is 5/],
    [{ servers: ['http://a'], protocol: 'range', prewarm: ['order-x100'] }, /^tag is "order-x100"/],
    [{ servers: ['file:/x'] }, /^servers is file:/],
  ]) {
    assert.throws(() => made(given), invalid(message))
  }
  assert.throws(() => module.call('supply_new', 'no object', '', 0n), invalid(/^options is /))
})

test('tags are checked, and have one number each', () => {
  const { supply, order } = opened()
  assert.equal(supply.tag('order'), order)
  assert.notEqual(supply.tag('other'), order)
  for (const tag of ['', 'a\n', 'x'.repeat(129), 'order-x100']) assert.throws(() => supply.tag(tag), invalid(/^tag is /))
  assert.throws(() => supply.some(99, 0), { code: 'closed' })
})

test('runs grow while the tag is used, and end before the id that has the next segment fetched', () => {
  const { stage, supply, order } = opened()
  stage.play(fetched(1, 16), { gets: 'x', ids: [1] })
  assert.deepEqual([supply.some(order, 0), supply.some(order, 0)], [[2n], counted(3, 8)])
  stage.play({ comment: '' }, fetched(16, 26))
  assert.deepEqual([supply.some(order, 3), supply.some(order, 99)], [counted(11, 3), counted(14, 2)])
})

test('all of some ids or none, and what was taken for them comes again', () => {
  const { stage, supply, order } = opened()
  const says = /^no id of the tag "order" is at hand, and its fetch needs this thread's event loop/
  const blocked = { code: 'would_block', message: says }
  assert.throws(() => supply.all(order, 3), blocked)
  stage.play(fetched(1, 10_002), { gets: 'x', ids: [1] })
  assert.throws(() => supply.all(order, 10_001), blocked)
  stage.play({ comment: '' }, { asks: 'fetch', step: 10_001, later: 'the fetch' })
  assert.deepEqual(supply.all(order, 9_000), counted(2, 9_000))
  assert.equal(supply.some(order, 5_000).length, 1_000)
  stage.play({ answers: 'the fetch', gives: { start: 10_002, end: 10_012 } })
  assert.equal(supply.some(order, 5_000).length, 10)
})

test('more ids than a host asked for at once are not lost', () => {
  const options = { fetch: undefined, servers: 'http://a', block_size: 100, step: 600, prefetch: 100, connections: 8 }
  const stage = new Stage('segments', { ...alone, ...options }).play({ open: 'a' })
  const [supply] = stage.processes
  const order = supply.tag('order-x100')
  assert.deepEqual(supply.some(order, 0, 600), [])
  supply.drive()
  const answer = block => ({ asks: 'GET http://a/api/segment/get/order-x100', gives: `${block}` })
  stage.play(...[5, 17, 3, 29, 41, 11].map(answer), { pass_ms: 1_000 })
  // Two of the blocks are in the buffer, and the others beside it.
  const ids = []
  let some
  do {
    some = supply.some(order, 30, 100)
    assert.ok(some.length <= 30)
    ids.push(...some)
  } while (some.length > 0 || supply.of('wait', order, 1) === 1)
  assert.deepEqual(ids.sort((one, other) => Number(one - other)), [3, 5, 11, 17, 29, 41].flatMap(block => counted(100 * block, 100)))
})

test('what the source gave before is refused after the end of a supply too, and a call has one machine', () => {
  const { stage, supply } = opened()
  stage.play(fetched(1, 11), { gets: 'x', ids: [1] }, { close: 'a' }, { closed: 'a' })
  assert.throws(() => supply.tag('order'), { code: 'closed', message: 'the segments were closed; open them again' })
  const [again, other] = ['b', 'c'].map(name => new supply.constructor(stage, name, alone, supply.module))
  stage.processes = [again, other]
  stage.play({ take: 1, of: 'b', by: 'x' }, { asks: 'fetch', after: 11, gives: { start: 5, end: 15 } }, { log: '…segment_regressed…' })
  stage.play({ take: 1, of: 'c', by: 'y' })
  const [{ call }] = other.asked
  again.call('call_fetched', call, 100n, 110n, 1n)
  assert.throws(() => again.at('done', call), { code: 'internal' })
  assert.throws(() => other.at('done', call), { code: 'closed' }, 'it is freed')
})

test('a mark is the file of the native package; a store that was cleared, and a transaction that starts again', () => {
  const { stage, supply } = opened({ persist: true }, ['update_mark'])
  stage.play(fetched(1, 11))
  const { texts: [file] } = asked({ stage })
  assert.match(file, /^segment-[0-9a-f]{16}-order\.mark$/)
  supply.useDisk(asked({ stage }))
  stage.disk.files.clear()
  stage.play({ asks: 'update_mark' }, { gets: 'x', ids: [1] })
  const bytes = stage.disk.files.get(`shop/${file}`)
  assert.equal(bytes.length, 8192)
  const { leafid, number, source, tag, mark, fetched_ms } = JSON.parse(/^\{.*\}/.exec(new TextDecoder().decode(bytes.subarray(0, 4096))))
  assert.deepEqual([leafid, number, source, tag, mark, fetched_ms], ['mark', 2, 'callback', 'order', '11', stage.wall])
  // Of another place nothing is known.
  for (const [place, ids] of [['shop', undefined], ['another', [5]]]) {
    stage.disk.files.clear()
    const after = new supply.constructor(stage, place, { ...alone, persist: true }, supply.module)
    if (ids) after.call('supply_place', after.machine, place)
    stage.processes = [after]
    stage.play({ take: 1, by: place }, { asks: 'fetch', after: 0, gives: { start: 5, end: 15 } }, { asks: 'update_mark' })
    stage.play(ids ? { gets: place, ids } : { log: '…segment_regressed…' })
  }
})

test('the tags of the last day are fetched ahead', () => {
  const { stage } = opened({ persist: true })
  stage.play(fetched(1, 11), { gets: 'x', ids: [1] }, { open: 'b', options: { prewarm: 'last-day' } })
  const [, supply] = stage.processes
  stage.play({ asks: 'fetch', of: 'b', tag: 'order', after: 11, gives: { start: 11, end: 21 } })
  assert.equal(supply.call('supply_stats', supply.machine), 0)
  assert.deepEqual(supply.module.list(), ['order'])
})

test('the form of a tinyid has its token, which is no header', () => {
  const of = opened({ ...range, protocol: 'tinyid', token: 't&' }, undefined, { take: 1, tag: 'a b' })
  const form = ['application/x-www-form-urlencoded', 'bizType=a%20b&token=t%26', 'Accept', 'application/json']
  assert.deepEqual(asked(of).texts.slice(1), form)
})

test('a request has less time if another server could be asked, and its error is reported of the server', () => {
  const { stage, supply } = opened(range)
  assert.deepEqual(asked({ stage }).numbers.slice(1, 3), [300, 300])
  stage.play({ asks: 'POST http://a/api/segment/range/order', fails: 'closed' })
  assert.equal(supply.call('supply_stats', supply.machine), 2)
  const [url, error, other, none] = supply.module.list()
  assert.deepEqual([url, other, none], ['http://a', 'http://b', null])
  assert.match(error, /^http:\/\/a\/.* cannot be reached: closed/)
  stage.play({ asks: 'POST http://b/api/segment/range/order', status: 0, gives: '' }, { stats: 'a', last_error: '…redirects…' })
  assert.deepEqual(supply.stats({}).outcomes, ['source_invalid', '1'])
})
