'use strict'

// Opens a generator whose worker id, or whose peers' clocks, come from user callbacks, or whose opening is awaited. The
// addon cannot call a callback in the middle of an opening: it says which result it needs, gets it, and is called
// again. The host decides what is needed and when to give up; here are only the calls and the promises. An opening that
// finds the generator open calls no callback.

const { times } = require('./answers.js')
const { fault } = require('./errors.js')
const { guarded, translate } = require('./guard.js')
const { ended, theEvents } = require('./native_events.js')
const native = require('./native.js')
const { isSource } = require('./option_rules.js')
const { serve, sourceOf, theCalls, uses } = require('./sources.js')
const { clearTimeout, setTimeout } = require('./time.js')
const { failure, isThenable } = require('./user_calls.js')

const wouldBlock = message => fault('would_block', message)
const PROMISED = what =>
  `${what} returned a promise, but a constructor cannot wait: use await Snowflake.open(options), or lazy: true`
/** Calls a user callback: `{ value }`, `{ error }`, or `{ promise }`. */
function outcome(call) {
  try {
    const value = call()
    return isThenable(value) ? { promise: value } : { value }
  } catch (error) {
    return { error }
  }
}

const UNDER_WAY = 'the worker id is being claimed; return to the event loop, and call again'

class Opening {
  #peerTimes
  #source = null
  #opened = false

  /** `awaited`: only `soon` is called. Other threads then use the handle, and may wait for the clock and the disk. */
  constructor({ worker, peerTimes, ...given }, awaited = false) {
    const options = { ...given }
    if (isSource(worker)) this.#source = sourceOf(worker)
    else options.worker = worker
    this.#peerTimes = peerTimes
    const asked = {
      source: this.#source?.number,
      leases: this.#source?.leases === true,
      times: peerTimes !== undefined,
      waits: awaited,
    }
    this.handle = guarded(() => native.openAsking(options, theCalls(), theEvents(), asked))
    const leased = this.#source?.leases === true
    uses.set(this.handle.use, { source: this.#source, peerTimes, renewing: null, handle: leased ? new WeakRef(this.handle) : null })
  }

  /** Claims now: the user callbacks must return their results at once, not promises. */
  now() {
    this.#finish(() => {
      let claimed
      for (;;) {
        const needed = this.#attach(claimed)
        if (!needed) return
        if (needed.times) this.#supplyTimes(this.#at(() => this.#peerTimes.call(undefined), 'peerTimes'))
        if (needed.claim) {
          if (this.#source.opening) throw wouldBlock(UNDER_WAY)
          claimed = this.#supplyClaim(this.#at(() => this.#source.claim(needed.claim), "the worker's claim"))
        }
      }
    })
  }

  /**
   * Claims, and waits for the promises of user callbacks, each for `timeoutMs`. `keep` keeps the process alive while
   * another thread works.
   */
  async soon(keep = promise => promise) {
    const source = this.#source
    let ours = null
    try {
      let claimed
      for (;;) {
        const before = source?.opening
        if (before?.claims && before !== ours) await before.done
        // Without a claim's result it ends at once; with one it writes the record.
        const needed = source && !claimed ? this.#attach() : await this.#attachSoon(keep, claimed)
        if (!needed) return
        if (needed.times) this.#supplyTimes(await this.#settled(() => this.#peerTimes.call(undefined)))
        if (needed.claim) {
          const before = source.opening
          if (before && before !== ours) {
            // One claim at a time: its worker id may serve both.
            const error = await before.done
            if (error && before.name === needed.claim.name) throw error
            continue
          }
          if (!ours) ours = this.#begin(needed.claim.name)
          const late = value => source.releaseLate(value)
          claimed = this.#supplyClaim(await this.#settled(() => source.claim(needed.claim), late))
          ours.claims = true
        }
      }
    } catch (error) {
      ours?.end(error)
      throw error
    } finally {
      ours?.end()
      this.#finish(() => {})
    }
  }

  /** Closes the handle, on another thread if that may wait. `serve` calls the user callbacks that release leases. */
  close() {
    if (this.#opened && !this.#source) this.handle.closeSoon()
    else this.handle.close()
    serve(true)
  }

  /** Marks the source as asked by this opening, until `end`. */
  #begin(name) {
    const source = this.#source
    let finished
    // `claims`: another thread claims with the source's result.
    const opening = { name, claims: false, done: new Promise(done => (finished = done)) }
    opening.end = error => {
      if (source.opening === opening) source.opening = null
      finished(error)
    }
    source.opening = opening
    return opening
  }

  /** Claims with the supplied results. Returns which one is needed first, or null when it is done. */
  #attach(claimed) {
    return this.#tried(() => this.handle.workerId(), claimed)
  }

  /** As `#attach`, on another thread: it waits for a server, the disk or the clock. */
  async #attachSoon(keep, claimed) {
    const ticket = this.handle.claimSoon()
    await keep(ended(ticket))
    return this.#tried(() => {
      native.takeDone(theEvents(), ticket)
      this.#opened = true
    }, claimed)
  }

  #tried(attempt, claimed) {
    try {
      attempt()
      this.handle.opened()
      return null
    } catch (error) {
      const needed = this.handle.needed()
      if (needed) return needed
      const thrown = translate(error)
      if (claimed && 'cause' in claimed) thrown.cause = claimed.cause
      throw thrown
    }
  }

  /** Calls a user callback: `{ value }`, or `{ error }`. Throws if it returns a promise. */
  #at(call, what) {
    const answered = outcome(call)
    if (!('promise' in answered)) return answered
    const source = this.#source
    // A lease that comes later is released.
    answered.promise.then(late => what !== 'peerTimes' && source.releaseLate(late), () => {})
    throw wouldBlock(PROMISED(what))
  }

  /** As `#at`, with promises. A late one is an error, and its value goes to `late`. */
  async #settled(call, late = () => {}) {
    const begun = outcome(call)
    if (!('promise' in begun)) return begun
    let timer
    const { timeoutMs } = this.handle
    const out = new Promise(done => {
      const error = () => new Error(`no answer within timeoutMs (${timeoutMs}); see what it waits for, or raise timeoutMs`)
      timer = setTimeout(() => done({ error: error(), late: true }), timeoutMs)
    })
    const answered = Promise.resolve(begun.promise).then(
      value => ({ value }),
      error => ({ error }),
    )
    const first = await Promise.race([answered, out])
    clearTimeout(timer)
    if (first.late) answered.then(({ value }) => value !== undefined && late(value))
    return first
  }

  #supplyTimes(answered) {
    if ('error' in answered) this.handle.supplyNoTimes(failure(answered.error).failed)
    else this.handle.supply({ timesMs: times(answered.value) })
  }

  /** Returns what it supplied, and the cause of a failure. */
  #supplyClaim(answered) {
    const failed = 'error' in answered
    const answer = failed ? failure(answered.error) : this.#source.read(answered.value)
    this.handle.supply(answer)
    return failed ? { answer, cause: answered.error } : { answer }
  }

  /** Ends an attempt, and releases its lease if that was not used. */
  #finish(attempt) {
    try {
      attempt()
    } finally {
      const unused = this.handle.settle()
      if (unused) this.#source.release(unused, unused.fromMs)
      serve(true)
    }
  }
}

module.exports = { Opening, UNDER_WAY }
