// Calls of user callbacks: of those that must return at once, and of those whose promises are awaited; and their
// errors.

import { LeafidError, fault } from './errors.js'
import { isThenable } from './steps.js'
import { clearTimeout, setTimeout } from './time.js'

/**
 * Keeps a user callback out of the asynchronous context of the call that asks for an id: a transaction that the caller
 * has open there is not leafid's. Node, Bun, Deno and workerd have such contexts, browsers have none.
 */
const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')
export const outside = hooks?.AsyncLocalStorage?.snapshot?.() ?? (call => call())

/** Calls a user callback: `{ value }`, `{ error }`, or `{ promise }`. */
function outcome(call) {
  try {
    const value = outside(call)
    return isThenable(value) ? { promise: Promise.resolve(value) } : { value }
  } catch (error) {
    return { error }
  }
}

/**
 * Calls a user callback: `{ value }` or `{ error }`. Throws if it returns a promise; what that brings goes to `late`.
 */
export function atOnce(call, what, timeoutMs, late) {
  const begun = outcome(call)
  if (!begun.promise) return begun
  begun.promise.then(late, () => {})
  const message =
    `${what} returned a promise, but a constructor cannot wait: use await Snowflake.open(options), or lazy: true`
  throw fault('would_block', message)
}

/**
 * As `atOnce`, but waits for a promise. After `timeoutMs` that is an error, and what the promise brings goes to `late`.
 */
export function inTime(call, what, timeoutMs, late, begin = setTimeout) {
  const begun = outcome(call)
  if (!begun.promise) return begun
  return new Promise(done => {
    let isLate = false
    const timer = begin(() => {
      isLate = true
      const error = new Error(`no answer within timeoutMs (${timeoutMs}); see what it waits for, or raise timeoutMs`)
      done({ error })
    }, timeoutMs)
    const settled = answer => {
      clearTimeout(timer)
      done(answer)
    }
    begun.promise.then(
      value => (isLate ? late(value) : settled({ value })),
      error => settled({ error }),
    )
  })
}

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
