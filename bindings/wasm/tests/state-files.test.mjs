// State files, in the format of all languages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from './module.mjs'

const NOW = 1_600_000_000_000
const writer = { pid: 7, host: 'a', started: 'then', boot: 'b', counted_ms: 5 }

function unused(module, name = 'orders') {
  const record = module.ok(module.exports.record_unused(39, module.layout('leaf')))
  module.ok(module.exports.state_new_file(record, ...module.input(name)))
  return { record, file: module.output() }
}

const read = (module, file) => module.ok(module.exports.state_read(...module.input('worker-39.state', file)))

test('a record that is written is found again, in the other slot each time', () => {
  const module = new Module()
  const { record_begin, record_fields, state_slot, stored_fields, stored_number, stored_record } = module.exports
  let { file } = unused(module)
  assert.equal(file.length, 8_192)
  for (let number = 1n; number < 5n; number++) {
    const stored = read(module, file)
    assert.equal(stored_number(stored), number)
    module.ok(stored_fields(stored))
    const [spare, damaged] = module.numbers(2)
    assert.deepEqual([spare, damaged], [Number(number + 1n) % 2, 0])
    const [name, json] = module.text().split('\n')
    assert.equal(name, 'orders')
    if (number > 1n) assert.deepEqual(JSON.parse(json), writer)
    const from = 1_000 * Number(number)
    const record = module.ok(record_begin(module.ok(stored_record(stored)), from, from + 500, NOW, 0n, number))
    module.ok(state_slot(record, number + 1n, ...module.input('orders', JSON.stringify(writer))))
    file.set(module.output(), spare * 4_096)
    module.ok(record_fields(module.ok(stored_record(read(module, file)))))
    assert.deepEqual(module.numbers(4), [39, from, from + 500, NOW])
  }
})

test('what is damaged is refused, or found by its other slot', () => {
  const module = new Module()
  const { file } = unused(module)
  const older = file.slice()
  older[10] ^= 1
  const stored = read(module, older)
  module.ok(module.exports.stored_fields(stored))
  assert.deepEqual(module.numbers(2), [0, 1])
  older[4_096 + 10] ^= 1
  assert.throws(() => read(module, older), { code: 'state_corrupt', message: /^worker-39.state is damaged in both slots/ })
  assert.throws(() => read(module, file.subarray(1)), { code: 'state_corrupt', message: /8191 bytes instead of 8192/ })
  const record = module.ok(module.exports.record_unused(39, module.layout('leaf')))
  const wrong = () => module.ok(module.exports.state_slot(record, 2n, ...module.input('orders', '{"pid":"x"}')))
  assert.throws(wrong, { code: 'invalid_argument', message: /^the writer is not as in a file/ })
})
