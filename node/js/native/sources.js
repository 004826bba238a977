'use strict'

// The user callbacks for worker ids, and the calls of them for which leafid's threads wait. They run from the event
// loop only, never inside `next`: a transaction that the caller has open is not leafid's.

const { lease, renewal, times, workerId } = require('./answers.js')
const native = require('./native.js')
const { failure, isThenable } = require('./user_calls.js')

const NOTHING = Object.freeze({})

/** One user callback, or object of callbacks. */
class Source {
  /** Its number in this process. */
  number = native.uniqueNumber()
  /** The opening that is asking it for a worker id: `{ name, done }`. */
  opening = null
  #given

  constructor(given) {
    this.#given = given
  }

  get leases() {
    return typeof this.#given !== 'function'
  }

  /** Calls the user callback for a worker id and returns its result, which `read` checks. */
  claim(request) {
    return this.leases ? this.#given.claim(request) : this.#given.call(undefined, request.name, request.previous)
  }

  read(value) {
    const read = this.leases ? lease(value) : workerId(value)
    if (read === null) return NOTHING
    return this.leases ? { lease: read } : { workerId: read }
  }

  renew(held, untilMs) {
    return this.#given.renew(held, untilMs)
  }

  /** Releases a lease. If this fails, the lease ends by itself, later. */
  release(held, untilMs) {
    const failed = error => {
      const { failed: why } = failure(error)
      process.emitWarning(`worker id ${held.workerId} was not released: ${why}; its lease ends by itself`, 'LeafidWarning')
    }
    try {
      const answer = this.#given.release(held, untilMs)
      if (isThenable(answer)) answer.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }

  /** Releases the lease of a claim for which no call waits any more. */
  releaseLate(value) {
    if (!this.leases) return
    try {
      const { lease: held } = this.read(value)
      if (held) this.release(held, held.fromMs)
    } catch {
      // No lease: there is nothing to release.
    }
  }
}

const sources = new WeakMap()

/** The same object is the same source. */
function sourceOf(given) {
  if (!sources.has(given)) sources.set(given, new Source(given))
  return sources.get(given)
}

/** The uses of sources that the addon may ask: `{ source, peerTimes, renewing, handle }` by number. Held until it says `gone`. */
const uses = new Map()

/** The wake function's and the addon's end of this thread's calls; made with the first use. */
let calls

function theCalls() {
  if (!calls) {
    calls = native.listenCalls(() => serve(false))
    // Natural ends, process.exit and uncaught exceptions: leases are released where that needs no wait.
    process.on('exit', () => {
      for (const { handle } of uses.values()) {
        try {
          handle?.deref()?.close()
        } catch {
          // No caller is left for the error.
        }
      }
      serve(true)
      native.endCalls(calls)
    })
  }
  return calls
}

/** Makes the queued calls; `unasked`: only releases. */
function serve(unasked) {
  if (!calls) return
  for (const call of native.takeCalls(calls, unasked)) {
    const use = uses.get(call.usedBy)
    if (call.kind === 'gone') uses.delete(call.usedBy)
    else if (use === undefined) native.answerCall(calls, call.ticket, { failed: 'its source was closed' })
    else if (call.kind === 'renew') renewAlone(use, call)
    else if (call.kind === 'claim') claim(use, call)
    else if (call.kind === 'times') askTimes(use, call)
    else release(use, call)
  }
}

function renewAlone(use, call) {
  const renewing = renew(use.source, call)
  use.renewing = renewing
  renewing.then(() => {
    if (use.renewing === renewing) use.renewing = null
  })
}

/** Returns the token, if the renewal has a new one. */
async function renew(source, { ticket, lease: held, untilMs }) {
  let answer
  try {
    const read = renewal(await source.renew({ ...held }, untilMs))
    answer = read === null ? NOTHING : { renewal: read }
  } catch (error) {
    answer = failure(error)
  }
  native.answerCall(calls, ticket, answer)
  return answer.renewal?.token
}

/** The clocks of peers, before another worker id is claimed. */
async function askTimes({ peerTimes }, { ticket }) {
  let answer
  try {
    answer = { timesMs: times(await peerTimes.call(undefined)) }
  } catch (error) {
    answer = failure(error)
  }
  native.answerCall(calls, ticket, answer)
}

/** Another worker id in place of one whose lease was lost. */
async function claim({ source }, { ticket, request }) {
  let answer, value
  try {
    value = await source.claim(request)
    answer = source.read(value)
  } catch (error) {
    answer = failure(error)
  }
  if (!native.answerCall(calls, ticket, answer) && answer.lease) source.release(answer.lease, answer.lease.fromMs)
}

/** Never during a renewal: after it, with its token. */
function release({ source, renewing }, { lease: held, untilMs }) {
  if (renewing) renewing.then(token => source.release(token === undefined ? held : { ...held, token }, untilMs))
  else source.release(held, untilMs)
}

module.exports = { serve, sourceOf, theCalls, uses }
