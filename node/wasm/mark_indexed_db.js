// Marks in the IndexedDB of an origin: all its tabs and workers share them. A transaction is the lock.

import { fault } from './errors.js'
import { asked } from './indexed_db.js'
import { wasm } from './module.js'

const origin = `IndexedDB of ${globalThis.location?.origin ?? 'this origin'}`

export function indexedDbMarks({ name, stateDir, storage }) {
  if (stateDir !== undefined) wasm().refuse('stateDir', stateDir, 'nothing in a browser, where marks are in IndexedDB')
  if (storage !== undefined) wasm().refuse('storage', storage, 'nothing in a browser, where marks are in IndexedDB')
  if (!globalThis.indexedDB) {
    const message =
      'marks cannot be stored here, because there is no IndexedDB; set persist: false, and then only this page ' +
      'notices a source that repeats itself'
    throw fault('invalid_argument', message)
  }
  const key = mark => `${name}/${mark}`
  const path = mark => `leafid/${key(mark)} in the ${origin}`
  return {
    place: origin,
    identity: 'IndexedDB',
    path,
    read: mark =>
      asked(path(mark), 'read', 'readonly', (records, done) => {
        records.get(key(mark)).onsuccess = ({ target }) => done(target.result ?? null)
      }),
    update: (mark, change) =>
      asked(path(mark), 'write', 'readwrite', records => {
        records.get(key(mark)).onsuccess = ({ target }) => records.put(change(target.result ?? null), key(mark))
      }),
    list(prefix) {
      const range = IDBKeyRange.bound(key(prefix), `${key(prefix)}\uffff`)
      // Both requests are of one transaction: the keys are those of the values.
      return asked(path(prefix), 'read', 'readonly', (records, done) => {
        records.getAllKeys(range).onsuccess = ({ target: { result: keys } }) => {
          records.getAll(range).onsuccess = ({ target: { result: all } }) => {
            done(keys.map((each, at) => [each.slice(name.length + 1), all[at]]))
          }
        }
      })
    },
  }
}
