// An open generator: the module's, its record, its lock, and its lease if it has one. The module decides; here are the
// clock, the writes and the timers.

import { acquire, giveBack } from './acquire.js'
import { filteredMs } from './clock.js'
import { codeOf, fault, nameOf } from './errors.js'
import { AWAITING, BLOCKING, MAX_WAIT_MS, claim, waitsTooLong } from './claim.js'
import { failedRenewal } from './lease_calls.js'
import { warn } from './logger.js'
import { NEED_SPAN, WAIT_UNTIL, wasm } from './module.js'
import { platform } from './platform.js'
import { fields } from './record.js'
import { now as runNow, soon } from './steps.js'
import { clearTimeout, elapsed, nowMs } from './time.js'
import { inTime } from './user_calls.js'

const [NOT_NEEDED, EXTEND, NO_ROOM, LEASE_SHORT] = [0, 1, 2, 3]
/** How long `ready` and an opening wait for the end of a wait without a record. */
const LONGEST_BEGIN_MS = 4000
/** A spin for the clock ends after this many readings, should the clock stand still. */
const MOST_READINGS = 1_000_000
const CLOCK_BACKWARDS = codeOf('clock_backwards')
const WORKER_LOST = codeOf('worker_lost')

/** Claims a worker id without the event loop. */
export const openNow = settings => runNow(opening(settings, BLOCKING, null))

/** Claims a worker id, and waits for what that needs. `lost` is the closed generator whose lease was lost. */
export const openSoon = async (settings, lost = null) => begun(await soon(opening(settings, AWAITING, lost)))

function* opening(settings, waits, lost) {
  const granted = yield* acquire(settings, waits.ask, lost && lost.workerId)
  try {
    return new Generator(settings, yield* claim(settings, waits, granted, lost?.firstUnused))
  } catch (error) {
    if (granted) giveBack(settings, granted, error)
    throw error
  }
}

/** Waits for the first id, if that is not far away. */
async function begun(generator) {
  try {
    if (generator.beginsSoon) await generator.ready()
    return generator
  } catch (error) {
    await generator.close()
    throw error
  }
}

class Generator {
  #settings
  #lock
  #file
  #flake
  #extension
  /** The schedule of the lease, a handle; 0 without one. */
  #held = 0
  /** What leased the worker id, or null. */
  #source = null
  /** The result of a renewal that is under way, a promise; null without one. */
  #asking = null
  #askedAt = 0
  /** No id is issued before this time, because no record was found; NaN without that. */
  #beginsMs
  #timer = null
  /** The write of a store that answers later, while it runs. */
  #writing = null
  /** Why no further span is written. */
  #ended = null
  /** The error of the last write, and the boot time before which none is tried again. */
  #failure = null
  #restsUntil = 0
  #closed = false
  /** The first tick without an id, once it is closed. */
  firstUnused = 0
  /** Called with an error when the lease is lost. */
  onLoss = () => {}
  renewals = 0
  failures = 0
  leaseError = null
  workerId

