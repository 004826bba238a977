// leafid/wasm/decode, which has no module: it says of ids what the core says.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { decode } from 'leafid'
import * as alone from 'leafid/wasm/decode'
import { thrown, vectors } from './support.mjs'

const { layouts, valid, decode_accepted_text, decode_refused, decode_refused_counted_text, layout_text } = vectors('snowflake.json')
const fields = ({ epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order }) => {
  const bits = { timestampBits: timestamp_bits, workerBits: worker_bits, sequenceBits: sequence_bits }
  return { ...bits, epochMs: Number(epoch_ms), tickMs: tick_ms, order }
}
const presets = Object.keys(layouts).filter(name => !name.includes('|'))
const texts = [...layout_text.accepted, ...layout_text.refused]
const part = { timestampBits: 30, tickMs: 10 }
const odd = [
  { timestampBits: 0 }, { timestampBits: 63 }, { workerBits: 32 }, { sequenceBits: 1.5 }, { timestampBits: 41, workerBits: 12 },
  { tickMs: 0 }, { tickMs: 3_600_001 }, { epochMs: -1 }, { epochMs: 2 ** 53 }, { order: 'x' }, { bits: 1 }, [], 5, true, 5n,
]
const ends = ['0', '1', '9007199254740992', '9223372036854775807']
const ids = [
  ...[...valid.map(({ id }) => id), ...ends].flatMap(id => [id, BigInt(id), Number(id)]),
  ...[...decode_refused, ...decode_refused_counted_text].map(({ id }) => id), ...decode_accepted_text.map(({ text }) => text),
  '007', '00000000000000000000', -1, -1n, 1n << 63n, 1.5, NaN, undefined, null, {}, [1], true,
]

/** What it returns, or of an error the code. */
function outcome(call) {
  try {
    return call()
  } catch ({ code, retry }) {
    return { code, retry }
  }
}

test('it says what the core says, of every id in every layout', () => {
  assert.ok(presets.length === 5 && ids.length > 50)
  const all = [undefined, null, ...presets, ...Object.values(layouts).map(fields), ...texts, part, {}, ...odd]
  for (const layout of all) {
    for (const id of ids) {
      const [found, right] = [alone.decode, decode].map(call => outcome(() => call(id, layout)))
      assert.deepEqual(found, right, `${inspect(id)} in ${inspect(layout)}`)
    }
  }
})

test('its errors say what was wrong, and what is allowed', () => {
  assert.equal(thrown(() => alone.decode('12x')).message, thrown(() => decode(1.5)).message.replace('1.5', "'12x'"))
  assert.match(thrown(() => alone.decode(0n, '41|10|13')).message, /^layout is '41\|10\|13'; allowed: "leaf", /)
  assert.match(thrown(() => alone.decode('9'.repeat(1000))).message, /^id is '9{199}; allowed/)
})
