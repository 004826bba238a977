// The clocks, as the module takes them.

import { wasm } from './module.js'
import { platform } from './platform.js'
import { nowMs } from './time.js'

/** The longest time between two readings of which one is taken in between. */
const MOST_BETWEEN_MS = 1000

/** The readings of the wall clock and of the boot time: the thread may lose the processor in between. */
export function clocks() {
  for (let before = platform().bootMs(); ; ) {
    const now = nowMs()
    const after = platform().bootMs()
    if (after - before < MOST_BETWEEN_MS) return [now, after]
    before = after
  }
}

/** Unix milliseconds after the module's filter of leaps. */
export const filteredMs = () => wasm().call('filtered_ms', ...clocks())
