// A run, with a host that carries out its calls in memory: what crosses the border. The rules are tested with the core.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from './module.mjs'
import { Disk, Host } from './run_host.mjs'

const EPOCH = 1_288_834_974_657n
const timeOf = id => Number((id >> 22n) + EPOCH)
const FILE = 'worker-39.state'

test('a run is opened, issues ids inside of durable spans, and is closed', () => {
  const host = new Host()
  assert.equal(host.opens(), 39)
  assert.deepEqual(host.done, ['lock', 'open', 'update'])
  const ids = []
  for (let round = 0; round < 100; round++, host.pass(50)) {
    ids.push(host.next(), host.next())
    assert.ok(timeOf(ids.at(-1)) < host.stats().reservedUntilMs)
    host.drive()
  }
  assert.ok(ids.every((id, at) => at === 0 || id > ids[at - 1]))
  const { renewals, claims, leaseUntilMs, lastError } = host.stats()
  assert.ok(renewals > 2)
  assert.deepEqual([claims, leaseUntilMs, lastError], [1, NaN, ''])
  assert.equal(host.closes(), 1)
  assert.deepEqual(host.done.slice(-3), ['update', 'close', 'unlock'])
  assert.deepEqual([host.closed, [...host.disk.held]], [0, []])
  assert.throws(() => host.next(), { code: 'closed' })
  const next = new Host(host.disk, { wallMs: host.wallMs })
  assert.equal(next.opens(), 39)
  assert.ok(next.next() > ids.at(-1))
})

test('what is held is refused, with the host that it names', () => {
  const disk = new Disk()
  new Host(disk).opens()
  const other = new Host(disk)
  assert.throws(() => {
    for (;;) if (other.opens() === null) other.pass(50)
  }, { code: 'worker_in_use', message: /^worker id 39 of "default" \(\/state\/default\/worker-39\.state\) is held by another process; / })
})

test('a span that was reported as durable without its steps is not granted', () => {
  const host = new Host()
  host.opens()
  host.next()
  host.instead.update = call => host.end(call)
  host.pass(1000)
  assert.throws(() => host.next(), { code: 'would_block' })
  host.drive()
  assert.throws(() => host.next(), { code: 'internal', message: /was not checked; report this$/ })
})

test('the caller after one that had to return is told why there is no span', () => {
  const host = new Host()
  host.opens()
  host.next()
  host.pass(3000)
  host.instead.update = call => host.ok('call_failed', call, 3, 2, FILE, 'no space left', '')
  assert.throws(() => host.next(), { code: 'would_block' })
  host.drive()
  assert.throws(() => host.next(), { code: 'state_io', message: /^cannot write .*: no space left; free some space there/ })
  host.instead = {}
  assert.throws(() => host.next(), { code: 'would_block' })
  host.drive()
  assert.ok(host.next() > 0n)
})

test('a record that another run wrote ends this one; a transaction that begins anew is checked anew', () => {
  const host = new Host()
  host.opens()
  const older = host.disk.files.get(FILE)
  host.instead.update = (call, numbers, [file]) => {
    // The first try is not committed.
    host.steps(call, file)
    host.update(call, numbers, [file])
  }
  const id = host.next()
  host.pass(3000)
  assert.throws(() => host.next(), { code: 'would_block' })
  host.drive()
  assert.ok(host.next() > id)
  host.pass(3000)
  host.disk.files.set(FILE, older)
  host.instead = {}
  assert.throws(() => host.next(), { code: 'would_block' })
  host.drive()
  assert.throws(() => host.next(), { code: 'worker_lost', message: /was overwritten while worker id 39 was in use/ })
})

test('a damaged file is refused, and a call that is reported twice has no effect', () => {
  const host = new Host()
  host.opens()
  host.closes()
  host.disk.files.get(FILE).fill(0)
  assert.throws(() => new Host(host.disk).opens(), { code: 'state_corrupt', message: new RegExp(`^${FILE} is damaged in both slots`) })
  assert.throws(() => host.at('done', 99), { code: 'closed' })
})

test('a lease of the user: claimed, renewed with its token, and released', () => {
  const host = new Host(new Disk(), { options: { worker: { leases: true }, persist: false }, store: 0 })
  const asked = []
  const until = () => host.wallMs + 2000
  host.instead = {
    claim: (call, [previous, nowMs, untilMs], [name, instance]) => {
      asked.push(['claim', previous, untilMs - nowMs, name, instance.length])
      host.ok('call_answered', call, 5, host.wallMs, until(), 2000, 'a', new Uint8Array())
    },
    renew: (call, [workerId, , , leaseMs], [token]) => {
      asked.push(['renew', workerId, leaseMs, token])
      host.ok('call_answered', call, NaN, NaN, until(), NaN, `${token}b`, new Uint8Array())
    },
    release: (call, [workerId, , , , untilMs], [token]) => {
      asked.push(['release', workerId, untilMs <= until(), token])
      host.end(call)
    },
  }
  assert.equal(host.opens(), 5)
  const id = host.next()
  host.pass(1100)
  host.drive()
  host.closes()
  assert.deepEqual(asked, [['claim', NaN, 30_000, 'default', 32], ['renew', 5, 2000, 'a'], ['release', 5, true, 'ab']])
  assert.equal((id >> 12n) & 1023n, 5n)
})

