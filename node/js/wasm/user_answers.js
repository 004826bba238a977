// The user's source of worker ids, as the calls of a run use it.

import { lease, renewal, times, workerId } from './answers.js'
import { wasm } from './module.js'

const bytesOf = numbers => new Uint8Array(BigInt64Array.from(numbers, BigInt).buffer)

function answered(call, { workerId, fromMs, untilMs, leaseMs, token = null, peerTimesMs = [] }) {
  return wasm().call('call_answered', call, workerId, fromMs, untilMs, leaseMs, token, bytesOf(peerTimesMs))
}

/** Likewise; `null`: no id is free, or the lease is lost. */
const given = (call, found) => (found === null ? wasm().call('call_end', call, 1, 0, '') : answered(call, found))

/** Reads the answers: types are checked here, values by the module. */
const take = {
  times: (call, value) => answered(call, { peerTimesMs: times(value) }),
  renew: (call, value) => given(call, renewal(value)),
}
const leased = (call, value) => given(call, lease(value))

function alone(call, value) {
  const id = workerId(value)
  return given(call, id === null ? null : { workerId: id })
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
