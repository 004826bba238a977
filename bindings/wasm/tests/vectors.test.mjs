// The vectors that every language is held to.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkVectors } from '../../../node/tests/vectors.mjs'
import { Module, Refused, vectors } from './module.mjs'

const given = vectors('snowflake.json')

class LeafidError extends Error {}

/** What is refused, as the package says it. */
function refused(call) {
  try {
    return call()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw Object.assign(new LeafidError(error.message), { code: `ERR_LEAFID_${error.code.toUpperCase()}` })
  }
}

/** The calls of the package leafid, each by the exports of a module. */
function calls(module) {
  const { compose, decode, first_id_at, id_parse, last_id_at, layout_new } = module.exports
  const layout = given => {
    if (typeof given !== 'object' || given === null) return module.layout(given ?? 'leaf')
    const { epochMs, tickMs, timestampBits, workerBits, sequenceBits, order } = given
    return module.ok(layout_new(epochMs, tickMs, timestampBits, workerBits, sequenceBits, ...module.input(order)))
  }
  const whole = id => (typeof id === 'string' ? module.ok(id_parse(...module.input(id))) : BigInt(id))
  const parts = (id, handle) => {
    // An i64 has no more bits.
    module.ok(decode(handle, BigInt.asIntN(64, id) === id ? id : -1n))
    const [timestampMs, workerId, sequence] = module.numbers(3)
    return { timestampMs, time: new Date(timestampMs), workerId, sequence }
  }
  return {
    LeafidError,
    compose: (timestampMs, worker, sequence, of) => refused(() => module.ok(compose(layout(of), timestampMs, worker, sequence))),
    decode: (id, of) => refused(() => parts(whole(id), layout(of))),
    firstIdAt: (time, of) => refused(() => module.ok(first_id_at(layout(of), Number(time)))),
    lastIdAt: (time, of) => refused(() => module.ok(last_id_at(layout(of), Number(time)))),
  }
}

for (const name of ['leafid', 'leafid-snowflake']) {
  test(`${name}: ids and layouts`, () => {
    const module = new Module(name)
    assert.ok(checkVectors(calls(module), given) > given.valid.length)
    const leaf = module.layout('leaf')
    for (const wrong of [NaN, 0.5, Infinity, 2 ** 53 + 2, -1]) {
      for (const numbers of [[wrong, 0], [0, wrong]]) {
        const call = () => module.ok(module.exports.compose(leaf, 1_700_000_000_000, ...numbers))
        assert.throws(call, { code: 'invalid_argument' })
      }
    }
    module.ok(module.exports.layout_fields(module.layout('sonyflake')))
    assert.equal(module.text(), name === 'leafid' ? 'sonyflake' : '')
    const { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits } = given.layouts.sonyflake
    const expires = Number(epoch_ms) + 2 ** timestamp_bits * tick_ms
    const fields = [Number(epoch_ms), tick_ms, timestamp_bits, worker_bits, sequence_bits, 1, 2 ** worker_bits - 1, 2 ** sequence_bits - 1, expires]
    assert.deepEqual(module.numbers(9), fields)
  })
}
