'use strict'

const { inspect } = require('node:util')
const native = require('./native.js')

const PREFIX = 'ERR_LEAFID_'
const codeOf = name => PREFIX + name.toUpperCase()
const retries = new Map(native.codes().map(({ name, retry }) => [codeOf(name), retry]))

class LeafidError extends Error {
  /**
   * @param {string} code `ERR_LEAFID_…`
   * @param {string} message what happened and what to do
   */
  constructor(code, message) {
    super(message)
    this.code = code
    this.retry = retries.get(code) === true
  }
}
Object.defineProperty(LeafidError.prototype, 'name', { value: 'LeafidError', configurable: true, writable: true })

const camel = name => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())
const snake = name => name.replace(/[A-Z]/g, letter => '_' + letter.toLowerCase())

/** The names of options and arguments as the host's messages write them; each is named as it is written here. */
const OPTIONS = /(?<!")\b(state_dir|epoch_ms|tick_ms|(timestamp|worker|sequence)_bits|on_clock_backwards|max_backwards_ms|on_exhausted|random_start|timeout_ms|timestamp_ms|worker_id)\b/g

/** What an addon's exception is to the user. The option a message begins with is named as it is written here. */
function translate(error) {
  const code = codeOf(String(error?.code))
  if (!retries.has(code)) {
    // A panic, or Node-API itself.
    return Object.assign(new LeafidError('ERR_LEAFID_INTERNAL', String(error?.message ?? error)), { cause: error })
  }
  return new LeafidError(code, error.message.replace(OPTIONS, camel))
}

/** Calls the addon; what it throws becomes a LeafidError. */
function guarded(call) {
  try {
    return call()
  } catch (error) {
    throw translate(error)
  }
}

/** A value as a message shows it: short, and with no code of the user's run for it. */
const SHOWN = { depth: 1, customInspect: false, breakLength: Infinity, maxStringLength: 200, maxArrayLength: 8 }

/**
 * Throws `invalid_argument` for a value that the addon has no type for.
 *
 * @param {string} name the option or argument, in camel case
 * @param {unknown} value
 * @param {string} [allowed] default: what the host says of the option
 * @returns {never}
 */
function refuse(name, value, allowed) {
  return guarded(() => native.refuse(snake(name), inspect(value, SHOWN), allowed))
}

module.exports = { LeafidError, guarded, translate, refuse }
