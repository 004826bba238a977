// Records in the IndexedDB of an origin, and Web Locks: shared by the tabs and workers of one origin in one profile.

import { fault } from './errors.js'
import { keyOf, nameOf } from './file_keys.js'
import { refuse } from './refuse.js'

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
  const { persist, leases } = settings
  if (!leases && isEmbedded()) {
    const message =
      'worker is no lease, and this page is in a frame of another origin, or in one that is credentialless or ' +
      'fenced, where the browser may have other records and locks than in a tab; lease the worker id from a server'
    throw fault('invalid_argument', message)
  }
  if (!persist && !leases) {
    const why = 'true in a browser: without a record a page does not see that its lock was cleared with the storage'
    refuse('persist', persist, why)
  }
  refusePlaces(settings, 'records')
  return { kind: 1, others: 'another tab or worker of this origin', lock: webLock, ...indexedDbFiles(settings.name) }
}

/** Marks: all tabs and workers of the origin share them. */
export function indexedDbMarks(settings) {
  refusePlaces(settings, 'marks')
  if (!globalThis.indexedDB) {
    const message =
      'marks cannot be stored here, because there is no IndexedDB; set persist: false, and then only this page ' +
      'notices a source that repeats itself'
    throw fault('invalid_argument', message)
  }
  return indexedDbFiles(settings.name)
}

function refusePlaces({ stateDir, storage }, what) {
  const allowed = `nothing in a browser, where ${what} are in IndexedDB`
  if (stateDir !== undefined) refuse('stateDir', stateDir, allowed)
  if (storage !== undefined) refuse('storage', storage, allowed)
}

/** The files of an id space. A transaction is the lock of a file. */
function indexedDbFiles(name) {
  const place = `IndexedDB of ${globalThis.location?.origin ?? 'this origin'}`
  return {
    sync: false,
    place,
    key: 'IndexedDB',
    path: file => `${DATABASE}/${keyOf(name, file)} in the ${place}`,
    read: file =>
      asked('readonly', (records, on, done) => on(records.get(keyOf(name, file)), found => done(found ?? null))),
    update: (file, change) =>
      asked('readwrite', (records, on) =>
        on(records.get(keyOf(name, file)), found => {
          const bytes = change(found ?? null)
          if (bytes !== null) records.put(bytes, keyOf(name, file))
        }),
      ),
    list(prefix) {
      const begin = keyOf(name, prefix)
      const range = IDBKeyRange.bound(begin, `${begin}\uffff`)
      // Both requests are of one transaction: the keys are those of the values.
      return asked('readonly', (records, on, done) =>
        on(records.getAllKeys(range), keys =>
          on(records.getAll(range), all => done(keys.map((key, at) => [nameOf(name, key), all[at]]))),
        ),
      )
    },
  }
}

/** Runs requests in one transaction. Fulfilled with what `done` was given, once that is durable. */
async function asked(mode, requests) {
  const transaction = await begun(mode)
  return await new Promise((resolve, reject) => {
    let [answer, thrown] = [undefined, null]
    transaction.oncomplete = () => resolve(answer)
    transaction.onabort = () => reject(thrown ?? transaction.error ?? new Error('the transaction was aborted'))
    const on = (request, call) => {
      request.onsuccess = () => {
        try {
          call(request.result)
        } catch (error) {
          thrown = error
          transaction.abort()
        }
      }
    }
    requests(transaction.objectStore(RECORDS), on, value => (answer = value))
  })
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

/** Takes the Web Lock of a worker id if it is free: `{ lost, release }`, or null. */
function webLock(name, workerId) {
  return new Promise((resolve, reject) => {
    const held = { lost: null, release: () => {} }
    const kept = new Promise(release => (held.release = release))
    globalThis.navigator.locks
      .request(`leafid/${name}/${workerId}`, { mode: 'exclusive', ifAvailable: true }, lock => {
        if (lock === null) return resolve(null)
        resolve(held)
        return kept
      })
      .catch(error => {
        // Another script of this origin stole it.
        held.lost = `its Web Lock was taken away (${error.message})`
        reject(error)
      })
  })
}
