// Supplies: what a host is asked for, in which order, and what comes of how it ended.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vectors } from './module.mjs'
import { FETCH, HTTP, Host, LIST, READ, UPDATE, USED_UP, alone, callback, list, module } from './supply_host.mjs'

const { exports } = module
const waits = (host, tag) => host.call('wait', tag, 1)
const invalid = message => ({ code: 'invalid_argument', message })

test('the options are those of the native package', () => {
  const { opened } = new Host({ ...callback, persist: false })
  assert.deepEqual(opened, [[2_000, 0], 'default\ncallback'])
  assert.deepEqual(new Host({ servers: 'http://a', protocol: 'range', timeout_ms: 5 }).opened, [[5, 1], 'default\nrange'])
  for (const [given, message] of [
    [{}, /^servers is not set, nor is fetch/],
    [{ ...callback, name: 'a b' }, /^name is "a b"/],
    [{ ...callback, step: 0 }, /^step is 0/],
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
    assert.throws(() => new Host(given), invalid(message))
  }
  const json = module.input('no object')
  assert.throws(() => module.ok(exports.supply_new(...json, 0n)), invalid(/^options is /))
})

test('tags are checked, and have one number each', () => {
  const host = new Host(alone(callback))
  assert.equal(host.tag('order'), host.tag('order'))
  assert.notEqual(host.tag('order'), host.tag('other'))
  for (const tag of ['', 'a\n', 'x'.repeat(129), 'order-x100']) assert.throws(() => host.tag(tag), invalid(/^tag is /))
  const leaf = new Host(alone({ servers: 'http://a' }))
  assert.throws(() => leaf.tag('a.b'), invalid(/^tag is /))
  assert.throws(() => host.run(99), { code: 'closed' })
})

test('ids come to who waits, and then from memory', () => {
  const host = new Host(alone(callback))
  const order = host.tag('order')
  assert.equal(host.call('run', order, 0, 15), USED_UP)
  assert.equal(waits(host, order), 0)
  const call = host.one()
  assert.deepEqual([call.kind, call.numbers[0], call.texts], [FETCH, 15, ['0', 'order']])
  assert.equal(host.calls().length, 0, 'one fetch at a time')
  host.fetched(call, [1n, 16n, 1n])
  host.calls()
  assert.deepEqual(host.woken, [order])
  assert.equal(waits(host, order), 1)
  // Runs grow while the tag is used, and end before the id that has the next segment fetched.
  assert.deepEqual([host.run(order), host.run(order)], [[1n], [2n]])
  assert.deepEqual(host.calls(), [])
  assert.deepEqual(host.run(order), [3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n])
  const next = host.one()
  assert.deepEqual([next.numbers[0], next.texts], [10, ['16', 'order']])
  assert.deepEqual([host.run(order, 3), host.run(order, 99)], [[11n, 12n, 13n], [14n, 15n]])
  // A line that rests is not woken.
  assert.equal(waits(host, order), 0)
  assert.equal(host.stats(order).waiting, 1)
  host.call('wait', order, 0)
  assert.equal(host.stats(order).waiting, 0)
  host.fetched(next, [16n, 26n, 1n])
  host.calls()
  assert.deepEqual(host.woken, [order])
  assert.deepEqual(host.run(order, 99), [16n, 17n, 18n, 19n, 20n, 21n, 22n, 23n, 24n, 25n])
})

test('all of some ids or none, and what was taken for them comes again', () => {
  const host = new Host(alone(callback))
  const order = host.tag('order')
  const blocked = { code: 'would_block', message: /^no id of the tag "order" is at hand, and its fetch needs this thread's event loop/ }
  assert.throws(() => host.take(order, 3), blocked)
  host.fetched(host.one(), [1n, 10_001n, 1n])
  host.calls()
  assert.throws(() => host.take(order, 10_001), blocked)
  const asked = host.one()
  assert.deepEqual(asked.texts[0], '10001')
  assert.deepEqual(host.take(order, 9_000), Array.from({ length: 9_000 }, (_, at) => BigInt(at + 1)))
  assert.deepEqual(host.run(order, 5_000, 1).length, 1_000)
  host.fetched(asked, [10_001n, 10_011n, 1n])
  host.calls()
  assert.deepEqual(host.run(order, 5_000, 1).length, 10)
})

test('more ids than a host asked for at once are not lost', () => {
  const host = new Host(alone({ servers: 'http://a', block_size: 100, step: 600, prefetch: 100, connections: 8 }))
  const order = host.tag('order-x100')
  host.call('run', order, 0, 600)
  const blocks = [5, 17, 3, 29, 41, 11]
  host.calls().forEach((call, at) => host.responded(call, 200, `${blocks[at]}`))
  host.now += 1_000
  host.calls()
  // Two of the blocks are in the buffer, and the others beside it.
  const ids = []
  let some
  do {
    some = host.run(order, 30, 100)
    assert.ok(some.length <= 30)
    ids.push(...some)
  } while (some.length > 0 || waits(host, order) === 1)
  const given = blocks.flatMap(block => Array.from({ length: 100 }, (_, at) => BigInt(100 * block + at)))
  const ascending = (one, other) => Number(one - other)
  assert.deepEqual(ids.sort(ascending), given.sort(ascending))
})

test('what the user’s function did is told to who waits', () => {
  for (const [answer, code, message] of [
    [null, 'unknown_tag', /^the source knows no tag "order"/],
    [[5n, 5n, 1n], 'source_invalid', /its end, which is exclusive, is not above its start/],
    [[0, 'no such table'], 'segment_unavailable', /the fetch of a segment failed: no such table$/],
    [[12, 'given before'], 'segment_regressed', /given before$/],
  ]) {
    const host = new Host(alone(callback))
    const order = host.tag('order')
    waits(host, order)
    host.fetched(host.one(), answer)
    host.calls()
    const late = () => host.call('late', order, 300)
    assert.throws(host.woken.length > 0 ? () => waits(host, order) : late, { code, message })
    assert.equal(host.log.length, 1)
    const { fetches, failures, error, outcomes } = host.stats(order)
    assert.deepEqual([fetches, failures, outcomes], [1, 1, [code, '1']])
    assert.match(error, message)
  }
  const host = new Host(alone(callback))
  assert.throws(() => host.call('late', host.tag('order'), 300), { message: /^no id of the tag "order" within 300 ms: its source was not asked yet/ })
})

test('a source that fails is asked again after a pause', () => {
  const host = new Host(alone(callback))
  const order = host.tag('order')
  waits(host, order)
  host.fetched(host.one(), [0, 'away'])
  assert.deepEqual(host.calls(), [])
  const at = module.ok(exports.next_time(host.supply))
  assert.ok(at > host.now)
  host.now = at
  assert.equal(host.calls().length, 1)
})

test('what the source gave before is refused, after the end of a supply too', () => {
  const options = alone(callback)
  const opened = () => {
    const host = new Host(options)
    const order = host.tag('order')
    waits(host, order)
    return [host, order, host.one()]
  }
  const [first, order, call] = opened()
  first.fetched(call, [1n, 11n, 1n])
  first.calls()
  assert.deepEqual(first.run(order), [1n])
  exports.free(first.supply)
  assert.throws(() => first.tag('order'), { code: 'closed', message: 'the segments were closed; open them again' })
  const [again, , next] = opened()
  assert.equal(next.texts[0], '11')
  again.fetched(next, [5n, 15n, 1n])
  again.calls()
  assert.match(again.stats(order).error, /5/)
  // A call of one supply is none of another's, whatever their numbers are.
  const [[one, , ofOne], [other]] = [opened(), opened()]
  module.ok(exports.call_fetched(ofOne.handle, 100n, 110n, 1n))
  assert.throws(() => other.done(ofOne), { code: 'internal' })
  assert.throws(() => one.done(ofOne), { code: 'closed' }, 'it is freed')
})

test('a mark is the file of the native package, and is written before an id is used', () => {
  const host = new Host(alone({ ...callback, persist: true }), 'a store')
  const order = host.tag('order')
  waits(host, order)
  const read = host.one()
  assert.equal(read.kind, READ)
  assert.match(read.texts[0], /^segment-[0-9a-f]{16}-order\.mark$/)
  host.file(read, null)
  host.fetched(host.one(), [1n, 11n, 1n])
  const update = host.one()
  assert.deepEqual([update.kind, update.texts], [UPDATE, read.texts])
  assert.equal(waits(host, order), 0, 'not before it is durable')
  // The store undoes its transaction, and tries it again.
  host.steps(update, null)
  const file = host.file(update, null)
  assert.equal(file.length, 8192)
  const [, slot] = new TextDecoder().decode(file.subarray(0, 4096)).match(/^(\{.*\})/)
  const { leafid, number, source, tag, mark, fetched_ms } = JSON.parse(slot)
  assert.deepEqual([leafid, number, source, tag, mark, fetched_ms], ['mark', 2, 'callback', 'order', '11', 1_700_000_000_000])
  host.calls()
  assert.deepEqual([waits(host, order), host.run(order)], [1, [1n]])
})

/** A supply of a store, whose tag has asked its source by this mark. */
function stored(options, place, file) {
  const host = new Host(options, place)
  const order = host.tag('order')
  waits(host, order)
  host.file(host.one(), file)
  return { host, order, fetch: host.one() }
}

test('a store that was cleared, and one that fails', () => {
  const options = alone({ ...callback, persist: true })
  // Nothing was stored, and so nothing was given.
  const failed = stored(options, 'a place', null)
  failed.host.fetched(failed.fetch, [1n, 11n, 1n])
  failed.host.file(failed.host.one(), null, false)
  assert.throws(() => failed.host.call('late', failed.order, 300), { code: 'state_io', message: /cannot write the mark: it is full; free some space there/ })
  const stores = stored(options, 'a place', null)
  stores.host.fetched(stores.fetch, [1n, 11n, 1n])
  const file = stores.host.file(stores.host.one(), null)
  assert.deepEqual(stores.host.run(stores.order), [1n])
  const [after, other] = ['a place', 'another place'].map(place => stored(options, place, null))
  for (const { host, fetch } of [after, other]) {
    assert.equal(fetch.texts[0], '0', 'the mark is gone')
    host.fetched(fetch, [5n, 15n, 1n])
    host.file(host.one(), null)
  }
  assert.throws(() => after.host.call('late', after.order, 300), { code: 'segment_regressed' })
  assert.deepEqual(other.host.run(other.order), [5n], 'of another place nothing is known')
  // A damaged slot: the other one is used. Both: refused.
  const half = stored(options, 'half', file.slice().fill(120, 4096))
  assert.equal(half.fetch.texts[0], '11')
  const none = new Host(options, 'none')
  waits(none, none.tag('order'))
  none.file(none.one(), file.slice().fill(120))
  assert.throws(() => none.call('late', none.tag('order'), 300), { code: 'state_corrupt', message: /the mark is / })
})

test('the tags of the last day are fetched ahead', () => {
  const options = alone({ ...callback, persist: true })
  const { host, fetch } = stored(options, 'a list', null)
  host.fetched(fetch, [1n, 11n, 1n])
  const update = host.one()
  const file = host.file(update, null)
  const warmed = new Host({ ...options, prewarm: 'last-day' }, 'a list')
  const listing = warmed.one()
  assert.equal(listing.kind, LIST)
  const [name] = update.texts
  assert.ok(name.startsWith(listing.texts[0]))
  for (const [now, tags] of [[1_700_000_000_000, ['order']]]) {
    module.ok(exports.call_found(listing.handle, now, ...module.input(name, file)))
    module.ok(exports.call_end(listing.handle, 0, 0, ...module.input('')))
    warmed.done(listing)
    assert.equal(warmed.one().kind, READ)
    assert.equal(module.ok(exports.supply_stats(warmed.supply)), 0)
    assert.deepEqual(list(), tags)
  }
})

test('a tinyid', () => {
  const { cases, refused } = vectors('tinyid.json')
  assert.ok(cases.length > 0 && refused.length > 0)
  const asked = body => {
    const host = new Host(alone({ servers: 'http://a/x/', protocol: 'tinyid', token: 't&', step: undefined }))
    const tag = host.tag('a b')
    waits(host, tag)
    const call = host.one()
    host.responded(call, 200, body)
    return { host, tag, call }
  }
  for (const { body, ids } of cases) {
    const { host, tag, call } = asked(body)
    host.calls()
    const found = []
    for (let more; (more = host.run(tag, 999)).length > 0; ) found.push(...more)
    assert.deepEqual(found.map(String), ids, body)
    assert.equal(call.kind, HTTP)
    const [url, type, form, ...headers] = call.texts
    assert.match(url, /^http:\/\/a\/x\/tinyid\/id\/nextSegmentIdSimple\?nonce=[0-9a-f]{32}$/)
    assert.deepEqual([type, form], ['application/x-www-form-urlencoded', 'bizType=a%20b&token=t%26'])
    assert.deepEqual(headers, ['Accept', 'application/json'], 'its token is no header')
  }
  for (const body of refused) {
    const { host, tag } = asked(body)
    host.calls()
    assert.deepEqual(host.run(tag), [], body)
  }
})

test('tags are encoded in URLs, and headers are sent', () => {
  const { cases } = vectors('tags.json')
  assert.ok(cases.length > 0)
  for (const { tag, path } of cases) {
    const host = new Host(alone({ servers: ['http://a'], protocol: 'range', token: 's', headers: { 'X-Key': 'k' } }))
    if (path === undefined) {
      assert.throws(() => host.tag(tag), invalid(/^tag is /))
      continue
    }
    waits(host, host.tag(tag))
    const { texts: [url, type, body, ...headers] } = host.one()
    assert.equal(url.split('?')[0], `http://a/api/segment/range/${path}`)
    assert.deepEqual([type, body], [null, null])
    assert.deepEqual(headers, ['Accept', 'application/json', 'Authorization', 'Bearer s', 'X-Key', 'k'])
  }
})

test('a request goes to the next server, and its end may come too late', () => {
  const options = alone({ servers: ['http://a', 'http://b'], protocol: 'range', step: undefined })
  const host = new Host(options)
  const order = host.tag('order')
  waits(host, order)
  const first = host.one()
  assert.deepEqual(first.numbers.slice(1, 3), [300, 300], 'another one could be asked')
  module.ok(exports.call_end(first.handle, 3, 0, ...module.input('connection refused')))
  host.done(first)
  const second = host.one()
  assert.ok(second.texts[0].startsWith('http://b/'))
  const nonce = new URL(second.texts[0]).searchParams.get('nonce')
  const answer = more => JSON.stringify({ tag: 'order', start: '1', end: '11', stride: 1, nonce, ...more })
  host.responded(second, 200, answer({ step: 20 }))
  host.calls()
  assert.deepEqual(host.run(order), [1n])
  assert.equal(module.ok(exports.supply_stats(host.supply)), 2)
  const [url, error, other, none] = list()
  assert.deepEqual([url, other, none], ['http://a', 'http://b', null])
  assert.match(error, /^http:\/\/a\/.* cannot be reached: connection refused/)
  assert.equal(host.stats(order).step, 20)

  // Its host does not report the end: it is given up, and the end that comes at last gives no id.
  const slow = new Host(alone({ servers: 'http://a', protocol: 'range', step: undefined }))
  const late = slow.tag('order')
  waits(slow, late)
  const hanging = slow.one()
  slow.now = module.ok(exports.next_time(slow.supply))
  slow.calls()
  assert.deepEqual(slow.abandoned, [hanging.handle])
  const echoed = new URL(hanging.texts[0]).searchParams.get('nonce')
  slow.responded(hanging, 200, answer({ nonce: echoed }))
  slow.calls()
  assert.deepEqual([slow.run(late), slow.stats(late).left], [[], 0])
  // The answer to another request, and one out of a cache.
  for (const [body, shown] of [[answer({ nonce: 'x' }), {}], [answer({}), { age: '7' }]]) {
    const wrong = new Host(alone({ servers: 'http://a', protocol: 'range', step: undefined }))
    const tag = wrong.tag('order')
    waits(wrong, tag)
    wrong.responded(wrong.one(), 200, body, shown)
    wrong.calls()
    assert.deepEqual(wrong.run(tag), [])
    assert.throws(() => wrong.call('late', tag, 300), { code: 'source_invalid' })
  }
})

test('a tinyid without ids is asked for the reason, once', () => {
  const host = new Host(alone({ servers: 'http://a', protocol: 'tinyid', step: undefined }))
  const order = host.tag('order')
  waits(host, order)
  host.responded(host.one(), 200, '')
  const reason = host.one()
  assert.match(reason.texts[0], /^http:\/\/a\/tinyid\/id\/nextSegmentId\?nonce=/)
  host.responded(reason, 200, '{"code":5,"message":"token is error"}')
  host.calls()
  assert.match(host.stats(order).error, /token is error/)
})

test('an answer that is none is an error with what came', () => {
  for (const [status, body, message] of [
    [200, '<html>', /html/],
    [500, 'broken', /answered 500.*broken/],
    [0, '', /redirects/],
    [200, '-1', /switched off|-1/],
  ]) {
    const host = new Host(alone({ servers: 'http://a' }))
    const order = host.tag('order')
    waits(host, order)
    host.calls().forEach(call => host.responded(call, status, body))
    host.calls()
    assert.match(host.stats(order).error, message, body)
    assert.deepEqual(host.run(order), [])
  }
})

test('a Leaf gives one id a request, several requests at once', () => {
  const host = new Host(alone({ servers: 'http://a', step: 3 }))
  const order = host.tag('order')
  host.call('run', order, 0, 3)
  const calls = host.calls()
  assert.equal(calls.length, 3)
  assert.equal(new Set(calls.map(({ texts: [url] }) => url)).size, 1, 'of one number, which the host draws')
  assert.match(calls[0].texts[0], /^http:\/\/a\/api\/segment\/get\/order\?nonce=/)
  calls.forEach((call, at) => host.responded(call, 200, `${17 + at}`))
  host.calls()
  host.now += 1_000
  host.calls()
  assert.deepEqual([...host.run(order, 9), ...host.run(order, 9), ...host.run(order, 9)].sort(), [17n, 18n, 19n])
})
