// Marks in the IndexedDB of an origin: all its tabs and workers share them. A transaction is the lock.

import { fault } from './errors.js'
import { indexedDbFiles } from './indexed_db.js'
import { wasm } from './module.js'

export function indexedDbMarks({ name, stateDir, storage }) {
  if (stateDir !== undefined) wasm().refuse('stateDir', stateDir, 'nothing in a browser, where marks are in IndexedDB')
  if (storage !== undefined) wasm().refuse('storage', storage, 'nothing in a browser, where marks are in IndexedDB')
  if (!globalThis.indexedDB) {
    const message =
      'marks cannot be stored here, because there is no IndexedDB; set persist: false, and then only this page ' +
      'notices a source that repeats itself'
    throw fault('invalid_argument', message)
  }
  return indexedDbFiles(name)
}
