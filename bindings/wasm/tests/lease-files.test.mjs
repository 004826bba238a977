// The files that cache leases, and the search among them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from './module.mjs'

const NOW = 1_800_000_000_000
const module = new Module()
const {
  held_new, lease_fields, lease_file_find, lease_file_hint, lease_file_new, lease_file_slot, lease_new, record_begin,
  record_unused, search_cached, search_poll, search_refused,
} = module.exports
const layout = module.layout('leaf')
const FILE = [1n, 2n]
const record = owner => module.ok(record_begin(module.ok(record_unused(7, layout)), 0, 1, NOW, 0n, owner))
const ours = record(5n)
const given = (bytes, servers = 'http://a\nhttp://b', boot = 'b1') => module.input('orders', servers, boot, 'worker-7.lease', bytes)

/** The file with a lease that was asked for at the boot time 1 s, ends at 11 s and at NOW + 30 s, written at NOW. */
function held(bytes) {
  const lease = module.ok(lease_new(7, NOW, NOW + 30_000, 10_000, ...module.input('secret')))
  return written(bytes, module.ok(held_new(lease, 1, 1_000, NOW, 300)))
}

function written(bytes, handle) {
  if (module.ok(lease_file_slot(...given(bytes), ours, handle, ...FILE, NOW)) === 0) return null
  const all = bytes.slice()
  all.set(module.output(), 4096 * module.numbers(1)[0])
  return all
}

const find = (bytes, { by = ours, file = FILE, changed = NOW, boot = 2_000, now = NOW + 1, ...named } = {}) =>
  module.ok(lease_file_find(...given(bytes, named.servers, named.start), by, ...file, changed, boot, now))
const hint = (bytes, boot = 2_000) => lease_file_hint(...given(bytes), 7, boot, NOW + 1)

module.ok(lease_file_new(...module.input('orders', 'http://a\nhttp://b'), 7))
const fresh = module.output()

test('a lease is found by the facts that it is bound to, and by no others', () => {
  assert.deepEqual([hint(fresh), find(fresh)], [-1, 0])
  const bytes = held(fresh)
  assert.equal(hint(bytes), 11_000)
  const lease = find(bytes)
  assert.equal(module.numbers(1)[0], 1_000)
  module.ok(lease_fields(lease))
  assert.deepEqual([module.numbers(5), module.text()], [[7, NOW, NOW + 30_000, 10_000, 1], 'secret'])
  const other = {
    'another run wrote the record': { by: record(6n) }, 'a copy': { file: [1n, 3n] }, changed: { changed: NOW + 60 },
    'the lease has ended': { boot: 11_000 }, 'its span has': { now: NOW + 30_000 }, 'other servers': { servers: 'http://a' },
    'another start of the machine': { start: 'b2' }, 'an unknown one': { start: '' },
  }
  for (const [what, facts] of Object.entries(other)) assert.equal(find(bytes, facts), 0, what)
  assert.equal(hint(bytes, 11_000), -1)
  const half = bytes.slice().fill(120, 4096, 4200)
  assert.equal(find(half), 0, 'the damaged slot may have said that it was released')
})

test('a lease is made invalid once, and none is cached without an end or a known start', () => {
  const bytes = held(fresh)
  const released = written(bytes, 0)
  assert.deepEqual([find(released), hint(released), written(released, 0), written(fresh, 0)], [0, -1, null, null])
  const endless = module.ok(lease_new(7, NOW, NOW + 30_000, NaN, ...module.input('secret')))
  assert.equal(written(fresh, module.ok(held_new(endless, 1, 1_000, NOW, 300))), null)
  assert.throws(() => find(new Uint8Array(8192)), { code: 'state_corrupt' })
  assert.throws(() => module.ok(lease_file_new(...module.input('orders', `http://${'a'.repeat(1_200)}`), 7)), { code: 'state_io' })
})

test('ids with cached leases are tried in order, and the error says why no server answered', () => {
  const ids = new Uint8Array(BigInt64Array.of(9n, 7n).buffer)
  const search = module.ok(search_cached(...module.input('orders', 'all are down', ids), 6, 1_000))
  const poll = boot => [module.ok(search_poll(search, boot)), module.numbers(1)[0]]
  assert.deepEqual(poll(1_000), [0, 9])
  module.ok(search_refused(search, 6, ...module.input('ended')))
  assert.equal(module.ok(search_poll(search, 1_000)), 2)
  assert.match(module.text(), /ended; the lease of worker id 9 is left alone/)
  assert.deepEqual(poll(1_000), [0, 7])
  module.ok(search_refused(search, 6, ...module.input('ended')))
  module.ok(search_poll(search, 1_000))
  const message = 'no lease server can be reached, and no cached lease is still valid here: all are down'
  assert.throws(() => module.ok(search_poll(search, 1_000)), { code: 'worker_lost', message })
})
