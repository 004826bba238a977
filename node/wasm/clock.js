// The clock after the filter: a leap ahead by more than 60 s is followed only after it has lasted for 60 s. A clock
// that leaps to 2036 for a second would otherwise put 2036 into the records. It is filtered where another clock tells a
// leap from a suspended machine.

import { log } from './logger.js'
import { wasm } from './module.js'
import { platform } from './platform.js'
import { nowMs } from './time.js'

/** The longest time between two readings of which one is taken in between. */
const MOST_BETWEEN_MS = 1000
let filter = 0

function theFilter() {
  filter ||= wasm().call('clock_new')
  return filter
}

/** The reading of both clocks: the thread may lose the processor in between. */
function both() {
  for (let before = platform().bootMs(); ; ) {
    const now = nowMs()
    const after = platform().bootMs()
    if (after - before < MOST_BETWEEN_MS) return [now, after]
    before = after
  }
}

/** Unix milliseconds after the filter: for all records and decisions. */
export function filteredMs() {
  if (!platform().filters) return nowMs()
  const filtered = wasm().call('clock_filter', theFilter(), ...both())
  if (wasm().number() === 1) log('warn', wasm().text())
  return filtered
}

/** A generator uses the filtered time from now on. */
export function markUsed() {
  if (platform().filters) wasm().call('clock_used', theFilter())
}
