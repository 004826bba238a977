// leafid-public-ids.wasm: keys, beyond what the vectors check in JavaScript.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module, vectors } from './module.mjs'

const { rotation, hex_accepted, hex_refused, hex_message } = vectors('public_ids.json')
const bytes = hex => Buffer.from(hex, 'hex')
const create = (module, key, hex, version) => module.ok(module.exports.public_ids_new(...module.input(key), hex, version))

test('the text of a key does not stay in the memory, and its bytes only until the object is freed', () => {
  const [{ key, version }, second] = rotation.keys
  const module = new Module('leafid-public-ids')
  const holds = text => Buffer.from(module.exports.memory.buffer).includes(text)
  const { public_ids_add_key, public_ids_encrypt, free } = module.exports
  const ids = create(module, bytes(key), 0, version)
  const digits = module.input(second.key)
  assert.ok(holds(second.key))
  module.ok(public_ids_add_key(ids, ...digits, 1, second.version))
  assert.ok(!holds(key) && !holds(second.key))
  assert.ok(module.ok(public_ids_encrypt(ids, 1n)) > 0n)
  assert.ok(holds(bytes(key)) && holds(bytes(second.key)))
  free(ids)
  assert.ok(!holds(bytes(key)) && !holds(bytes(second.key)))
  assert.throws(() => module.ok(public_ids_encrypt(ids, 1n)), { code: 'closed' })
  assert.equal(create(module, bytes(key), 0, version), ids, 'its number is used again')
})

test('hexadecimal digits', () => {
  const module = new Module('leafid-public-ids')
  const encrypted = (key, hex) => module.ok(module.exports.public_ids_encrypt(create(module, key, hex, 1), 42n))
  for (const { text, same_as } of hex_accepted) assert.equal(encrypted(text, 1), encrypted(bytes(same_as), 0))
  for (const text of hex_refused) assert.throws(() => encrypted(text, 1), { message: hex_message })
  for (const version of [NaN, -1, 1.5, 32, 2 ** 32, Infinity]) {
    const value = Number.isInteger(version) ? `${version}` : 'not a whole number, or beyond 2^53'
    const message = `version is ${value}; allowed: 0 to 31`
    assert.throws(() => create(module, Buffer.alloc(16), 0, version), { code: 'invalid_argument', message })
  }
})
