// The open generators of this realm. All handles with the same settings share one: a run of the module, which decides.

import { clocks, filteredMs } from './clock.js'
import { Driver } from './driver.js'
import { fault } from './errors.js'
import { warn } from './logger.js'
import { SLEEP, UNTIL, wasm } from './module.js'
import { platform } from './platform.js'
import { freeSettings } from './settings.js'
import { clearTimeout, nowMs, setTimeout, sleep } from './time.js'
import { usersOf } from './user_answers.js'

const [OPEN, CLOSE] = [0, 2]
/** The longest wait for the clock on a thread that has an event loop. */
const MAX_WAIT_MS = 2
const SLICE_MS = 100
/** A spin for the clock ends after this many readings, should the clock stand still. */
const MOST_READINGS = 1_000_000
const MOST_RESERVED = 4096
const BEGINS = 2

/** Also those whose opening or closing is under way. */
const all = new Set()

export class Run {
  settings
  handles = 1
  /** The generator, for calls of the module; 0 without one. After a lost lease it is another one. */
  flake = 0
  workerId
  /** The promise of the opening, or of the end, while it is under way. */
  opening = null
  closing = null
  #isClosed = false
  #onClosed = () => {}
  #driver
  #host
  /** Those who wait for an answer, `{ ticket, resolve, reject }`, and for the next one. */
  #waits = []
  #news = new Set()
  /** The calls that use the run's handle now. */
  #uses = 0
  #isFreed = false
  /** The handle of the generator, until it is freed. */
  #generator = 0

