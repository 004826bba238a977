// Log records, for a callback of the user's.

import { LeafidError, nameOf } from './errors.js'
import { wasm } from './module.js'
import { setTimeout } from './time.js'

const LEVELS = ['error', 'warn', 'info', 'debug']

const settled = Promise.resolve()
let [callback, most] = [null, -1]

export function setLogger(given, level = 'info') {
  if (given !== null && given !== undefined && typeof given !== 'function') {
    wasm().refuse('callback', given, 'a function, or null to turn it off')
  }
  if (!LEVELS.includes(level)) wasm().refuse('level', level, LEVELS.map(name => `'${name}'`).join(', '))
  callback = given ?? null
  most = callback ? LEVELS.indexOf(level) : -1
}

/** Makes a record, for the callback soon afterwards: never inside of the caller's call. */
export function log(level, message) {
  const at = LEVELS.indexOf(level)
  if (at > most) return
  settled.then(() => {
    if (at > most) return
    try {
      callback({ level, message })
    } catch (error) {
      // An uncaught exception, as one in any other callback of the event loop.
      setTimeout(() => {
        throw error
      })
    }
  })
}

export function warn(error) {
  log('warn', error instanceof LeafidError ? `${nameOf(error.code)}: ${error.message}` : String(error))
}
