import { fault } from './errors.js'
import { LastFailure } from './last_failure.js'
import { wasm } from './module.js'
import { Run } from './run.js'
import { freeSettings, settingsOf } from './settings.js'
import { nowMs } from './time.js'

const LATER = 'this needs the event loop: use await Snowflake.open(options), or lazy: true'
const UNDER_WAY = 'the worker id is being claimed; await ready(), or return to the event loop, and call again'
/** Closes an unreferenced snowflake: a lease would be renewed for ever. Not every workerd has it. */
const { FinalizationRegistry } = globalThis
const collected = FinalizationRegistry ? new FinalizationRegistry(run => run.release()) : null

/** The generator of one snowflake. */
export class Generator {
  layout
  /** The end of the last close, or null. */
  closed = null
  #run = null
  #options
  #isClosed = false
  /** The promise of a claim that the first call of a lazy one began; and its error. */
  #claiming = null
  #failure

  /** The types of the options are checked. */
  constructor(options) {
    this.#options = options
    this.#failure = new LastFailure(options)
    const settings = settingsOf(options, !options.lazy)
    this.layout = settings.layoutFields
    if (settings.lazy) freeSettings(settings)
    else this.#use(attach(settings))
  }

  /** Opens, and keeps that open until `use` has found it. */
  static async opened(options, use) {
    const run = await Run.soon(settingsOf(options))
    try {
      return use()
    } finally {
      run.release()
    }
  }

  #use(run) {
    this.#run = run
    collected?.register(this, run, this)
  }

  /** The open generator, which a lazy one claims now. */
  #opened() {
    if (this.#run) return this.#run
    this.#check()
    return this.#claimNow()
  }

  #check() {
    if (this.#isClosed) throw fault('closed', 'this snowflake is closed')
  }

  #claimNow() {
    const before = this.#failure.take() ?? undefined
    const settings = settingsOf(this.#options)
    if (settings.store.sync && !settings.asks) {
      this.#use(Run.now(settings))
      return this.#run
    }
    this.#claimSoon(settings).catch(error => this.#failure.set(error))
    throw fault('would_block', UNDER_WAY, before)
  }

  #claimSoon(settings) {
    if (this.#claiming) {
      freeSettings(settings)
      return this.#claiming
    }
    // No user callback is called inside of a call for an id.
    this.#claiming = Promise.resolve()
      .then(() => Run.soon(settings))
      .then(run => {
        // A call for an id may have found the generator meanwhile.
        if (this.#isClosed || this.#run) run.release()
        else this.#use(run)
      })
      .finally(() => (this.#claiming = null))
    return this.#claiming
  }

  next() {
    const run = this.#run ?? this.#opened()
    let id
    try {
      id = wasm().exports.snowflake_next(run.flake, nowMs())
    } catch (error) {
      throw wasm().trapped(error)
    }
    return id >= 0n ? id : run.next()
  }

  fill(ids) {
    this.#check()
    if (ids.length > 0) this.#opened().fill(ids)
  }

  /** Fulfilled when `next` finds an id without a wait. */
  async ready() {
    if (!this.#run && !this.#isClosed) await this.#claimSoon(settingsOf(this.#options))
    await this.#run?.ready()
    // It may have been closed meanwhile.
    this.#opened()
  }

  stats() {
    const run = this.#opened()
    const { workerId, handles, settings } = run
    const { name, layoutText: layout, layoutFields, expiresAtMs, persist, store } = settings
    const stateDir = persist ? store.place : ''
    const { epochMs } = layoutFields
    return { name, workerId, stateDir, layout, epochMs, expiresAtMs, clockLagMs: 0, handles, ...run.stats() }
  }

  get workerId() {
    return this.#opened().workerId
  }

  /** For messages, without a claim. */
  get held() {
    return this.#isClosed ? 'closed' : this.#run ? `workerId: ${this.#run.workerId}` : 'unclaimed'
  }

  get shownLayout() {
    return this.#options.layout ?? 'leaf'
  }

  close() {
    if (this.#isClosed) return
    this.#isClosed = true
    collected?.unregister(this)
    this.#run?.release()
    this.closed = this.#run?.closing ?? null
    this.#run = null
  }
}

function attach(settings) {
  const joined = Run.joined(settings)
  if (joined) return joined
  if (settings.store.sync && !settings.awaits) return Run.now(settings)
  freeSettings(settings)
  throw fault('would_block', LATER)
}
