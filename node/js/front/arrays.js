// The arrays of callers. A subclass may have getters and a species, which can ask for ids in the middle of a call. So
// leafid reads an array with the getters of the language, and writes a plain array over the same memory.

import { mostIds } from './limits.js'
import { refuse } from './refuse.js'

/** The most ids of a call: checked here, so that `take` refuses before it allocates. */
export const MOST = mostIds
const ARRAY = `a BigInt64Array or BigUint64Array of up to ${MOST} elements, of memory that is there`

const plain = Object.getPrototypeOf(BigInt64Array.prototype)
const own = (name, prototype = plain) => {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name)
  return object => Reflect.apply(get, object, [])
}
const [bufferOf, offsetOf, lengthOf, kindOf] = ['buffer', 'byteOffset', 'length', Symbol.toStringTag].map(name => own(name))
/** Throws for memory that threads share. */
const unsharedLengthOf = own('byteLength', ArrayBuffer.prototype)
/** Throws for an array that lies outside of its memory, or whose memory was detached. */
const { at } = plain

/** Fills the caller's array with `fill`, which gets a plain array of the same length. */
export function filled(array, fill) {
  const view = plainOf(array)
  if (isShared(bufferOf(array))) {
    // Other threads may read it meanwhile: JavaScript writes it, because its memory model allows that.
    const ids = new BigInt64Array(view.length)
    fill(ids)
    view.set(ids)
  } else {
    fill(view)
  }
  return array
}

function isShared(buffer) {
  try {
    unsharedLengthOf(buffer)
    return false
  } catch {
    return true
  }
}

/** A plain array over the memory of the caller's. Ids are never negative: both kinds of element have the same bits. */
function plainOf(array) {
  if (!isArray(array) || lengthOf(array) > MOST) refuse('array', array, ARRAY)
  try {
    Reflect.apply(at, array, [0])
    return new BigInt64Array(bufferOf(array), offsetOf(array), lengthOf(array))
  } catch {
    return refuse('array', array, ARRAY)
  }
}

/** The getter returns undefined for what is no array. */
function isArray(value) {
  const kind = kindOf(value)
  return kind === 'BigInt64Array' || kind === 'BigUint64Array'
}

/** An array for this number of ids. */
export function room(n) {
  if (!Number.isSafeInteger(n) || n < 0 || n > MOST) refuse('n', n)
  return new BigInt64Array(n)
}
