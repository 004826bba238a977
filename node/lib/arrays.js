'use strict'

// The arrays of callers. A subclass may have getters and a species, which can ask for ids in the middle of a call. So
// leafid reads an array with the getters of the language, and writes a plain array over the same memory.

const { isBigInt64Array, isBigUint64Array, isSharedArrayBuffer } = require('node:util/types')
const { refuse } = require('./errors.js')
const native = require('./native.js')

// The most ids of a call: checked here, so that `take` refuses before it allocates.
const { mostIds: MOST } = native.limits()
const ARRAY = `a BigInt64Array or BigUint64Array of up to ${MOST} elements, of memory that is there`

const plain = Object.getPrototypeOf(BigInt64Array.prototype)
const own = name => {
  const { get } = Object.getOwnPropertyDescriptor(plain, name)
  return array => Reflect.apply(get, array, [])
}
const [bufferOf, offsetOf, lengthOf] = [own('buffer'), own('byteOffset'), own('length')]
/** Throws for an array that lies outside of its memory, or whose memory was detached. */
const { at } = plain

/** Fills the caller's array with `fill`, which gets a plain array of the same length. */
function filled(array, fill) {
  if (!isBigInt64Array(array) && !isBigUint64Array(array)) refuse('array', array, ARRAY)
  if (lengthOf(array) > MOST) refuse('array', array, ARRAY)
  // Ids are never negative: both kinds of element have the same bits.
  const view = plainOf(array)
  if (isSharedArrayBuffer(bufferOf(array))) {
    // Other threads may read it meanwhile: JavaScript writes it, because its memory model allows that.
    const ids = new BigInt64Array(view.length)
    fill(ids)
    view.set(ids)
  } else {
    fill(view)
  }
  return array
}

function plainOf(array) {
  try {
    Reflect.apply(at, array, [0])
    return new BigInt64Array(bufferOf(array), offsetOf(array), lengthOf(array))
  } catch {
    return refuse('array', array, ARRAY)
  }
}

module.exports = { MOST, filled }
