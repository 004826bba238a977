import { json } from './layouts.js'
import { random64, wasm } from './module.js'
import { variables } from './option_rules.js'
import { platform } from './platform.js'
import { Supply } from './supply.js'

/** The open ones, weakly. */
const open = new Set()

/** Not every workerd has them: there segments are open until they are closed. */
const { FinalizationRegistry, WeakRef } = globalThis
/** Closes the segments that are no longer used. */
const ended = ({ supply, ref }) => {
  open.delete(ref)
  supply.close()
}
const collected = FinalizationRegistry ? new FinalizationRegistry(ended) : null

/** The state that segments and their tags share. */
export class Owner {
  /** The tags, by name. */
  tags = new Map()
  #store
  #supply
  #ref = WeakRef ? new WeakRef(this) : { deref: () => this }

  constructor({ fetch, options: { storage, ...options } }) {
    const module = wasm()
    const handle = module.call('supply_new', json(fetch ? { fetch, ...options } : options), variables(true), random64())
    const [timeoutMs, persist] = module.numbers(2)
    const [name, source] = module.text().split('\n')
    Object.assign(this, { timeoutMs, name, source })
    try {
      const { stateDir } = options
      this.#store = persist === 1 ? platform().marks({ name, stateDir, storage, persist: true }) : null
      module.call('supply_place', handle, this.#store?.key ?? '')
    } catch (error) {
      module.free(handle)
      throw error
    }
    this.#supply = new Supply(handle, fetch, this.#store)
    open.add(this.#ref)
    collected?.register(this, { supply: this.#supply, ref: this.#ref }, this)
  }

  static now(given) {
    return new Owner(given)
  }

  static async soon(given) {
    return new Owner(given)
  }

  static open() {
    return [...open].map(ref => ref.deref()).filter(owner => owner)
  }

  get stateDir() {
    return this.#store?.place ?? ''
  }

  tag(name) {
    return this.#supply.tag(name)
  }

  stats() {
    const { servers, tags } = this.#supply.stats()
    const { name, source, stateDir } = this
    return { name, source, servers, stateDir, tags: tags.map(each => each.stats()) }
  }

  /** Of every tag that was used its `stats` and `outcomes`. */
  states() {
    return this.#supply.stats().tags.map(each => each.state())
  }

  /** Throws once it is closed. */
  check() {
    if (!this.#supply.handle) this.#supply.stats()
  }

  /** `pump` serves the waiting calls, which end with an error. */
  close(pump) {
    if (!this.#supply.handle) return
    collected?.unregister(this)
    open.delete(this.#ref)
    this.#supply.close()
    pump()
  }
}
