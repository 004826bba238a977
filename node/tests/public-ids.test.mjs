// PublicIds: the vectors, where keys come from, and that nothing shows one.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { LeafidError, PublicIds } from 'leafid'
import { thrown, vectors } from './support.mjs'
import { checkPublicIds } from './vectors.mjs'

const given = vectors('public_ids.json')
const bytes = hex => Buffer.from(hex, 'hex')

function refusesType(call) {
  const error = thrown(call)
  assert.equal(error.code, 'ERR_LEAFID_INVALID_ARGUMENT')
  return error.message
}

test('ids are encrypted and decrypted', () => {
  assert.ok(checkPublicIds({ PublicIds, LeafidError }, given) > given.valid.length)
})

test('what cannot be is refused', () => {
  const ids = new PublicIds(Buffer.alloc(16), 0)
  const twice = thrown(() => new PublicIds(Buffer.alloc(16), 1, { 1: Buffer.alloc(16) }))
  assert.ok(twice instanceof LeafidError)
  assert.deepEqual([twice.code, twice.message], ['ERR_LEAFID_INVALID_ARGUMENT', 'version is 1; allowed: a version that has no key yet'])
  for (const bad of [undefined, null, 1.5, '', 'x', 1n << 63n, {}]) assert.match(refusesType(() => ids.encrypt(bad)), /^id is /)
  for (const bad of [undefined, null, 1.5, '1', 1n, -1]) {
    assert.match(refusesType(() => ids.decrypt(1n, bad)), /^version is .*; allowed: 0 to 31$/)
    assert.match(refusesType(() => new PublicIds(Buffer.alloc(16), bad)), /^version is /)
  }
  const key = Buffer.alloc(16)
  for (const [others, message] of [
    [[key], 'others is an array; allowed: an object of keys by their versions'],
    [new Map([[1, key]]), 'others is a Map; allowed: an object of keys by their versions'],
    [{ v1: key }, "version is 'v1'; allowed: 0 to 31"],
  ]) {
    assert.equal(refusesType(() => new PublicIds(key, 0, others)), message)
  }
  for (const bad of [undefined, null, 7]) {
    assert.match(refusesType(() => ids.parseId(bad, 'base32')), /^text is /)
    assert.match(refusesType(() => ids.parseId('2', bad)), /^form is .*; allowed: "base32" or "base62"$/)
  }
})

test('a key comes from the environment or a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leafid-'))
  const path = join(folder, 'key')
  try {
    for (const { text, same_as } of given.hex_accepted) {
      const publicId = new PublicIds(new Uint8Array(bytes(same_as)), 1).encrypt(42)
      process.env.LEAFID_TEST_KEY = text
      writeFileSync(path, text)
      for (const source of ['env:LEAFID_TEST_KEY', `file:${path}`]) {
        assert.equal(new PublicIds(source, 1).encrypt(42), publicId)
        assert.equal(new PublicIds(Buffer.alloc(16), 2, { 1: source }).decrypt(publicId, 1), 42n)
      }
    }
    for (const text of given.hex_refused) {
      writeFileSync(path, text)
      const message = refusesType(() => new PublicIds(`file:${path}`, 1))
      assert.ok(message.startsWith(`key is file:${path}, which holds another text; allowed: `), message)
    }
  } finally {
    delete process.env.LEAFID_TEST_KEY
    rmSync(folder, { recursive: true })
  }
  for (const name of ['LEAFID_TEST_KEY', 'ORDERS_KEY_20261129T101530']) {
    assert.match(refusesType(() => new PublicIds(`env:${name}`, 1)), new RegExp(`^key is env:${name}, which is not set; `))
  }
})

test('nothing shows a key', () => {
  const secret = '2b7e151628aed2a6abf7158809cf4f3c'
  const misread = secret.replace('6a', 'xy').replace('09', 'oq')
  const ids = new PublicIds(bytes(secret), 1)
  assert.ok(!inspect(ids, { showHidden: true, depth: 9 }).includes(secret.slice(0, 6)))
  assert.equal(JSON.stringify(ids), '{}')
  for (const bad of [secret, `env:${secret}`, `file:${secret}`, `file:${secret.slice(1)} `, `env:${misread}`, [secret], { secret }, undefined, null, bytes(secret).buffer]) {
    const message = refusesType(() => new PublicIds(bad, 1))
    assert.match(message, /^key is /)
    assert.ok(!message.includes(secret.slice(1, 7)), message)
  }
  for (const bad of [secret, [secret], { [secret]: 1 }, { 2: [secret] }, new Map([[2, bytes(secret)]]), 7]) {
    const message = refusesType(() => new PublicIds(Buffer.alloc(16), 0, bad))
    assert.match(message, /^(key|others|version) is /)
    assert.ok(!message.includes(secret.slice(0, 6)), message)
  }
})
