// Runs: what no scenario says of the exports.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from './module.mjs'
import { Stage } from './scenario_stage.mjs'

const RECORD = 'orders/worker-7.state'
const BOTH_SLOTS = [{ asks: 'write_record' }, { asks: 'write_record' }]

/** A run with worker id 7 whose next span is to be written, into both slots after a gap. Its writes are the test's. */
function writing(take, loops = 0) {
  const stage = Object.assign(new Stage('snowflake', { worker: 7, name: 'orders', random_start: 0 }, ['write_record']), { loops })
  stage.play({ open: 'a' }, ...BOTH_SLOTS, { gets: 'a', worker_id: 7 }, { clock_ms: 10_000 }, take)
  return { stage, run: stage.processes[0] }
}

test('a span that was reported as durable without its steps is not granted', () => {
  const { stage, run } = writing({ take: 1, by: 'x' })
  const { call } = run.asked.shift()
  run.call('call_end', call, 0, 0, '')
  run.at('done', call)
  run.drive()
  stage.play({ gets: 'x', error: 'internal', says: '…was not checked; report this' })
})

test('the caller after one that had to return gets the reason why there is no span', () => {
  const take = { take: 1, blocks_ms: 2 }
  const { stage } = writing({ ...take, error: 'would_block' }, 1)
  stage.play({ asks: 'write_record', fails: 'no space left' }, { log: '…' })
  stage.play({ ...take, error: 'state_io', says: 'cannot write …: no space left…' }, { ...take, error: 'would_block' })
  stage.play(...BOTH_SLOTS, { ...take, ids: [[10_000, 7, 0]] }).end()
})

test('a transaction that starts again is checked again; a record that another run wrote ends this one', () => {
  const { stage, run } = writing({ take: 1, by: 'x' })
  const { files } = stage.disk
  const older = files.get(RECORD).slice()
  // The first try is not committed.
  run.useDisk(run.asked[0])
  files.set(RECORD, older.slice())
  stage.play(...BOTH_SLOTS, { gets: 'x', ids: [[10_000, 7, 0]] }, { clock_ms: 10_000 })
  files.set(RECORD, older)
  const says = '…was overwritten while worker id 7 was in use…'
  stage.play({ asks: 'write_record' }, { log: says }, { take: 1, by: 'x' })
  stage.play({ asks: 'write_record' }, { gets: 'x', error: 'worker_lost', says })
})

test('a call ends at its own machine alone, also if another one has that handle since', () => {
  const { run } = writing({ take: 1, by: 'x' })
  const [{ call }] = run.asked
  run.call('call_end', call, 0, 0, '')
  run.module.exports.free(run.machine)
  const made = Array.from({ length: 3 }, () => run.call('supply_new', '{"fetch":{"callback":true},"persist":false}', '', 0n))
  assert.ok(made.includes(run.machine))
  assert.throws(() => run.at('done', call), { code: 'internal', message: /^a call of another machine was reported/ })
})

test('who holds a worker id is named as the host says, or is this program', () => {
  const stage = new Stage('snowflake', { worker: 7, name: 'orders' })
  const says = holder => `…(orders/worker-7.state) is held by ${holder}; …`
  const refused = holder => [{ pass_ms: 100 }, { gets: 'b', error: 'worker_in_use', says: says(holder) }]
  stage.play({ open: 'a', worker_id: 7 }, { open: 'b' }, ...refused('another process'))
  stage.play({ open: 'b', in: 'a', options: {} }, ...refused('another generator of this program'))
})

test('a lease server: what is sent, and whether its connection is good', () => {
  const options = { worker: ['https://a.example/x'], name: 'orders', persist: false, token: 'secret', headers: { 'X-A': 'b' } }
  const stage = new Stage('snowflake', options).play({ open: 'a' })
  const [{ call, numbers: [post, withinMs, connectMs], texts: [url, type, body, ...headers], sent }] = stage.next().asked
  assert.ok(post === 1 && withinMs > 0 && connectMs > 0)
  assert.equal(url.replace(/\?.*/, ''), 'https://a.example/x/api/worker/claim')
  assert.deepEqual([type, JSON.parse(body).name], ['application/json', 'orders'])
  assert.deepEqual(headers, ['Accept', 'application/json', 'Authorization', 'Bearer secret', 'X-A', 'b'])
  const [from, until] = [stage.wall, stage.wall + 60_000]
  const lease = { instance: sent.instance, worker_id: 3, from, until, lease_ms: 30_000, server_time: from, peer_times: [], token: 't' }
  const answer = JSON.stringify(lease)
  const { module } = stage.processes[0]
  assert.equal(module.call('call_response', call, 200, 0, undefined, undefined, `${answer.length}`, undefined, answer), 1)
})

test('options: checked by the module, alike or not, and named as the language writes them', () => {
  const module = new Module()
  const options = given => module.call('options_of_run', JSON.stringify(given), 'LEAFID_NO_RECORD_WAIT_MS=700\0LEAFID_WORKER=5\0', '')
  const one = options({ worker: '0-3', timeout_ms: 70, lazy: true })
  assert.deepEqual([module.numbers(6), module.text()], [[0, 1, 1, 1, 0, 70], 'default'])
  const alike = given => module.call('options_alike', one, options({ worker: '0-3', ...given }))
  assert.deepEqual([{}, { timeout_ms: 9 }, { name: 'x' }, { layout: '42|10|11' }].map(alike), [1, 1, 0, 0])
  assert.equal(module.call('options_alike', options({}), options({ worker: 5 })), 1)
  for (const [wrong, message] of [[{ worker: 1024 }, /^worker is 1024/], [{ worker: 1, wroker: 1 }, /^"wroker" is an unknown option/]]) {
    assert.throws(() => options(wrong), { code: 'invalid_argument', message })
  }
  module.call('option_rows', 0)
  assert.deepEqual(module.list().slice(0, 3), ['worker', 'worker', 'LEAFID_WORKER'])
  module.exports.camel_case()
  assert.throws(() => options({ worker: 1, timeout_ms: 0 }), { message: /^timeoutMs is 0; / })
})