  constructor(settings, claimed) {
    const module = wasm()
    const { layout, rules } = settings
    const { granted } = claimed
    this.#settings = settings
    this.#lock = claimed.lock
    this.#file = claimed.file
    this.#beginsMs = claimed.beginsMs
    this.workerId = claimed.workerId
    this.#flake = module.call('snowflake_new', layout, rules, claimed.workerId, claimed.from, claimed.seed)
    if (claimed.until > claimed.from) module.call('snowflake_grant', this.#flake, claimed.from, claimed.until)
    this.#extension = module.call('extension_new', platform().bootMs())
    if (granted?.lease) {
      const { lease, asked } = granted
      this.#source = settings.workers.source
      this.#source.use()
      this.#held = module.call('held_new', lease, claimed.leaseUntil, asked, filteredMs(), patienceOf(settings))
      module.free(lease)
    }
    this.#schedule()
  }

  /** What the module returned for the next id at this time: below 0 it is none, and `wait` is next. */
  next(now) {
    return wasm().exports.snowflake_next(this.#flake, now)
  }

  /** As `next`, for up to `most` ids, which are then in the module's memory. */
  reserve(now, most) {
    return wasm().exports.snowflake_reserve(this.#flake, now, most)
  }

  /** Where a tick is longer than a call may wait, a batch fits into one tick; otherwise no id of it is taken. */
  checkBatch(n) {
    const { tickMs, sequenceBits } = this.#settings.layoutFields
    if ((tickMs <= MAX_WAIT_MS && platform().waits) || this.#settings.borrows) return
    const most = 2 ** sequenceBits
    if (n > most && tickMs > MAX_WAIT_MS) {
      wasm().refuse('n', n, `1 to ${most} with this layout: a call does not wait for a tick of ${tickMs} ms`)
    }
    const left = wasm().call('snowflake_left_in_tick', this.#flake, filteredMs())
    if (left > 0 && n > left && n <= most) throw waitsTooLong(tickMs)
  }

  /** The calls of one caller until it has its ids: `wait(returned)` after each that found none. */
  waiting() {
    const deadline = elapsed() + this.#settings.timeoutMs
    let refused = false
    return returned => {
      const module = wasm()
      const action = Number(returned)
      const target = action === WAIT_UNTIL ? module.number() : 0
      const error = action > -100 ? module.errorOf(-action, module.text()) : null
      if (this.#beginsMs > filteredMs()) {
        if (this.#beginsMs - filteredMs() > this.#settings.timeoutMs) throw this.#notYet()
        return waitUntil(this.#beginsMs, deadline)
      }
      if (action === WAIT_UNTIL) return waitUntil(target, deadline)
      if (action === NEED_SPAN) return this.#needSpan(deadline)
      // The thread may have been stopped since it read the clock.
      if (error.code !== CLOCK_BACKWARDS || refused) throw error
      refused = true
    }
  }

  get beginsSoon() {
    const left = this.#beginsMs - filteredMs()
    return left > 0 && left <= LONGEST_BEGIN_MS
  }

  #notYet() {
    const left = Math.ceil(this.#beginsMs - filteredMs())
    const message =
      `no record of worker id ${this.workerId} was found at the start, so nothing is issued for ${left} ms more ` +
      '(noRecordWaitMs); call again then'
    return fault('clock_backwards', message)
  }

  #needSpan(deadline) {
    if (this.#ended) throw this.#ended
    if (this.#settings.store.sync) {
      const action = runNow(this.#extend())
      if (action === LEASE_SHORT) throw this.#leaseIsShort()
      if (action === NO_ROOM) waitUntil(filteredMs() + this.#settings.layoutFields.tickMs, deadline)
      return
    }
    if (!this.#writing && this.#failure && platform().bootMs() < this.#restsUntil) throw this.#failure
    this.#renewSoon(true)
    const message =
      `the next span of worker id ${this.workerId} is being written; await ready(), or return to the event loop, and ` +
      'call again'
    throw fault('would_block', message)
  }

  #leaseIsShort() {
    this.#renewLease(true)
    const also = this.leaseError ? ` (before: ${this.leaseError.message})` : ''
    const message =
      `the lease of worker id ${this.workerId} is being renewed, and its server has not answered yet${also}; return ` +
      'to the event loop and call again'
    return fault('would_block', message)
  }

  /** Fulfilled when a call for an id finds a span. */
  async ready() {
    const left = this.#beginsMs - filteredMs()
    if (left > LONGEST_BEGIN_MS) throw this.#notYet()
    if (left > 0) await AWAITING.pause(left)
    const deadline = elapsed() + this.#settings.timeoutMs
    while (!this.#closed && !this.#hasSpan()) {
      if (this.#ended) throw this.#ended
      const action = await this.#renewSoon(true)
      if (elapsed() >= deadline) throw this.#failure ?? this.#late(action)
      if (action === LEASE_SHORT) {
        this.#abandonDead()
        await this.#renewLease(true)
      }
      if (action !== EXTEND) await AWAITING.pause(1)
    }
  }

  /** Whether the clock is in a granted span, and its tick has ids; ahead of the clock the rules say when. */
  #hasSpan() {
    const module = wasm()
    const now = module.maybe('layout_tick_at', this.#settings.layout, filteredMs())
    if (now === null || this.#beginsMs > filteredMs() || module.call('snowflake_until', this.#flake) <= now + 1) {
      return false
    }
    if (module.call('snowflake_left_in_tick', this.#flake, filteredMs()) > 0) return true
    const first = module.maybe('snowflake_first_unused', this.#flake) ?? 0
    return first > now + 1 && !this.#settings.forgets
  }

  #late(action) {
    if (action === LEASE_SHORT) return this.#leaseIsShort()
    const message =
      `no id of worker id ${this.workerId} is available within timeoutMs (${this.#settings.timeoutMs}): the clock is ` +
      'behind, or the store is slow; call again'
    return fault('would_block', message)
  }

  /** Writes the next span if it is time, and grants it, in this order. */
  *#extend() {
    const module = wasm()
    const [now, boot] = [filteredMs(), platform().bootMs()]
    if (this.#beginsMs > now) return NOT_NEEDED
    if (this.#lock.lost) {
      const message = `worker id ${this.workerId}: ${this.#lock.lost}; close, then open again`
      throw (this.#ended = fault('worker_lost', message))
    }
    const leaseUntil = this.#held ? module.call('held_bound', this.#held, boot) : Infinity
    const action = module.call('extension_poll', this.#extension, this.#flake, this.#file.record, leaseUntil, now, boot)
    if (action !== EXTEND) return action
    const [from, until] = module.numbers(2)
    try {
      yield* this.#file.write(module.call('record_extend', this.#file.record, from, until, now))
    } catch (error) {
      this.#restsUntil = platform().bootMs() + module.call('extension_failed', this.#extension)
      this.#failure = error
      this.failures++
      // A lost record does not come back.
      if (error.code === WORKER_LOST) this.#ended = error
      throw error
    }
    this.#failure = null
    this.renewals++
    module.call('extension_written', this.#extension)
    // Only now: it is durable. A generator that was sealed meanwhile takes none.
    module.call('snowflake_grant', this.#flake, from, until)
    return EXTEND
  }

  /** Extends the span in the background; one write at a time. Returns the module's action. */
  async #renewSoon() {
    if (this.#writing) return this.#writing
    if (this.#ended || this.#closed) return NOT_NEEDED
    this.#writing = this.#run().catch(error => {
      warn(error)
      return NO_ROOM
    })
    const action = await this.#writing
    this.#writing = null
    this.#schedule()
    return action
  }

  async #run() {
    // A store that answers at once is not left between two steps: a call for an id would write in between.
    return this.#settings.store.sync ? runNow(this.#extend()) : soon(this.#extend())
  }

  #schedule() {
    clearTimeout(this.#timer)
    if (this.#closed) return
    const module = wasm()
    const due = [module.maybe('extension_due_in_ms', this.#flake, filteredMs())]
    if (this.#ended) due[0] = null
    else if (this.#failure && due[0] !== null) due[0] = Math.max(this.#restsUntil - platform().bootMs(), 1)
    // No span is written for a time in which no id is issued.
    if (this.#beginsMs > filteredMs()) due[0] = this.#beginsMs - filteredMs()
    if (this.#held) due.push(module.call('held_due_in_ms', this.#held, platform().bootMs()))
    const soonest = Math.min(...due.filter(each => each !== null))
    if (soonest === Infinity) return
    this.#timer = platform().background(() => this.#tick(), Math.max(1, soonest))
  }

  async #tick() {
    if (this.#held) this.#renewLease(false)
    await this.#renewSoon()
  }

  /** Renews the lease if that is due. */
  async #renewLease(waitedFor) {
    if (!this.#held || this.#closed) return
    const module = wasm()
    const asked = platform().bootMs()
    const lease = module.call('held_begin_call', this.#held, asked, filteredMs(), waitedFor)
    if (lease === 0) return this.#checkLease()
    const wish = module.number()
    // Never inside a call for ids.
    await null
    if (this.#closed) return module.free(lease)
    const asking = this.#source.renew(this.#settings, lease, wish).finally(() => module.free(lease))
    this.#asking = asking
    this.#askedAt = asked
    // An abandoned one is answered all the same, later.
    const late = result => {
      if (this.#asking !== asking) module.free(result)
      else if (!this.#closed) {
        this.#asking = null
        module.free(result)
      }
    }
    const patienceMs = patienceOf(this.#settings)
    const { value: result, error } = await inTime(() => asking, '', patienceMs, late, platform().background)
    // The close in between needs it.
    if (this.#closed) return
    // It was abandoned meanwhile.
    if (this.#asking !== asking) return error ? undefined : module.free(result)
    if (!error) this.#asking = null
    this.#take(error ? failedRenewal(error) : result, asked)
  }

  /** A request of workerd that has ended takes its fetches and timers with it: their promises are never settled. */
  #abandonDead() {
    const { longestMs } = this.#source
    if (!this.#asking || platform().bootMs() - this.#askedAt <= longestMs) return
    this.#asking = null
    this.#take(failedRenewal(`no answer within ${longestMs} ms`), this.#askedAt)
  }

  /** Takes the result of a renewal, a handle. */
  #take(result, asked) {
    const module = wasm()
    const clocks = [asked, platform().bootMs(), filteredMs()]
    this.#renewing(module.call('held_take', this.#held, result, this.#settings.layout, ...clocks))
    module.free(result)
  }

  #renewing(ended) {
    const module = wasm()
    if (ended === 0) {
      this.leaseError = null
      this.kept = true
      this.#schedule()
      return
    }
    const error = module.errorOf(module.number(), module.text())
    this.leaseError = error
    this.failures++
    if (ended === 2) this.#lose(error)
    else {
      warn(error)
      this.#schedule()
    }
  }

  /** Whether the lease is used up and was not renewed. */
  #checkLease() {
    const module = wasm()
    const tick = module.maybe('layout_tick_at', this.#settings.layout, filteredMs()) ?? 0
    if (module.call('held_is_over', this.#held, platform().bootMs(), tick) !== 1) return
    this.#lose(module.errorOf(module.number(), module.text()))
  }

  #lose(error) {
    if (this.#ended) return
    warn(error)
    this.#ended = error
    this.onLoss(error)
  }

  /** Milliseconds of the lease's end; null without one. */
  get leaseUntilMs() {
    if (!this.#held) return null
    const module = wasm()
    const lease = module.call('held_lease', this.#held)
    module.call('lease_fields', lease)
    const until = module.number(2)
    module.free(lease)
    return until
  }

  stats() {
    const module = wasm()
    const { layout, layoutFields } = this.#settings
    const now = module.maybe('layout_tick_at', layout, filteredMs()) ?? 0
    const last = Math.max((module.maybe('snowflake_first_unused', this.#flake) ?? 0) - 1, 0)
    const { until } = fields(this.#file.record)
    return {
      reservedUntilMs: module.call('layout_tick_start_ms', layout, until),
      leadMs: Math.max(last - now, 0) * layoutFields.tickMs,
      leaseUntilMs: this.leaseUntilMs,
      ids: module.call('snowflake_issued', this.#flake),
      renewals: this.renewals,
      renewalFailures: this.failures,
      lastError: shownError(this.#failure ?? this.leaseError),
    }
  }

  /**
   * Ends it: seals it, writes its end, unlocks, in this order; then releases the lease. Returns a promise if the store
   * answers later. `lost`: the lease is another's. `isEnding`: so is the process, and no request is made any more: a
   * lease of servers ends by itself.
   */
  close(lost = false, isEnding = false) {
    if (this.#closed) return undefined
    this.#closed = true
    const keepsLease = lost || (isEnding && Boolean(this.#source?.urls))
    clearTimeout(this.#timer)
    const firstUnused = wasm().maybe('snowflake_seal', this.#flake)
    this.firstUnused = firstUnused ?? 0
    if (this.#settings.store.sync && !this.#writing) {
      try {
        return runNow(this.#letGo(firstUnused, keepsLease))
      } catch (error) {
        warn(error)
        return undefined
      }
    }
    return this.#closeSoon(firstUnused, keepsLease)
  }

  async #closeSoon(firstUnused, keepsLease) {
    await this.#writing
    await soon(this.#letGo(firstUnused, keepsLease)).catch(warn)
  }

  *#letGo(firstUnused, keepsLease) {
    const module = wasm()
    const held = this.#held
    this.#held = 0
    try {
      if (firstUnused !== null && !this.#lock.lost && this.#ended?.code !== WORKER_LOST) {
        yield* this.#file.write(module.call('record_closed', this.#file.record, firstUnused, filteredMs()))
      }
    } finally {
      this.#file.close()
      this.#lock.release()
      if (held) this.#release(held, firstUnused, keepsLease)
      module.free(this.#flake, this.#extension)
      // The number may be another's now.
      this.#flake = this.#extension = 0
    }
  }

  /** Releases the lease, once no renewal is under way: that may change its token. */
  #release(held, firstUnused, keepsLease) {
    const module = wasm()
    const untilMs = firstUnused === null ? 0 : module.call('layout_tick_start_ms', this.#settings.layout, firstUnused)
    const release = late => {
      const lease = keepsLease || firstUnused === null ? 0 : module.call('held_released', held, late)
      module.free(held, late)
      if (lease !== 0) this.#source.release(this.#settings, lease, untilMs)
      this.#source.drop()
    }
    if (this.#asking) this.#asking.then(release).catch(warn)
    else release(0)
  }
}

/** A call of a lease source that takes longer counts as hanging. */
export const patienceOf = ({ timeoutMs }) => Math.max(timeoutMs, 1000)

const shownError = error => (error ? `${nameOf(error.code)}: ${error.message}` : null)

function waitUntil(target, deadline) {
  const now = filteredMs()
  const left = target - now
  if (left > MAX_WAIT_MS || !platform().waits) throw waitsTooLong(left)
  // The filter takes longer than a reading.
  const read = nowMs() - now > MAX_WAIT_MS ? filteredMs : nowMs
  for (let readings = 0; read() < target; readings++) {
    if (readings > MOST_READINGS || elapsed() > deadline) throw waitsTooLong(target - read())
  }
}
