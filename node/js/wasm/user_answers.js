// The user's source of worker ids, as the calls of a run use it.

import { lease, renewal, times, workerId } from './answers.js'
import { wasm } from './module.js'

const bytesOf = numbers => new Uint8Array(BigInt64Array.from(numbers, BigInt).buffer)

function answered(call, { workerId, fromMs, untilMs, leaseMs, token = null, peerTimesMs = [] }) {
  return wasm().call('call_answered', call, workerId, fromMs, untilMs, leaseMs, token, bytesOf(peerTimesMs))
}

/** Reads the answers: types are checked here, values by the module. */
const take = {
  times: (call, value) => answered(call, { peerTimesMs: times(value) }),
  renew(call, value) {
    const answer = renewal(value)
    if (answer === null) return wasm().call('call_end', call, 1, 0, '')
    return answered(call, answer)
  },
}

function leased(call, value) {
  const found = lease(value)
  if (found === null) return wasm().call('call_end', call, 1, 0, '')
  return answered(call, found)
}

function alone(call, value) {
  const id = workerId(value)
  if (id === null) return wasm().call('call_end', call, 1, 0, '')
  return answered(call, { workerId: id })
}

/** What the calls of a run ask of the user. `source` gives worker ids: a function, an object that leases, or null. */
export function usersOf(source, peerTimes) {
  const isFunction = typeof source === 'function'
  return {
    peerTimes: () => peerTimes.call(undefined),
    claim: request => (isFunction ? source.call(undefined, request.name, request.previous) : source.claim(request)),
    renew: (held, untilMs) => source.renew(held, untilMs),
    release: (held, untilMs) => source.release(held, untilMs),
    take: { ...take, claim: isFunction ? alone : leased },
  }
}
