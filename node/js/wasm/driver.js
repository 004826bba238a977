// Drives a machine of the module: pulls its calls, has them carried out, reports their ends, and tells its notices.

import { clocks } from './clock.js'
import { carryOut } from './host_calls.js'
import { log, warn } from './logger.js'
import { wasm } from './module.js'
import { platform } from './platform.js'
import { clearTimeout, setTimeout, soon } from './time.js'

const [ABANDON, WAKE, LOG, CLOSED] = [1, 2, 3, 4]
const [PEER_TIMES, CLAIM, RELEASE] = [1, 2, 4]
/** The longest pause of a timer. */
const LONGEST_MS = 2 ** 31 - 1
const SLICE_MS = 100

export class Driver {
  #machine
  #now
  #host
  #on
  #timer = null
  /** The calls that are carried out. */
  #underWay = 0
  #isSoon = false
  #isDriving = false
  #isAskedAgain = false
  #isOver = false

  /**
   * `machine` is its handle, `host` that of host_calls.js. `on` has `wake(number)`, `closed(error)`, `idle()` and
   * `awaited()`: whether somebody waits, for whom the process is kept alive. `now` reads both clocks, the boot time last.
   */
  constructor(machine, host, on, now = clocks) {
    this.#now = now
    this.#machine = machine
    this.#host = host
    this.#on = on
  }

  /** Calls an export of the machine at the time of now. */
  at(name, ...values) {
    return wasm().call(name, this.#machine, ...values, ...this.#now())
  }

  get isIdle() {
    return this.#underWay === 0
  }

  /** Nothing is asked of the machine any more. */
  end() {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  /** Drives as a microtask: never inside of a call for ids. */
  soon() {
    if (this.#isSoon) return
    this.#isSoon = true
    soon(() => {
      this.#isSoon = false
      this.#driveLater()
    })
  }

  #driveLater() {
    try {
      this.drive()
    } catch (error) {
      // A defect ended the module. Each call tells it.
      warn(error)
    }
  }

  /** Does all that the machine wants now. */
  drive() {
    if (this.#isDriving) {
      this.#isAskedAgain = true
      return
    }
    this.#isDriving = true
    try {
      do {
        this.#isAskedAgain = false
        this.#tell(this.#pull())
      } while (this.#isAskedAgain)
    } finally {
      this.#isDriving = false
    }
    this.#schedule()
  }

  /** Begins all calls. Returns the clocks at which there were no more: at a later time there may be another one. */
  #pull() {
    for (;;) {
      const now = this.#now()
      const call = this.#isOver ? 0 : wasm().call('next_call', this.#machine, ...now)
      if (call === 0) return now
      this.#begin(call)
    }
  }

  /** As `drive`, and blocks the thread as long as `waits` says and only time is missing. */
  block(waits) {
    for (;;) {
      this.drive()
      const due = this.#due()
      if (!waits() || this.#underWay > 0 || due === null) return
      platform().block(Math.min(due, SLICE_MS))
    }
  }

  #begin(call) {
    const { kind, going } = carryOut(call, this.#host)
    if (!going) return this.#done(call, kind)
    this.#underWay++
    if (kind === PEER_TIMES || kind === CLAIM) this.at('run_needs_loop', call)
    going.then(() => {
      this.#underWay--
      this.#done(call, kind)
      this.drive()
    }).catch(warn)
  }

  #done(call, kind) {
    // The machine is gone, and its number may be another one's.
    if (this.#isOver) return wasm().free(call)
    const { thrown } = this.#host
    this.at('done', call)
    // A release that fails is logged where the user sees it.
    if (kind === RELEASE && thrown) this.#tell(this.#now(), true)
  }

  #tell(now, isForProcess = false) {
    const module = wasm()
    const next = () => (this.#isOver ? 0 : module.call('next_notice', this.#machine, ...now))
    for (let notice; (notice = next()) !== 0; ) {
      const number = module.number()
      if (notice === ABANDON) this.#host.stops?.get(number)?.abort()
      else if (notice === WAKE) this.#on.wake(number)
      else if (notice === LOG) tellLine(number === 1 ? 'warn' : 'info', module.text(), isForProcess)
      else if (notice === CLOSED) this.#on.closed(number === 0 ? null : module.errorOf(number, module.text()))
    }
    if (this.isIdle) this.#on.idle()
  }

  /** How long until there is more to do, milliseconds; null if nothing comes by time. */
  #due() {
    if (this.#isOver) return null
    const at = wasm().maybe('next_time', this.#machine)
    return at === null ? null : Math.min(Math.max(Math.ceil(at - this.#now().at(-1)), 1), LONGEST_MS)
  }

  #schedule() {
    clearTimeout(this.#timer)
    const due = this.#due()
    if (due === null) return
    const begin = this.#on.awaited() ? setTimeout : platform().background
    this.#timer = begin(() => this.#driveLater(), due)
  }
}

function tellLine(level, text, isForProcess) {
  if (isForProcess && platform().warning) platform().warning(text)
  else log(level, text)
}
