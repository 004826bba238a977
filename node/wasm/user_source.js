// Worker ids from the user: from a function, or leased from an object.

import { lease, renewal, workerId } from './answers.js'
import { filteredMs } from './clock.js'
import { fault } from './errors.js'
import { WISH_MS, failedRenewal } from './lease_calls.js'
import { log } from './logger.js'
import { random128, wasm } from './module.js'
import { platform } from './platform.js'
import { refuse } from './refuse.js'
import { isThenable } from './steps.js'
import { failure, outside, textOf } from './user_calls.js'

let count = 0
const sources = new WeakMap()

/** The same object is the same source. */
export function userSource(given) {
  if (!sources.has(given)) sources.set(given, new UserSource(given))
  return sources.get(given)
}

class UserSource {
  /** No lease servers. */
  urls = null
  longestMs = Infinity
  key = `source ${++count}`
  #given

  constructor(given) {
    this.#given = given
  }

  /** Whether worker ids come with leases. */
  get leases() {
    return typeof this.#given !== 'function'
  }

  /** Steps to a worker id; `ask` calls the user callback. A grant: see acquire.js. */
  *claim(settings, previous, ask) {
    const { name, timeoutMs } = settings
    const now = filteredMs()
    const request = { name, instance: random128(), previous, nowMs: now, untilMs: now + WISH_MS }
    const call = () => (this.leases ? this.#given.claim(request) : this.#given.call(undefined, name, previous))
    const asked = platform().bootMs()
    const answer = yield ask(call, "the worker's claim", timeoutMs, late => this.#releaseLate(late))
    if ('error' in answer) throw failure(answer.error, 'worker_lost', 'the claim of a worker id')
    const grant = this.leases ? this.#leased(answer.value, asked) : idOf(answer.value, settings)
    if (grant) return grant
    const message = `the claim found no free worker id for "${name}"; end a process, or widen the pool`
    throw fault('worker_in_use', message)
  }

  #leased(value, asked) {
    const fields = lease(value)
    if (fields === null) return null
    const { fromMs, untilMs, leaseMs, token } = fields
    const handle = wasm().call('lease_new', fields.workerId, fromMs, untilMs, leaseMs, token ?? null)
    return { workerId: fields.workerId, lease: handle, asked, peerTimesMs: fields.peerTimesMs }
  }

  /** Releases the lease of a claim for which no call waits any more. */
  #releaseLate(value) {
    if (!this.leases) return
    try {
      const fields = lease(value)
      if (fields) this.#released(fields, fields.fromMs)
    } catch {
      // No lease: there is nothing to release.
    }
  }

  /** Renews a lease: the handle of a result. It throws nothing. */
  async renew(settings, handle, wishMs) {
    const module = wasm()
    try {
      const held = fieldsOf(handle)
      const answer = renewal(await outside(() => this.#given.renew(held, wishMs)))
      if (answer === null) return module.call('renewal_failed', 0, '')
      const { workerId = held.workerId, untilMs, leaseMs, token } = answer
      if (workerId !== held.workerId) {
        refuse('workerId', workerId, `${held.workerId}, because a renewal keeps the worker id`)
      }
      return module.call('renewal_new', untilMs, leaseMs, token ?? null)
    } catch (error) {
      return failedRenewal(error)
    }
  }

  /** Releases a lease, and frees its handle. If this fails, the lease ends by itself, later. */
  release(settings, handle, untilMs, peerTimesMs) {
    const fields = fieldsOf(handle)
    wasm().free(handle)
    this.#released(peerTimesMs ? { ...fields, peerTimesMs } : fields, untilMs)
  }

  #released(fields, untilMs) {
    const failed = error => warnOfRelease(fields.workerId, error)
    try {
      const answer = outside(() => this.#given.release(fields, untilMs))
      if (isThenable(answer)) answer.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }

  use() {}

  drop() {}
}

function idOf(value, { mostWorker, layoutText }) {
  const id = workerId(value)
  if (id === null) return null
  const fits = id >= 0 && id <= mostWorker
  if (!fits) refuse('workerId', id, `as the claim's answer 0 to ${mostWorker} (${layoutText})`)
  return { workerId: id, lease: 0 }
}

/** The fields of a lease's handle, as its source gave them. */
function fieldsOf(handle) {
  const module = wasm()
  module.call('lease_fields', handle)
  const [workerId, fromMs, untilMs, leaseMs, hasToken] = module.numbers(5)
  const fields = { workerId, fromMs, untilMs }
  if (!Number.isNaN(leaseMs)) fields.leaseMs = leaseMs
  if (hasToken) fields.token = module.text()
  return fields
}

/** A warning of the process, where there are such. */
function warnOfRelease(workerId, error) {
  const message = `worker id ${workerId} was not released: ${textOf(error)}; its lease ends by itself`
  if (globalThis.process?.emitWarning) globalThis.process.emitWarning(message, 'LeafidWarning')
  else log('warn', message)
}
