// Calls of user callbacks, and their errors.

import { LeafidError, fault } from './errors.js'

export const isThenable = value => typeof value?.then === 'function'

/**
 * Keeps a user callback out of the asynchronous context of the call that asks for an id: a transaction that the caller
 * has open there is not leafid's. Node, Bun, Deno and workerd have such contexts, browsers have none.
 */
const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')
export const outside = hooks?.AsyncLocalStorage?.snapshot?.() ?? (call => call())

/** The text of what was thrown, or of what a promise was rejected with. */
export function textOf(error) {
  try {
    return String(error instanceof Error && error.message ? error.message : error)
  } catch {
    // An object without a prototype, or one whose toString throws.
    return 'it threw a value without a text'
  }
}

/** The error for what a user callback threw. A LeafidError keeps its code and its message. */
export function failure(error, name, doing) {
  const isOurs = error instanceof LeafidError
  const made = isOurs ? new LeafidError(error.code, error.message) : fault(name, `${doing} failed: ${textOf(error)}`)
  made.cause = error
  return made
}
