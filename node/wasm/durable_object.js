// Records in the storage of a Durable Object. Of one object one instance runs at a time, and only that can write.

import { wasm } from './module.js'
import { SLOT_BYTES, failed, newFile } from './record.js'
import { checkStated } from './stated.js'

const NEEDED = ['get', 'put', 'transaction', 'sync']
/** The worker ids that are held, by the storage of their object. */
const held = new WeakMap()

export function durableObjectStore(settings) {
  const { storage, stateDir, persist } = settings
  if (stateDir !== undefined) {
    wasm().refuse('stateDir', stateDir, 'nothing here, where records are in the storage of a Durable Object')
  }
  if (!persist) wasm().refuse('persist', persist, 'true with storage')
  if (NEEDED.some(method => typeof storage?.[method] !== 'function')) {
    wasm().refuse('storage', storage, 'ctx.storage of a Durable Object')
  }
  checkStated(settings, 'each Durable Object that runs this code', 'object')
  return new DurableObjectStore(settings)
}

let stores = 0
const keys = new WeakMap()

class DurableObjectStore {
  sync = false
  forgets = false
  others = 'another generator of this Durable Object'
  place = 'the storage of this Durable Object'
  #settings
  #storage

  constructor(settings) {
    this.#settings = settings
    this.#storage = settings.storage
    if (!keys.has(this.#storage)) keys.set(this.#storage, ++stores)
    this.key = `Durable Object ${keys.get(this.#storage)}`
  }

  #key(workerId) {
    return `leafid/${this.#settings.name}/worker-${workerId}`
  }

  path(workerId) {
    return `${this.#key(workerId)} in ${this.place}`
  }

  async peek(workerId) {
    return (await this.#tried(workerId, 'read', () => this.#storage.get(this.#key(workerId)))) ?? null
  }

  async lock(workerId) {
    const ids = held.get(this.#storage) ?? new Set()
    held.set(this.#storage, ids)
    const key = this.#key(workerId)
    if (ids.has(key)) return null
    ids.add(key)
    const release = () => void ids.delete(key)
    try {
      const fresh = newFile(this.#settings, workerId)
      await this.#changed(workerId, 'make', found => (found === null ? fresh : null))
      return { lost: null, file: this.#file(workerId), release }
    } catch (error) {
      release()
      throw error
    }
  }

  #file(workerId) {
    return {
      read: async () => (await this.peek(workerId)) ?? new Uint8Array(),
      write: (slot, bytes, check) =>
        this.#changed(workerId, 'write', found => {
          check(found)
          const all = found.slice()
          all.set(bytes, slot * SLOT_BYTES)
          return all
        }),
      close() {},
    }
  }

  /** Replaces the record by what `change` makes of it, or leaves it for null; fulfilled once that is durable. */
  async #changed(workerId, doing, change) {
    const key = this.#key(workerId)
    await this.#tried(workerId, doing, async () => {
      await this.#storage.transaction(async transaction => {
        const bytes = change((await transaction.get(key)) ?? null)
        if (bytes !== null) await transaction.put(key, bytes)
      })
      await this.#storage.sync()
    })
  }

  async #tried(workerId, doing, call) {
    try {
      return await call()
    } catch (error) {
      if (error?.code?.startsWith?.('ERR_LEAFID')) throw error
      throw failed(doing, this.path(workerId), error)
    }
  }
}
