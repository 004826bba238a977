// The vectors that every language is held to.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as leafid from 'leafid'
import { thrown, vectors } from './support.mjs'
import { checkVectors } from './vectors.mjs'

const { firstIdAt, formatId, parseId, LeafidError } = leafid

const codeOf = name => `ERR_LEAFID_${name.toUpperCase()}`

function refusedWith(error, call) {
  const found = thrown(call)
  assert.ok(found instanceof LeafidError, String(found))
  assert.equal(found.code, codeOf(error), found.message)
}

test('ids and layouts', () => {
  const given = vectors('snowflake.json')
  assert.ok(checkVectors(leafid, given) > given.valid.length)
  for (const wrong of [new Date(NaN), '1700000000000', 1.5, null]) refusedWith('invalid_argument', () => firstIdAt(wrong))
})

test('ids in each form of text', () => {
  const { valid, refused, refused_counted_text, format_refused, form_refused } = vectors('text_forms.json')
  const forms = ['decimal', 'base32', 'base62', 'uuid']
  assert.ok(valid.length > 0 && refused.length > 0 && format_refused.length > 0 && form_refused.length > 0)
  for (const row of valid) {
    for (const form of forms) {
      assert.equal(formatId(BigInt(row.id), form), row[form])
      assert.equal(formatId(row.id, form), row[form])
      if (Number.isSafeInteger(Number(row.id))) assert.equal(formatId(Number(row.id), form), row[form])
      assert.equal(parseId(row[form], form), BigInt(row.id))
    }
  }
  for (const { form, text, message } of [...refused, ...refused_counted_text]) {
    refusedWith('invalid_argument', () => parseId(text, form))
    assert.equal(thrown(() => parseId(text, form)).message, message)
  }
  for (const id of format_refused) refusedWith('invalid_argument', () => formatId(BigInt(id), 'base32'))
  for (const form of [...form_refused, undefined, null, 32]) {
    refusedWith('invalid_argument', () => formatId(0n, form))
    refusedWith('invalid_argument', () => parseId('0', form))
  }
  for (const wrong of [undefined, null, 0n, 7, ['0']]) refusedWith('invalid_argument', () => parseId(wrong, 'decimal'))
  for (const wrong of [undefined, null, 1.5, 2 ** 53, 1n << 63n, '']) refusedWith('invalid_argument', () => formatId(wrong, 'base62'))
})

test('ids inside of UUIDs', () => {
  const { valid, refused, id_refused } = vectors('uuids.json')
  assert.ok(valid.length > 0 && refused.length > 0 && id_refused.length > 0)
  for (const { id, uuid } of valid) {
    assert.equal(formatId(id, 'uuid'), uuid)
    assert.equal(parseId(uuid, 'uuid'), BigInt(id))
  }
  for (const { uuid, message } of refused) {
    assert.equal(thrown(() => parseId(uuid, 'uuid')).message, message.replace('uuid', 'id'))
  }
  for (const id of id_refused) refusedWith('invalid_argument', () => formatId(BigInt(id), 'uuid'))
})
