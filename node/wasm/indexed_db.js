// Records in the IndexedDB of an origin, and Web Locks: shared by the tabs and workers of one origin in one profile.

import { fault } from './errors.js'
import { wasm } from './module.js'
import { SLOT_BYTES, Unrecorded, failed, newFile } from './record.js'
import { checkStated } from './stated.js'

const DATABASE = 'leafid'
const RECORDS = 'records'
const STRICT = { durability: 'strict' }

/** Why worker ids cannot be kept apart here, or null. */
export function missing() {
  const { indexedDB, isSecureContext, navigator } = globalThis
  if (isSecureContext === false) return 'this page is no secure context (https, or localhost), and has no Web Locks'
  if (!navigator?.locks) return 'there are no Web Locks here'
  if (!indexedDB) return 'there is no IndexedDB here'
  return null
}

/**
 * Whether this page is in a frame whose storage and locks browsers keep apart from those of tabs: a page of another
 * origin is above it, or it is credentialless, or fenced, and then sees no page above it. A worker does not see this of
 * the page that started it.
 */
function isEmbedded() {
  const { Fence, credentialless, fence, window } = globalThis
  // An element of the page may have such a name.
  if (credentialless === true || (Fence && fence instanceof Fence)) return true
  try {
    for (let page = window; page && page !== page.parent; page = page.parent) {
      // That of another origin throws.
      if (page.parent.origin !== page.origin) return true
    }
    return false
  } catch {
    return true
  }
}

/** The store of these settings. Throws for worker ids that others may have, too. */
export function indexedDbStore(settings) {
  const { stateDir, storage, persist, leases } = settings
  if (!leases && isEmbedded()) {
    const message =
      'worker is no lease, and this page is in a frame of another origin, or in one that is credentialless or ' +
      'fenced, where the browser may have other records and locks than in a tab; lease the worker id from a server'
    throw fault('invalid_argument', message)
  }
  if (!persist && !leases) {
    const why = 'true in a browser: without a record a page does not see that its lock was cleared with the storage'
    wasm().refuse('persist', persist, why)
  }
  if (stateDir !== undefined) {
    wasm().refuse('stateDir', stateDir, 'nothing in a browser, where records are in IndexedDB')
  }
  if (storage !== undefined) wasm().refuse('storage', storage, 'nothing in a browser, where records are in IndexedDB')
  checkStated(settings, 'this is a browser, where each visitor', 'profile or device')
  return new IndexedDbStore(settings)
}

class IndexedDbStore {
  sync = false
  // The user may clear it at any time, and the browser if space is short. A page that is opened then has other records,
  // and other locks, than one that still runs.
  forgets = true
  mayVanish = true
  key = 'IndexedDB'
  others = 'another tab or worker of this origin'
  place = `IndexedDB of ${globalThis.location?.origin ?? 'this origin'}`
  #settings

  constructor(settings) {
    this.#settings = settings
  }

  path(workerId) {
    return `${DATABASE}/${this.#key(workerId)} in the ${this.place}`
  }

