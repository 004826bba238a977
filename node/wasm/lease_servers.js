// Worker ids that servers lease, by HTTP: docs/LEASES.md.

import { filteredMs } from './clock.js'
import { LeafidError, codeOf, fault, nameOf, numberOf } from './errors.js'
import { WISH_MS, failedRenewal, fromMs } from './lease_calls.js'
import { warn } from './logger.js'
import { random128, wasm } from './module.js'
import { platform } from './platform.js'
import { ServerPool } from './servers.js'
import { failure } from './user_calls.js'

const [LOST, SOURCE_INVALID] = ['worker_lost', 'source_invalid'].map(codeOf)

/** By their options; of those that are in use. */
const all = new Map()
/** The claims without an answer, a handle: the same one is sent again, and takes no second worker id. */
let claims = 0

/**
 * The servers of an id space with these options: `{ name, urls, checked, headers, requestTimeoutMs, connectTimeoutMs
 * }`; the URLs as the user wrote them, and checked.
 */
export function leaseServers(options) {
  const key = JSON.stringify(options)
  return all.get(key) ?? new LeaseServers(key, options)
}

class LeaseServers {
  leases = true
  key
  urls
  #options
  #pool = null
  #users = 0

  constructor(key, options) {
    this.key = key
    this.urls = options.urls
    this.#options = { ...options, urls: options.checked, option: 1 }
  }

  /** A request does not take longer. */
  get longestMs() {
    return this.#options.requestTimeoutMs
  }

  /** Keeps the health of the servers, until as many calls of `drop`. */
  use() {
    this.#users++
    this.#pool ??= new ServerPool(this.#options)
    if (!all.has(this.key)) all.set(this.key, this)
  }

  drop() {
    this.#users--
    if (this.#users > 0) return
    if (all.get(this.key) === this) all.delete(this.key)
    this.#pool.close()
    this.#pool = null
  }

  /** Steps to a worker id: a grant, see acquire.js. */
  *claim(settings, previous, ask) {
    const late = ({ lease }) => this.release(settings, lease, fromMs(lease))
    const answer = yield ask(() => this.#claim(settings), 'the lease server', settings.timeoutMs, late)
    if (!('error' in answer)) return answer.value
    const { error } = answer
    if (!(error instanceof LeafidError)) throw failure(error, 'worker_lost', 'the claim of a worker id')
    // The name of the code speaks of a loss.
    const isFirst = previous === null && (error.code === LOST || error.code === SOURCE_INVALID)
    throw isFirst ? fault(nameOf(error.code), `no worker id could be claimed: ${error.message}`, error) : error
  }

  async #claim({ name }) {
    const module = wasm()
    const key = `${name} ${this.urls.join(' ')}`
    claims ||= module.call('claims_new')
    module.call('claim_begin', claims, key, random128(), platform().bootMs())
    const claim = { instance: module.text(), asked: module.number() }
    const make = () => {
      const now = filteredMs()
      module.call('lease_claim_request', name, claim.instance, now, now + WISH_MS)
    }
    try {
      const judge = response => module.call('lease_claim_judge', response, name, claim.instance)
      const lease = await this.#ask(make, judge, () => module.number())
      module.call('lease_fields', lease)
      return { workerId: module.number(), lease, asked: claim.asked }
    } catch (error) {
      const { instance, asked } = claim
      module.call('claim_failed', claims, key, instance, asked, numberOf(error), error.message)
    }
  }

  /** Renews a lease: the handle of a result. It throws nothing. */
  async renew({ name }, lease, wishMs) {
    const module = wasm()
    const nonce = random128()
    const make = () => module.call('lease_renewal_request', lease, wishMs, name, nonce)
    try {
      const judge = response => module.call('lease_renewal_judge', response, nonce)
      return await this.#ask(make, judge, () => module.number())
    } catch (error) {
      // Only a server's answer says that the lease is lost.
      return failedRenewal(error.code === SOURCE_INVALID ? error : error.message)
    }
  }

  /** Releases a lease, and frees its handle. An error is logged: the lease ends by itself. */
  async release({ name }, lease, untilMs) {
    const module = wasm()
    try {
      const make = () => module.call('lease_release_request', lease, untilMs, name)
      await this.#ask(make, response => module.call('lease_release_judge', response), () => {})
    } catch (error) {
      warn(error)
    } finally {
      module.free(lease)
    }
  }

  async #ask(make, judge, read) {
    this.use()
    try {
      return await this.#pool.ask('', true, { make, judge, read, isSelfEvident: true })
    } finally {
      this.drop()
    }
  }
}
