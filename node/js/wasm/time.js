// Clocks and timers as they are when this file is loaded: test frameworks replace the globals.

export const { Date, setTimeout, clearTimeout } = globalThis
const { performance } = globalThis

/** Unix milliseconds. */
export const nowMs = Date.now.bind(Date)
/** Milliseconds since some time in the past. */
export const elapsed = performance.now.bind(performance)

/** A wall clock that moved further than the other one by more than this was set, or the machine was suspended. */
const STEP_MS = 1000

/**
 * A clock that never goes back and counts suspended time, from two that do one of both. A wall clock that is set
 * forward counts as suspended time too: a lease then ends early, never late.
 */
export function suspendCountingClock(wall = nowMs, steady = elapsed) {
  let [suspended, offset] = [0, wall() - steady()]
  return () => {
    const at = steady()
    const found = wall() - at
    if (found - offset > STEP_MS) suspended += found - offset
    if (Math.abs(found - offset) > STEP_MS) offset = found
    return Math.max(0, at + suspended)
  }
}

const settled = Promise.resolve()

/** Calls it as a microtask. */
export const soon = run => void settled.then(run)

/** A promise that is fulfilled after a time. */
export const sleep = ms => new Promise(done => setTimeout(done, ms))
