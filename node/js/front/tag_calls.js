// The calls of a tag: their options, and how they are bound.

import { isRecord, milliseconds, record } from './readers.js'
import { refuse } from './refuse.js'

const BOUND = [
  'next', 'nextSync', 'tryNext', 'nextString', 'nextNumber', 'take', 'takeStrings', 'takeSync', 'fill', 'stats',
]

function signal(value, name) {
  const fits = typeof value?.aborted === 'boolean' && typeof value.addEventListener === 'function'
  return fits ? value : refuse(name, value, 'an AbortSignal')
}

const callOptions = { timeoutMs: milliseconds, signal }

/** The options of a call that may wait. */
export function callOf(given) {
  if (given === undefined || given === null) return {}
  if (!isRecord(given)) refuse('options', given, 'an object with any of timeoutMs, signal')
  return record(given, callOptions)
}

/** Binds methods at their first use: of very many tags, most need one or two. `bound` binds one to a tag. */
export function bindAtFirstUse(prototype, bound) {
  for (const name of BOUND) {
    const method = prototype[name]
    const own = (tag, value) => {
      // A frozen tag has no room for it.
      Reflect.defineProperty(tag, name, { value, configurable: true, writable: true })
      return value
    }
    Object.defineProperty(prototype, name, {
      get() {
        return this === prototype ? method : own(this, bound(this, name, method))
      },
      set(value) {
        own(this, value)
      },
      configurable: true,
    })
  }
}
