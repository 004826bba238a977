'use strict'

const { guarded, refuse } = require('./errors.js')
const native = require('./native.js')
const { integer, layoutArgument } = require('./options.js')

const ID = 'a bigint from 0 to 9223372036854775807n, its decimal digits as a string, or a number below 2^53'

/** An id as the addon takes it: a BigInt of 64 bits, or text. */
function idArgument(id) {
  if (typeof id === 'string') return id
  if (typeof id === 'bigint' && BigInt.asIntN(64, id) === id) return id
  if (Number.isSafeInteger(id)) return BigInt(id)
  return refuse('id', id, ID)
}

function decode(id, layout) {
  const whole = idArgument(id)
  const bits = layoutArgument(layout)
  const { timestampMs, workerId, sequence } = guarded(() => native.decode(whole, bits))
  return { timestampMs, time: new Date(timestampMs), workerId, sequence }
}

function compose(timestampMs, workerId, sequence, layout) {
  const time = integer(timestampMs, 'timestampMs')
  const worker = integer(workerId, 'workerId')
  const number = integer(sequence, 'sequence')
  const bits = layoutArgument(layout)
  return guarded(() => native.compose(time, worker, number, bits))
}

module.exports = { decode, compose }
