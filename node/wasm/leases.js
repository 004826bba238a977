// Leases of worker ids from servers: docs/LEASES.md.

import { fault } from './errors.js'
import { ask } from './http.js'
import { warn } from './logger.js'
import { random128, wasm } from './module.js'
import { platform } from './platform.js'
import { nowMs } from './time.js'

const WISH_MS = 30_000

const serversOf = ({ workers, headers, token, requestTimeoutMs }) => ({
  urls: workers.urls,
  headers,
  token,
  timeoutMs: requestTimeoutMs,
  option: 1,
})

/** Claims a lease: `{ workerId, lease, asked }`; `lease` is a handle, and `asked` boot time from before the request. */
export async function claimLease(settings) {
  const module = wasm()
  const { name, timeoutMs } = settings
  const instance = random128()
  const asked = platform().bootMs()
  const make = () => {
    const now = nowMs()
    module.call('lease_claim_request', name, instance, now, now + WISH_MS)
  }
  const judge = response => module.call('lease_claim_judge', response, name, instance)
  let lease
  try {
    lease = await ask(serversOf(settings), make, judge, () => module.number())
  } catch (error) {
    if (!error.unreachable) throw error
    throw fault('worker_lost', `no lease server can be reached, and leafid/wasm caches no lease: ${error.message}`, error)
  }
  try {
    module.call('lease_check_peers', lease, nowMs())
    module.call('lease_fields', lease)
    const [workerId] = module.numbers(1)
    if (workerId > settings.mostWorker) {
      const message = `${settings.workers.urls.join(', ')} returned a lease that cannot be used: worker id ${workerId} is above ${settings.mostWorker}, the layout's largest; see the server`
      throw fault('worker_lost', message)
    }
    return { workerId, lease, asked, patienceMs: Math.max(timeoutMs, 1000) }
  } catch (error) {
    returnLease(settings, lease)
    throw error
  }
}

/** Renews a lease; returns the handle of a result for `held_take`. */
export async function renewLease(settings, lease, wishMs) {
  const module = wasm()
  const nonce = random128()
  const make = () => module.call('lease_renewal_request', lease, wishMs, settings.name, nonce)
  const judge = response => module.call('lease_renewal_judge', response, nonce)
  return ask(serversOf(settings), make, judge, () => module.number())
}

/** Releases a lease, and frees its handle. An error is a warning: the lease ends by itself. */
export async function releaseLease(settings, lease, untilMs) {
  const module = wasm()
  try {
    const make = () => module.call('lease_release_request', lease, untilMs, settings.name)
    await ask(serversOf(settings), make, response => module.call('lease_release_judge', response))
  } catch (error) {
    warn(error)
  } finally {
    module.free(lease)
  }
}

/** Releases a lease that was not used. */
export function returnLease(settings, lease) {
  const module = wasm()
  module.call('lease_fields', lease)
  const fromMs = module.number(1)
  return releaseLease(settings, lease, fromMs)
}
