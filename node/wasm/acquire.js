// What an opening asks for before it claims a worker id: the clocks of peers, and a worker id of a source.
//
// A source of worker ids has
//   urls                     of its servers, or null
//   leases                   whether worker ids come with leases
//   key                      two sources with one key are one
//   claim(settings, previous, ask)      steps to a grant; `previous` is the worker id before a loss, or null
//   renew(settings, lease, wishMs)      a promise of the handle of a result for `held_take`
//   release(settings, lease, untilMs)   frees the handle of the lease
//   longestMs                how long a renewal takes at most
//   use(), drop()            by those who may call it later
//
// A grant is `{ workerId, lease, asked, peerTimesMs? }`: the handle of a lease, or 0, and boot time before it was asked
// for.

import { times } from './answers.js'
import { filteredMs } from './clock.js'
import { codeOf, fault } from './errors.js'
import { fromMs } from './lease_calls.js'
import { log } from './logger.js'
import { wasm } from './module.js'
import { textOf } from './user_calls.js'

const [IN_USE, INVALID] = ['worker_in_use', 'invalid_argument'].map(codeOf)

/** Steps to a grant; null where the options name the worker ids. `ask` calls user callbacks. */
export function* acquire(settings, ask, previous) {
  yield* checkPeers(settings, ask)
  const { source } = settings.workers
  if (!source) return null
  const grant = yield* source.claim(settings, previous, ask)
  if (!grant.lease) return grant
  try {
    check(settings, grant)
    return grant
  } catch (error) {
    giveBack(settings, grant, error)
    throw error
  }
}

/** Checks whether a lease can be used. */
function check({ layout, rules, workers }, { lease, peerTimesMs }) {
  const module = wasm()
  if (peerTimesMs) agree(peerTimesMs, filteredMs())
  else module.call('lease_check_peers', lease, filteredMs())
  try {
    module.call('lease_span', lease, layout, rules, filteredMs())
  } catch (error) {
    const { urls } = workers.source
    if (!urls || error.code !== INVALID) throw error
    const message = `${urls.join(', ')} returned a lease that cannot be used: ${error.message}; see the server`
    throw fault('worker_lost', message)
  }
}

/**
 * Releases a lease that was not used because of an error. One of servers whose worker id is held here is left to end:
 * the same id would be leased again at once.
 */
export function giveBack(settings, { lease, peerTimesMs }, error) {
  if (!lease) return
  const { layout, rules, workers: { source } } = settings
  if (source.urls && error.code === IN_USE && isUsable(lease, layout, rules)) wasm().free(lease)
  else source.release(settings, lease, fromMs(lease), peerTimesMs)
}

/** Another possible reason is that its span begins too far ahead. */
function isUsable(lease, layout, rules) {
  try {
    wasm().call('lease_span', lease, layout, rules, filteredMs())
    return true
  } catch {
    return false
  }
}

/**
 * Compares the clock with those of peers, if the options say how. Peers that cannot be asked do not prevent a start.
 */
function* checkPeers({ peerTimes, timeoutMs }, ask) {
  if (!peerTimes) return
  const before = filteredMs()
  const answer = yield ask(() => peerTimes.call(undefined), 'peerTimes', timeoutMs, () => {})
  if ('error' in answer) {
    log('warn', `the clocks of the peers are not known: ${textOf(answer.error)}; the start continues without them`)
    return
  }
  const found = times(answer.value)
  try {
    agree(found, before)
  } catch {
    // Either reading may fit, because a slow callback is not a wrong clock.
    agree(found, filteredMs())
  }
}

function agree(times, now) {
  wasm().call('peers_check', new Uint8Array(BigInt64Array.from(times, BigInt).buffer), now)
}
