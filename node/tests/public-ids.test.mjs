// PublicIds: the vectors, where keys come from, and that nothing shows one.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { LeafidError, PublicIds } from 'leafid'
import { thrown, vectors } from './support.mjs'

const given = vectors('public_ids.json')
const forms = ['base32', 'base62']
const bytes = hex => Buffer.from(hex, 'hex')

const [first, second] = given.rotation.keys
const both = () => new PublicIds(bytes(first.key), first.version, { [second.version]: bytes(second.key) })

function refuses(message, call) {
  const error = thrown(call)
  assert.ok(error instanceof LeafidError)
  assert.equal(error.code, 'ERR_LEAFID_INVALID_ARGUMENT')
  const expected = message.replace(/\bpublic_id\b/, 'publicId')
  assert.equal(error.message, expected)
}

function refusesType(call) {
  const error = thrown(call)
  assert.equal(error.code, 'ERR_LEAFID_INVALID_ARGUMENT')
  return error.message
}

test('ids are encrypted and decrypted', () => {
  assert.ok(given.valid.length > 0)
  for (const row of given.valid) {
    const ids = new PublicIds(bytes(row.key), row.version)
    assert.equal(ids.version, row.version)
    for (const id of [BigInt(row.id), row.id]) assert.equal(ids.encrypt(id), BigInt(row.public_id))
    for (const publicId of [BigInt(row.public_id), row.public_id]) {
      assert.equal(ids.decrypt(publicId, row.version), BigInt(row.id))
    }
    if (Number.isSafeInteger(Number(row.id))) assert.equal(ids.encrypt(Number(row.id)), BigInt(row.public_id))
    for (const form of forms) {
      assert.equal(ids.formatId(row.id, form), row[form])
      assert.equal(ids.parseId(row[form], form), BigInt(row.id))
    }
  }
})

test('the first key encrypts and all decrypt', () => {
  const ids = both()
  for (const { id, version, public_id, ...texts } of given.rotation.texts) {
    assert.equal(ids.decrypt(public_id, version), BigInt(id))
    for (const form of forms) {
      assert.equal(ids.parseId(texts[form], form), BigInt(id))
      assert.equal(ids.formatId(id, form) === texts[form], version === ids.version)
    }
  }
  const key = Buffer.alloc(16)
  refuses('version is 1; allowed: a version that has no key yet', () => new PublicIds(key, 1, { 1: key }))
})

test('what cannot be is refused', () => {
  const ids = both()
  for (const { text, form, message } of given.texts_refused) refuses(message, () => ids.parseId(text, form))
  for (const { public_id, version, message } of given.decrypt_refused) {
    refuses(message, () => ids.decrypt(BigInt(public_id), version))
  }
  for (const { id, message } of given.ids_refused) {
    refuses(message, () => ids.encrypt(BigInt(id)))
    refuses(message, () => ids.formatId(BigInt(id), 'base62'))
  }
  for (const { version, message } of given.versions_refused) refuses(message, () => new PublicIds(Buffer.alloc(16), version))
  for (const row of given.keys_refused) refuses(row.message, () => new PublicIds(Buffer.alloc(row.bytes), 0))
  for (const bad of [undefined, null, 1.5, '', 'x', 1n << 63n, {}]) assert.match(refusesType(() => ids.encrypt(bad)), /^id is /)
  for (const bad of [undefined, null, 1.5, '1', 1n, -1]) {
    assert.match(refusesType(() => ids.decrypt(1n, bad)), /^version is .*; allowed: 0 to 31$/)
    assert.match(refusesType(() => new PublicIds(Buffer.alloc(16), bad)), /^version is /)
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
  assert.match(refusesType(() => new PublicIds('env:LEAFID_TEST_KEY', 1)), /^key is env:LEAFID_TEST_KEY, which is not set; /)
})

test('nothing shows a key', () => {
  const secret = '2b7e151628aed2a6abf7158809cf4f3c'
  const ids = new PublicIds(bytes(secret), 1)
  assert.ok(!inspect(ids, { showHidden: true, depth: 9 }).includes(secret.slice(0, 6)))
  assert.equal(JSON.stringify(ids), '{}')
  for (const bad of [secret, [secret], { secret }, undefined, null, bytes(secret).buffer]) {
    const message = refusesType(() => new PublicIds(bad, 1))
    assert.match(message, /^key is /)
    assert.ok(!message.includes(secret.slice(0, 6)), message)
  }
  for (const bad of [secret, [secret], { [secret]: 1 }, { 2: [secret] }, 7]) {
    const message = refusesType(() => new PublicIds(Buffer.alloc(16), 0, bad))
    assert.match(message, /^(key|others|version) is /)
    assert.ok(!message.includes(secret.slice(0, 6)), message)
  }
})
