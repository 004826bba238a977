// What follows a lost lease.

import { LeafidError, numberOf } from './errors.js'
import { openSoon, patienceOf } from './generator.js'
import { wasm } from './module.js'
import { platform } from './platform.js'

/**
 * Claims a new lease after a loss, with pauses that grow; calls `told` with the errors that callers get meanwhile.
 * Returns the new generator, whose ids are above those of `lost`, or null when `wanted` says no.
 */
export async function recover(settings, lost, why, losses, wanted, told) {
  const module = wasm()
  const { bootMs } = platform()
  const because = [numberOf(why), why.message]
  const loss = module.call('loss_new', lost.workerId, ...because, losses, bootMs(), settings.timeoutMs)
  try {
    while (wanted()) {
      const action = module.call('loss_poll', loss, bootMs(), patienceOf(settings), true)
      const [first, second] = module.numbers(2)
      if (action === 0) {
        try {
          return await openSoon(settings, lost)
        } catch (error) {
          if (!(error instanceof LeafidError)) throw error
          module.call('loss_claim_failed', loss, first, numberOf(error), error.message, bootMs())
        }
        continue
      }
      if (action === 2) told(module.errorOf(second, module.text()))
      await new Promise(done => platform().background(done, Math.max(first, 1)))
    }
    return null
  } finally {
    module.free(loss)
  }
}
