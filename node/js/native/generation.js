'use strict'

const native = require('./native.js')

/**
 * Another number in a forked child, which must not issue its parent's ids. V8 leaves its heap out of such children, so
 * that no JavaScript runs there; other engines may not.
 */
const GENERATION = native.forkGeneration()

/** The number of this process. */
function generation() {
  if (GENERATION[0] === 0) GENERATION[0] = native.nextGeneration()
  return GENERATION[0]
}

/** Whether this is the number of this process. */
const isCurrent = number => GENERATION[0] === number

module.exports = { GENERATION, generation, isCurrent }
