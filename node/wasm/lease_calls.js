// What both kinds of lease sources need.

import { LeafidError, numberOf } from './errors.js'
import { wasm } from './module.js'
import { failure } from './user_calls.js'

/** How far ahead a span is requested. */
export const WISH_MS = 30_000

/** The start of a lease's span. */
export function fromMs(lease) {
  wasm().call('lease_fields', lease)
  return wasm().number(1)
}

/**
 * The result of a renewal that failed, a handle. Only an error `worker_lost` of the source says that the lease is lost.
 */
export function failedRenewal(error) {
  const { code, message } = failure(error, 'worker_lost', 'the renewal of the lease')
  const number = numberOf({ code })
  return wasm().call('renewal_failed', error instanceof LeafidError ? number : -number, message)
}
