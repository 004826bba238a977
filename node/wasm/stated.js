// Worker ids that stand in a program are the same for all who run it. Where leafid does not see the others, they are
// the user's statement.

import { fault } from './errors.js'

/**
 * Throws for worker ids that a program has of its own and that were not stated to be this place's alone.
 *
 * @param {string} all who runs the same program, each with the same worker ids
 * @param {string} other who may not have them
 */
export function checkStated({ workers, isRange, exclusiveRange }, all, other) {
  // A source tells each who asks another one.
  if (workers.source || exclusiveRange) return
  const message =
    `worker is ${isRange ? 'a range' : 'a number'}, and ${all} would get the same: lease the worker id (worker is then ` +
    `the URL of a lease server); or, if no other ${other} has it, set exclusiveRange: true`
  throw fault('invalid_argument', message)
}
