// Work that waits for a store: the same steps for one that answers at once, and for one that answers by promises. Steps
// are a generator function, which yields what a store returned and gets what that stands for.

import { fault } from './errors.js'

export const isThenable = value => typeof value?.then === 'function'

/** Runs steps to their end. Throws `would_block` for a promise. */
export function now(steps) {
  let next = steps.next()
  while (!next.done) {
    if (isThenable(next.value)) {
      next.value.then(() => {}, () => {})
      next = steps.throw(fault('would_block', 'this needs the event loop; await it'))
    } else {
      next = steps.next(next.value)
    }
  }
  return next.value
}

/** Runs steps to their end, and waits for promises. */
export async function soon(steps) {
  let next = steps.next()
  while (!next.done) {
    let value
    try {
      value = await next.value
    } catch (error) {
      next = steps.throw(error)
      continue
    }
    next = steps.next(value)
  }
  return next.value
}
