// Files in the storage of a Durable Object. Of one object one instance runs at a time, and only that can write.

import { fault } from './errors.js'
import { keyOf, nameOf } from './file_keys.js'
import { refuse } from './refuse.js'

const NEEDED = ['get', 'list', 'put', 'sync', 'transaction']
/** The worker ids that are held, by the storage of their object. */
const held = new WeakMap()
/** The numbers of the objects in this isolate. */
const numbers = new WeakMap()
let objects = 0

export function durableObjectStore({ name, storage, stateDir, persist }) {
  if (!persist) refuse('persist', persist, 'true with storage')
  const files = durableObjectFiles(name, storage, stateDir, 'records')
  return { kind: 2, others: 'another generator of this Durable Object', lock: lockOf(storage), ...files }
}

export function durableObjectMarks({ name, storage, stateDir }) {
  if (storage === undefined && stateDir === undefined) {
    const message =
      'an isolate has no storage of its own for marks: set storage to ctx.storage of a Durable Object; or set ' +
      'persist: false, and then only this isolate notices a source that repeats itself'
    throw fault('invalid_argument', message)
  }
  return durableObjectFiles(name, storage, stateDir, 'marks')
}

/** Locks a worker id: `{ release }`, or null. */
const lockOf = storage => (name, workerId) => {
  const ids = held.get(storage) ?? new Set()
  held.set(storage, ids)
  const key = `${name}/${workerId}`
  if (ids.has(key)) return null
  ids.add(key)
  return { release: () => void ids.delete(key) }
}

/** The files of an id space. `what` they are is for messages. */
function durableObjectFiles(name, storage, stateDir, what) {
  if (stateDir !== undefined) {
    refuse('stateDir', stateDir, `nothing here, where ${what} are in the storage of a Durable Object`)
  }
  if (NEEDED.some(method => typeof storage?.[method] !== 'function')) {
    refuse('storage', storage, 'ctx.storage of a Durable Object')
  }
  if (!numbers.has(storage)) numbers.set(storage, ++objects)
  const place = 'the storage of this Durable Object'
  const key = file => `leafid/${keyOf(name, file)}`
  return {
    sync: false,
    place,
    key: `Durable Object ${numbers.get(storage)}`,
    path: file => `${key(file)} in ${place}`,
    read: async file => (await storage.get(key(file))) ?? null,
    async update(file, change) {
      await storage.transaction(async transaction => {
        const bytes = change((await transaction.get(key(file))) ?? null)
        if (bytes !== null) await transaction.put(key(file), bytes)
      })
      await storage.sync()
    },
    async list(prefix) {
      const found = await storage.list({ prefix: key(prefix) })
      return [...found].map(([each, bytes]) => [nameOf(name, each.slice('leafid/'.length)), bytes])
    },
  }
}