test('a claim that needs the event loop ends an opening without one; what it brings goes back', () => {
  const host = new Host(new Disk(), { options: { worker: { leases: true }, persist: false }, store: 0 })
  host.instead = {
    claim(call) {
      host.at('run_needs_loop', call)
      return false
    },
    release: call => host.end(call),
  }
  const ticket = host.at('run_want', 0, 0, 0, 2)
  host.drive()
  assert.throws(() => host.at('run_answer', ticket), { code: 'would_block', message: /^claim returned a promise/ })
  const [call] = host.waiting
  host.ok('call_answered', call, 5, host.wallMs, host.wallMs + 2000, NaN, 'a', new Uint8Array())
  host.at('done', call)
  host.drive()
  assert.deepEqual(host.done, ['claim', 'release'])
})

test('a lease server: what is sent, and what came; a claim without an answer is sent again by the next run', () => {
  const options = { worker: ['https://a.example/x', 'https://b.example'], persist: false, token: 'secret', headers: { 'X-A': 'b' } }
  const module = new Module()
  const host = new Host(new Disk(), { options, store: 0, module })
  const sent = []
  host.instead.request = (call, [post, withinMs, connectMs], [url, type, body, ...headers]) => {
    sent.push({ post, url, type, body: JSON.parse(body), headers })
    assert.ok(withinMs > 0 && connectMs > 0)
    host.end(call, 3, 0, 'connection refused')
  }
  assert.throws(() => {
    for (;;) if (host.opens() === null) host.pass(100)
  }, { code: 'worker_lost', message: /no lease server can be reached, .*b\.example\/.* cannot be reached: connection refused/ })
  assert.deepEqual(sent.slice(0, 2).map(({ url }) => url.replace(/\?.*/, '')), ['https://a.example/x/api/worker/claim', 'https://b.example/api/worker/claim'])
  const [{ post, type, headers, body }] = sent
  assert.deepEqual([post, type, body.name], [1, 'application/json', 'default'])
  assert.deepEqual(headers, ['Accept', 'application/json', 'Authorization', 'Bearer secret', 'X-A', 'b'])

  const next = new Host(host.disk, { options, store: 0, module, wallMs: host.wallMs })
  next.instead.request = (call, numbers, [, , text]) => {
    const { instance } = JSON.parse(text)
    assert.equal(instance, body.instance, 'it takes no second worker id')
    const from = next.wallMs
    const lease = { instance, worker_id: 3, from, until: from + 60_000, lease_ms: 30_000, server_time: from, peer_times: [], token: 't' }
    const answer = JSON.stringify(lease)
    const respond = () => {
      const [length, size] = module.input(String(answer.length), answer)
      return module.ok(module.exports.call_response(call, 200, 0, -1, -1, length, -1, size))
    }
    assert.equal(respond(), 1, 'the connection is good')
    assert.throws(respond, { code: 'internal', message: /^a call ended a second time/ })
  }
  assert.equal(next.opens(), 3)
})

test('options: checked by the module, and alike or not', () => {
  const host = new Host()
  const options = given => host.ok('options_of_run', JSON.stringify(given), 'LEAFID_NO_RECORD_WAIT_MS=700\0LEAFID_WORKER=5\0', '')
  const one = options({ worker: '0-3', timeout_ms: 70, lazy: true })
  assert.deepEqual(host.module.numbers(6), [0, 1, 1, 1, 0, 70])
  assert.equal(host.module.text(), 'default')
  const alike = given => host.ok('options_alike', one, options({ worker: '0-3', ...given }))
  assert.deepEqual([{}, { timeout_ms: 9 }, { name: 'x' }, { layout: '42|10|11' }].map(alike), [1, 1, 0, 0])
  assert.equal(host.ok('options_alike', options({}), options({ worker: 5 })), 1)
  for (const [wrong, message] of [[{ worker: 1024 }, /^worker is 1024/], [{ worker: 1, wroker: 1 }, /^"wroker" is an unknown option/]]) {
    assert.throws(() => options(wrong), { code: 'invalid_argument', message })
  }
  host.ok('options_variables')
  assert.ok(host.texts().includes('LEAFID_WORKER'))
})

test('a clock that leaps is told, and followed after a minute', () => {
  const host = new Host()
  host.opens()
  host.next()
  const filtered = () => host.module.ok(host.exports.filtered_ms(host.wallMs, host.bootMs))
  const before = filtered()
  host.wallMs += 86_400_000
  host.bootMs += 1000
  assert.equal(filtered(), before + 1000)
  host.drive()
  assert.match(host.log.at(-1), /^the clock jumped 86399 s ahead/)
})

test('names of options are as the language writes them', () => {
  const host = new Host()
  host.exports.camel_case()
  assert.throws(() => host.ok('options_of_run', '{"worker":1,"timeout_ms":0}', '', ''), { message: /^timeoutMs is 0; / })
})
