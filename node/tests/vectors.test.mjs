// The vectors that every language is held to.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compose, decode, firstIdAt, formatId, lastIdAt, parseId, LeafidError } from 'leafid'
import { thrown, vectors } from './support.mjs'

const {
  layouts,
  valid,
  refused,
  compose_floors,
  id_ranges,
  id_ranges_refused,
  decode_accepted_text,
  decode_refused,
  decode_refused_in_layout,
  decode_refused_counted_text,
  layout_text,
} = vectors('snowflake.json')
const codeOf = name => `ERR_LEAFID_${name.toUpperCase()}`

/** The layout of the vectors by its fields. */
const fields = ({ epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order }) => ({
  epochMs: Number(epoch_ms),
  tickMs: tick_ms,
  timestampBits: timestamp_bits,
  workerBits: worker_bits,
  sequenceBits: sequence_bits,
  order,
})

/** The ways to say a layout of the vectors: its fields and, of a preset, its name. Bits alone mean Leaf's epoch. */
const said = layout => (layout.includes('|') ? [fields(layouts[layout])] : [layout, fields(layouts[layout])])

function refusedWith(error, call) {
  const found = thrown(call)
  assert.ok(found instanceof LeafidError, String(found))
  assert.equal(found.code, codeOf(error), found.message)
}

test('composes and decodes', () => {
  assert.ok(valid.length > 0)
  for (const { layout, timestamp_ms, worker_id, sequence, id } of valid) {
    const timestampMs = Number(timestamp_ms)
    const parts = { timestampMs, time: new Date(timestampMs), workerId: worker_id, sequence }
    for (const named of said(layout)) {
      assert.equal(compose(timestampMs, worker_id, sequence, named), BigInt(id))
      assert.deepEqual(decode(BigInt(id), named), parts)
      assert.deepEqual(decode(id, named), parts)
      if (Number.isSafeInteger(Number(id))) assert.deepEqual(decode(Number(id), named), parts)
    }
  }
})

test('the ids of a tick have ends', () => {
  assert.ok(id_ranges.length > 0)
  for (const { layout, timestamp_ms, first, last } of id_ranges) {
    for (const named of said(layout)) {
      for (const time of [Number(timestamp_ms), new Date(Number(timestamp_ms))]) {
        assert.equal(firstIdAt(time, named), BigInt(first))
        assert.equal(lastIdAt(time, named), BigInt(last))
      }
    }
  }
  for (const { layout, timestamp_ms, error } of id_ranges_refused) {
    for (const call of [firstIdAt, lastIdAt]) refusedWith(error, () => call(Number(timestamp_ms), said(layout)[0]))
  }
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

test('the default layout is leaf', () => {
  for (const { layout, timestamp_ms, worker_id, sequence, id } of valid.filter(v => v.layout === 'leaf')) {
    for (const absent of [undefined, null]) {
      assert.equal(compose(Number(timestamp_ms), worker_id, sequence, absent), BigInt(id))
      assert.deepEqual(decode(id, absent), decode(id, layout))
    }
  }
})

test('refuses parts that no id holds', () => {
  assert.ok(refused.length > 0)
  for (const { layout, timestamp_ms, worker_id, sequence, error } of refused) {
    for (const named of said(layout)) {
      refusedWith(error, () => compose(Number(timestamp_ms), worker_id, sequence, named))
    }
  }
})

test('reads text', () => {
  assert.ok(decode_accepted_text.length > 0)
  for (const { text, timestamp_ms, worker_id, sequence } of decode_accepted_text) {
    const { timestampMs, workerId, sequence: number } = decode(text)
    assert.deepEqual([timestampMs, workerId, number], [Number(timestamp_ms), worker_id, sequence])
  }
})

test('refuses text that is no id', () => {
  assert.ok(decode_refused.length > 0 && decode_refused_counted_text.length > 0)
  for (const { id, error } of [...decode_refused, ...decode_refused_counted_text]) {
    refusedWith(error, () => decode(id))
    if (/^-?[1-9][0-9]*$/.test(id)) refusedWith(error, () => decode(BigInt(id)))
  }
})

test('refuses ids with more bits than the layout', () => {
  assert.ok(decode_refused_in_layout.length > 0)
  for (const { layout, id, error } of decode_refused_in_layout) {
    refusedWith(error, () => decode(id, layout))
    refusedWith(error, () => decode(BigInt(id), layout))
  }
})

test('floors times to the tick', () => {
  assert.ok(compose_floors.length > 0)
  for (const { layout, timestamp_ms, worker_id, sequence, id, floored_ms } of compose_floors) {
    assert.equal(compose(Number(timestamp_ms), worker_id, sequence, layout), BigInt(id))
    assert.equal(decode(id, layout).timestampMs, Number(floored_ms))
  }
})

test('reads layouts', () => {
  assert.ok(layout_text.accepted.length > 0 && layout_text.refused.length > 0)
  for (const text of layout_text.accepted) assert.equal(decode(0n, text).sequence, 0, text)
  for (const text of layout_text.refused) refusedWith('invalid_argument', () => decode(0n, text))
})