  #key(workerId) {
    return `${this.#settings.name}/worker-${workerId}`
  }

  peek(workerId) {
    return this.#asked(workerId, 'read', 'readonly', (records, done) => {
      records.get(this.#key(workerId)).onsuccess = ({ target }) => done(target.result ?? null)
    })
  }

  async lock(workerId) {
    const { name, persist } = this.#settings
    const lock = await webLock(`leafid/${name}/${workerId}`)
    if (lock === null) return null
    const fresh = newFile(this.#settings, workerId)
    lock.file = new Unrecorded(fresh)
    if (!persist) return lock
    try {
      await this.#create(workerId, fresh)
      lock.file = this.#file(workerId)
      return lock
    } catch (error) {
      lock.release()
      throw error
    }
  }

  #create(workerId, bytes) {
    return this.#asked(workerId, 'make', 'readwrite', (records, done) => {
      const key = this.#key(workerId)
      records.getKey(key).onsuccess = ({ target }) => {
        if (target.result === undefined) records.add(bytes, key)
        done()
      }
    })
  }

  #file(workerId) {
    return {
      read: async () => (await this.peek(workerId)) ?? new Uint8Array(),
      // What is there is compared in the transaction that replaces it.
      write: (slot, bytes, check) =>
        this.#asked(workerId, 'write', 'readwrite', (records, done) => {
          const key = this.#key(workerId)
          records.get(key).onsuccess = ({ target }) => {
            const found = target.result ?? null
            check(found)
            const all = found.slice()
            all.set(bytes, slot * SLOT_BYTES)
            records.put(all, key)
            done()
          }
        }),
      close() {},
    }
  }

  #asked(workerId, doing, mode, requests) {
    return asked(this.path(workerId), doing, mode, requests)
  }
}

/**
 * Runs requests in one transaction. Fulfilled with what `done` was given, once that is durable. The path is for
 * messages.
 */
export async function asked(path, doing, mode, requests) {
  try {
    const transaction = await begun(mode)
    return await new Promise((resolve, reject) => {
      let [answer, thrown] = [undefined, null]
      transaction.oncomplete = () => resolve(answer)
      transaction.onabort = () => reject(thrown ?? transaction.error ?? new Error('the transaction was aborted'))
      const guarded = call => event => {
        try {
          call(event)
        } catch (error) {
          thrown = error
          transaction.abort()
        }
      }
      requests(guardedStore(transaction.objectStore(RECORDS), guarded), value => (answer = value))
    })
  } catch (error) {
    if (error?.code?.startsWith?.('ERR_LEAFID')) throw error
    throw failed(doing, path, error)
  }
}

/** An object store whose requests' callbacks abort the transaction when they throw. */
function guardedStore(records, guarded) {
  const asking = name => (...given) => {
    const request = records[name](...given)
    return {
      set onsuccess(call) {
        request.onsuccess = guarded(call)
      },
    }
  }
  return Object.fromEntries(['get', 'getKey', 'getAll', 'getAllKeys', 'put', 'add'].map(name => [name, asking(name)]))
}

let connecting = null

function connection() {
  connecting ??= new Promise((resolve, reject) => {
    const opening = globalThis.indexedDB.open(DATABASE, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(RECORDS)
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const database = opening.result
      const forget = () => (connecting = null)
      // It is deleted, or was: the next use opens what is there then.
      database.onclose = forget
      database.onversionchange = () => {
        forget()
        database.close()
      }
      resolve(database)
    }
  }).catch(error => {
    connecting = null
    throw error
  })
  return connecting
}

async function begun(mode) {
  for (let last = false; ; last = true) {
    const database = await connection()
    let transaction
    try {
      transaction = database.transaction(RECORDS, mode, STRICT)
    } catch (error) {
      // It was closed since.
      if (last || error.name !== 'InvalidStateError') throw error
      connecting = null
      continue
    }
    if (mode === 'readwrite' && transaction.durability !== 'strict') {
      transaction.abort()
      const message =
        'this browser does not write durably (no IDBTransaction.durability): lease the worker id from a server'
      throw new Error(message)
    }
    return transaction
  }
}

/** Takes a Web Lock if it is free: `{ lost, release }`, or null. */
function webLock(name) {
  return new Promise((resolve, reject) => {
    const held = { lost: null, release: () => {} }
    const kept = new Promise(release => (held.release = release))
    globalThis.navigator.locks
      .request(name, { mode: 'exclusive', ifAvailable: true }, lock => {
        if (lock === null) return resolve(null)
        resolve(held)
        return kept
      })
      .catch(error => {
        // Another script of this origin stole it.
        held.lost = `its Web Lock was taken away (${error.message})`
        reject(failed('lock', name, error))
      })
  })
}
