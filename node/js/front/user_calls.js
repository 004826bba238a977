// What user callbacks return and throw.

import { LeafidError, nameOf } from './errors.js'

export const isThenable = value => typeof value?.then === 'function'

/** The text of what was thrown, or of what a promise was rejected with. */
export function textOf(error) {
  try {
    return String(error instanceof Error && error.message ? error.message : error)
  } catch {
    // An object without a prototype, or one whose toString throws.
    return 'it threw a value without a text'
  }
}

/** It as the core takes it. A LeafidError keeps its code. */
export function failure(error) {
  return error instanceof LeafidError ? { failed: error.message, code: nameOf(error.code) } : { failed: textOf(error) }
}
