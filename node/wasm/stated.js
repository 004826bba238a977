// Worker ids that stand in a program, or that it makes, may be the same for all who run it. Where leafid does not see
// the others, they are the user's statement.

import { fault } from './errors.js'

/**
 * Throws for worker ids that a program has of its own and that were not stated to be this place's alone.
 *
 * @param {string} all who runs the same program, each with the same worker ids
 * @param {string} other who may not have them
 */
export function checkStated({ workers, isRange, leases, exclusiveRange }, all, other) {
  // Leases tell each who asks another one.
  if (leases || exclusiveRange) return
  const [kind, gets] = workers.source ? ['function', 'may get'] : [isRange ? 'range' : 'number', 'would get']
  const message =
    `worker is a ${kind}, and ${all} ${gets} the same: lease the worker id (worker is then ` +
    `the URL of a lease server); or, if no other ${other} has it, set exclusiveRange: true`
  throw fault('invalid_argument', message)
}
