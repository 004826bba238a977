// The arrays of callers. A subclass may have getters, which can ask for ids in the middle of a call. So leafid reads an
// array with the getters of the language, and writes a plain array over the same memory.

import { wasm } from './module.js'

/** The most ids of a call. */
export const MOST = 1 << 24
const ARRAY = `a BigInt64Array or BigUint64Array of up to ${MOST} elements, of memory that is there`

const plain = Object.getPrototypeOf(BigInt64Array.prototype)
const own = name => {
  const { get } = Object.getOwnPropertyDescriptor(plain, name)
  return array => Reflect.apply(get, array, [])
}
const [bufferOf, offsetOf, lengthOf, kindOf] = ['buffer', 'byteOffset', 'length', Symbol.toStringTag].map(own)
/** Throws for an array that lies outside of its memory, or whose memory was detached. */
const { at } = plain

/** A plain array over the memory of the caller's. Ids are never negative: both kinds of element have the same bits. */
export function plainOf(array) {
  const kind = kindOf(array)
  if ((kind !== 'BigInt64Array' && kind !== 'BigUint64Array') || lengthOf(array) > MOST) {
    wasm().refuse('array', array, ARRAY)
  }
  try {
    Reflect.apply(at, array, [0])
    return new BigInt64Array(bufferOf(array), offsetOf(array), lengthOf(array))
  } catch {
    return wasm().refuse('array', array, ARRAY)
  }
}
