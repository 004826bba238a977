// The vectors that every language is held to.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module, vectors } from './module.mjs'

const given = vectors('snowflake.json')

for (const name of ['leafid', 'leafid-snowflake']) {
  const module = new Module(name)
  const { compose, decode, first_id_at, id_parse, last_id_at, layout_fields, layout_new } = module.exports

  /** The layout of the vectors by its fields. */
  function byFields(layout) {
    const { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order } = given.layouts[layout]
    return module.ok(layout_new(Number(epoch_ms), tick_ms, timestamp_bits, worker_bits, sequence_bits, ...module.input(order)))
  }

  /** The ways to name a layout of the vectors. Bits alone mean Leaf's epoch. */
  const named = layout => (layout.includes('|') ? [byFields(layout)] : [module.layout(layout), byFields(layout)])
  const parts = (layout, id) => {
    module.ok(decode(layout, id))
    return module.numbers(3)
  }
  const refusedWith = (code, call) => assert.throws(() => module.ok(call()), { code })

  test(`${name}: composes and decodes`, () => {
    assert.ok(given.valid.length > 0)
    for (const { layout, timestamp_ms, worker_id, sequence, id } of given.valid) {
      for (const handle of named(layout)) {
        assert.equal(module.ok(compose(handle, Number(timestamp_ms), worker_id, sequence)), BigInt(id))
        assert.deepEqual(parts(handle, BigInt(id)), [Number(timestamp_ms), worker_id, sequence])
      }
    }
  })

  test(`${name}: refuses parts that no id holds`, () => {
    assert.ok(given.refused.length > 0)
    for (const { layout, timestamp_ms, worker_id, sequence, error } of given.refused) {
      for (const handle of named(layout)) refusedWith(error, () => compose(handle, Number(timestamp_ms), worker_id, sequence))
    }
    const leaf = module.layout('leaf')
    for (const wrong of [NaN, 0.5, Infinity, 2 ** 53 + 2, -1]) {
      refusedWith('invalid_argument', () => compose(leaf, 1_700_000_000_000, wrong, 0))
      refusedWith('invalid_argument', () => compose(leaf, 1_700_000_000_000, 0, wrong))
    }
  })

  test(`${name}: reads text, and refuses what is no id`, () => {
    const leaf = module.layout('leaf')
    assert.ok(given.decode_accepted_text.length > 0 && given.decode_refused.length > 0)
    for (const { text, timestamp_ms, worker_id, sequence } of given.decode_accepted_text) {
      const id = module.ok(id_parse(...module.input(text)))
      assert.deepEqual(parts(leaf, id), [Number(timestamp_ms), worker_id, sequence])
    }
    for (const { id, error } of [...given.decode_refused, ...given.decode_refused_counted_text]) {
      refusedWith(error, () => id_parse(...module.input(id)))
    }
    for (const { layout, id, error } of given.decode_refused_in_layout) refusedWith(error, () => decode(module.layout(layout), BigInt(id)))
  })

  test(`${name}: the ids of a tick have ends`, () => {
    assert.ok(given.id_ranges.length > 0)
    for (const { layout, timestamp_ms, first, last } of given.id_ranges) {
      for (const handle of named(layout)) {
        assert.equal(module.ok(first_id_at(handle, Number(timestamp_ms))), BigInt(first))
        assert.equal(module.ok(last_id_at(handle, Number(timestamp_ms))), BigInt(last))
      }
    }
    for (const { layout, timestamp_ms, error } of given.id_ranges_refused) {
      for (const call of [first_id_at, last_id_at]) refusedWith(error, () => call(byFields(layout), Number(timestamp_ms)))
    }
  })

  test(`${name}: floors times to the tick`, () => {
    assert.ok(given.compose_floors.length > 0)
    for (const { layout, timestamp_ms, worker_id, sequence, id, floored_ms } of given.compose_floors) {
      const handle = module.layout(layout)
      assert.equal(module.ok(compose(handle, Number(timestamp_ms), worker_id, sequence)), BigInt(id))
      assert.equal(parts(handle, BigInt(id))[0], Number(floored_ms))
    }
  })

  test(`${name}: reads layouts`, () => {
    const { accepted, refused } = given.layout_text
    for (const text of accepted) assert.ok(module.layout(text) > 0)
    for (const text of refused) assert.throws(() => module.layout(text), { code: 'invalid_argument' })
    module.ok(layout_fields(module.layout('sonyflake')))
    assert.equal(module.text(), name === 'leafid' ? 'sonyflake' : '')
    const { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits } = given.layouts.sonyflake
    const expires = Number(epoch_ms) + 2 ** timestamp_bits * tick_ms
    const fields = [Number(epoch_ms), tick_ms, timestamp_bits, worker_bits, sequence_bits, 1, 2 ** worker_bits - 1, 2 ** sequence_bits - 1, expires]
    assert.deepEqual(module.numbers(9), fields)
  })
}

test('ids in each form of text', () => {
  const { valid, refused, refused_counted_text, format_refused, form_refused } = vectors('text_forms.json')
  const full = new Module()
  const { id_format, id_parse_form } = full.exports
  const format = (form, id) => {
    full.ok(id_format(...full.input(form), BigInt(id)))
    return full.text()
  }
  const parse = (form, text) => full.ok(id_parse_form(...full.input(form, text)))
  assert.ok(valid.length > 0 && refused.length > 0)
  for (const row of valid) {
    for (const form of ['decimal', 'base32', 'base62', 'uuid']) {
      assert.equal(format(form, row.id), row[form])
      assert.equal(parse(form, row[form]), BigInt(row.id))
    }
  }
  for (const { form, text, message } of [...refused, ...refused_counted_text]) {
    assert.throws(() => parse(form, text), { code: 'invalid_argument', message })
  }
  for (const id of format_refused) assert.throws(() => format('base32', id), { code: 'invalid_argument' })
  for (const form of form_refused) assert.throws(() => format(form, 0), { code: 'invalid_argument' })
})