  constructor(settings) {
    const { run, store, source, peerTimes } = settings
    this.settings = settings
    this.#host = { store, users: usersOf(source, peerTimes), lock: null, thrown: null }
    this.#driver = new Driver(run, this.#host, {
      wake: () => this.#wake(),
      closed: error => this.#ended(error),
      idle: () => this.#tidy(),
      awaited: () => this.#waits.length > 0 || this.#news.size > 0,
    })
    all.add(this)
    endings()
  }

  /** The run of these settings, if it is open. */
  static find(settings) {
    return [...all].find(run => run.#is(settings))
  }

  #is({ options, store, source }) {
    const { settings } = this
    const isSame = settings.store.key === store.key && settings.source === source
    return isSame && wasm().call('options_alike', settings.options, options) === 1
  }

  /** A handle of the open run of these settings, which are freed then; or null. */
  static joined(settings) {
    const found = Run.find(settings)
    if (!found || found.opening || found.closing) return null
    freeSettings(settings)
    found.handles++
    return found
  }

  /** Opens without the event loop. */
  static now(settings) {
    const joined = Run.joined(settings)
    if (joined) return joined
    if (Run.find(settings)) {
      freeSettings(settings)
      throw fault('would_block', 'this generator is being opened or closed; return to the event loop, and call again')
    }
    const run = new Run(settings)
    // User code that is called inside does not find it.
    run.opening = Promise.resolve()
    try {
      run.#openNow()
      return run
    } catch (error) {
      throw run.#failed(error)
    } finally {
      run.opening = null
    }
  }

  #openNow() {
    const ticket = this.#driver.at('run_want', OPEN, false, false, longestMs())
    let answer = 0
    this.#driver.block(() => (answer = this.#driver.at('run_answer', ticket)) === 0)
    if (answer === 0) {
      this.#driver.at('run_give_up', ticket)
      throw fault('would_block', 'this needs the event loop; await it')
    }
    this.#see()
  }

  /** Opens, and waits for what that needs. */
  static async soon(settings) {
    for (;;) {
      const joined = Run.joined(settings)
      if (joined) return joined
      const other = Run.find(settings)
      if (!other) break
      try {
        // Openings of the same settings fail as one.
        await (other.closing ?? other.opening)
      } catch (error) {
        freeSettings(settings)
        throw error
      }
    }
    const run = new Run(settings)
    run.opening = Promise.resolve().then(() => run.#open())
    try {
      await run.opening
      return run
    } finally {
      run.opening = null
    }
  }

  async #open() {
    try {
      const answering = this.#answer(this.#driver.at('run_want', OPEN, true, false, undefined))
      this.#driver.drive()
      const answer = await answering
      this.#see()
      if (answer === BEGINS) await this.ready()
    } catch (error) {
      if (this.flake) this.#close(false)
      throw this.#failed(error)
    }
  }

  /** It has no handle: it ends with its last call. What the user's code threw is the cause of the error. */
  #failed(error) {
    this.handles = 0
    if (!this.closing) {
      all.delete(this)
      this.#isClosed = true
    }
    this.#driver.soon()
    const { thrown } = this.#host
    if (thrown && !('cause' in error)) error.cause = thrown.error
    return error
  }

  #answer(ticket) {
    return new Promise((resolve, reject) => {
      this.#waits.push({ ticket, resolve, reject })
      this.#wake()
    })
  }

  #wake() {
    this.#waits = this.#waits.filter(({ ticket, resolve, reject }) => {
      try {
        const answer = this.#driver.at('run_answer', ticket)
        if (answer === 0) return true
        resolve(answer)
      } catch (error) {
        reject(error)
      }
      return false
    })
    this.#see()
    for (const told of [...this.#news]) told()
  }

  /** Fulfilled at the next answers, or after a time. */
  #nextNews(ms) {
    return new Promise(done => {
      const told = () => {
        clearTimeout(timer)
        this.#news.delete(told)
        done()
      }
      const timer = setTimeout(told, ms)
      this.#news.add(told)
    })
  }

  /** Looks which generator the run has. */
  #see() {
    if (this.closing || this.#isClosed) return
    const flake = wasm().call('run_generator', this.settings.run)
    if (flake === 0) return
    this.flake = this.#generator = flake
    this.workerId = wasm().number()
  }

  #use(ready, longest, action) {
    const module = wasm()
    if (this.flake === 0) throw fault('closed', 'this snowflake is closed')
    const { run } = this.settings
    const wait = module.call('run_wait_new', run, ready, longest)
    this.#uses++
    const over = () => {
      this.#uses--
      module.call('run_wait_end', run, wait)
      this.#see()
      this.#driver.soon()
      this.#tidy()
    }
    return { wait, over }
  }

  /** The next id, after the generator returned none. */
  next() {
    const { wait, over } = this.#use(false, longestMs())
    try {
      for (;;) {
        const found = this.#driver.at('run_wait', wait, 1)
        if (found > 0) return wasm().ids(1)[0]
        spin(found)
      }
    } finally {
      over()
    }
  }

  /** Fills an array with ids: all of them, or none. */
  fill(view) {
    const module = wasm()
    const { layoutFields, run } = this.settings
    // Where a call may wait for a tick, it gets any number.
    if (layoutFields.tickMs > longestMs()) module.call('run_check_batch', run, view.length, longestMs(), ...clocks())
    let [done, waits] = [0, null]
    try {
      while (done < view.length) {
        const most = Math.min(view.length - done, MOST_RESERVED)
        const count = waits
          ? this.#driver.at('run_wait', waits.wait, most)
          : module.exports.snowflake_reserve(this.flake, nowMs(), most)
        if (count > 0) {
          view.set(module.ids(count), done)
          done += count
        } else if (waits) spin(count)
        else waits = this.#use(false, longestMs())
      }
    } catch (error) {
      view.fill(0n, 0, done)
      throw module.trapped(error)
    } finally {
      waits?.over()
    }
  }

  /** Fulfilled when a call for an id finds one, or when it is closed. After a loss it waits for the next claim. */
  async ready() {
    if (this.flake === 0) return
    const { wait, over } = this.#use(true)
    try {
      for (;;) {
        const found = this.#driver.at('run_wait', wait, 0)
        if (found === 0) return
        const number = wasm().number()
        // Never inside of a call.
        await null
        this.#driver.drive()
        if (found === UNTIL) await sleep(Math.min(Math.max(number - filteredMs(), 1), SLICE_MS))
        else if (found === SLEEP) await this.#nextNews(number)
      }
    } finally {
      over()
    }
  }

  stats() {
    this.#driver.at('run_stats')
    const module = wasm()
    const [reservedUntilMs, leadMs, leaseUntilMs, ids, claims, renewals, renewalFailures] = module.numbers(7)
    const lastError = module.text() || null
    const until = Number.isNaN(leaseUntilMs) ? null : leaseUntilMs
    return { claims, reservedUntilMs, leadMs, leaseUntilMs: until, ids, renewals, renewalFailures, lastError }
  }

  /** A handle is closed. The last one ends it. */
  release() {
    this.handles--
    if (this.handles === 0) this.#close(false)
  }

  #close(isEnding) {
    if (this.closing || this.#isClosed) return
    // Before the end, which may call user code: an opening there waits for it.
    this.closing = new Promise(done => (this.#onClosed = done))
    this.#driver.at('run_want', CLOSE, isEnding, true, undefined)
    this.flake = 0
    this.#driver.drive()
  }

  #ended(error) {
    if (error) warn(error)
    all.delete(this)
    this.#isClosed = true
    this.closing = null
    this.#onClosed()
  }

  /** Frees what is not used any more. */
  #tidy() {
    if (!this.#isClosed || this.#isFreed || this.#uses > 0 || !this.#driver.isIdle) return
    this.#isFreed = true
    this.#driver.end()
    wasm().free(this.#generator)
    freeSettings(this.settings)
  }

  static open() {
    return [...all].filter(run => run.flake !== 0)
  }

  /** At the end of the process. */
  static end() {
    for (const run of Run.open()) run.#close(true)
  }
}

const longestMs = () => (platform().waits ? MAX_WAIT_MS : 0)

/** Waits for the clock, as a call of the module said. */
function spin(returned) {
  if (returned !== UNTIL) return
  const left = wasm().number() - filteredMs()
  const target = nowMs() + left
  for (let readings = 0; nowMs() < target; readings++) {
    if (readings > MOST_READINGS) {
      const message = `the next id is available in ${Math.ceil(left)} ms, longer than this thread may wait; call again then`
      throw fault('would_block', message)
    }
  }
}

let ending = false

/** Has the open generators closed when the process or the page ends. */
function endings() {
  if (!ending) platform().ending(() => Run.end())
  ending = true
}
