// Marks in the storage of a Durable Object.

import { fault } from './errors.js'
import { wasm } from './module.js'
import { failed } from './record.js'

const NEEDED = ['get', 'list', 'put', 'sync', 'transaction']
const place = 'the storage of this Durable Object'
/** The numbers of the objects in this isolate. */
const numbers = new WeakMap()
let objects = 0

export function durableObjectMarks({ name, stateDir, storage }) {
  if (stateDir !== undefined) {
    wasm().refuse('stateDir', stateDir, 'nothing here, where marks are in the storage of a Durable Object')
  }
  if (storage === undefined) {
    const message =
      'an isolate has no storage of its own for marks: set storage to ctx.storage of a Durable Object; or set ' +
      'persist: false, and then only this isolate notices a source that repeats itself'
    throw fault('invalid_argument', message)
  }
  if (NEEDED.some(method => typeof storage?.[method] !== 'function')) {
    wasm().refuse('storage', storage, 'ctx.storage of a Durable Object')
  }
  if (!numbers.has(storage)) numbers.set(storage, ++objects)
  const key = mark => `leafid/${name}/${mark}`
  const path = mark => `${key(mark)} in ${place}`
  const tried = async (doing, mark, call) => {
    try {
      return await call()
    } catch (error) {
      if (error?.code?.startsWith?.('ERR_LEAFID')) throw error
      throw failed(doing, path(mark), error)
    }
  }
  return {
    place,
    identity: `Durable Object ${numbers.get(storage)}`,
    path,
    read: mark => tried('read', mark, async () => (await storage.get(key(mark))) ?? null),
    update: (mark, change) =>
      tried('write', mark, async () => {
        await storage.transaction(async transaction => {
          await transaction.put(key(mark), change((await transaction.get(key(mark))) ?? null))
        })
        await storage.sync()
      }),
    list: prefix =>
      tried('read', prefix, async () => {
        const found = await storage.list({ prefix: key(prefix) })
        return [...found].map(([each, bytes]) => [each.slice(key('').length), bytes])
      }),
  }
}
