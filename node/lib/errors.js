'use strict'

const { inspect } = require('node:util')
const native = require('./native.js')
const { named, snake } = require('./option_names.js')

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

/** Converts an exception of the addon; `theirs`: the text of a user callback in it, if it is known. */
function translate(error, theirs) {
  const code = codeOf(String(error?.code))
  if (!retries.has(code)) {
    // A panic, or an error of Node-API.
    return Object.assign(new LeafidError('ERR_LEAFID_INTERNAL', String(error?.message ?? error)), { cause: error })
  }
  return new LeafidError(code, named(error.message, theirs))
}

/** Calls the addon and converts what it throws to a LeafidError. */
function guarded(call) {
  try {
    return call()
  } catch (error) {
    throw translate(error)
  }
}

/** How a message shows a value: short, and without a call of the user's `inspect`. */
const SHOWN = { depth: -1, customInspect: false, breakLength: Infinity, maxStringLength: 200, maxArrayLength: 8 }

/**
 * Throws `invalid_argument` for a value that the addon has no type for.
 *
 * @param {string} name the option or argument, in camel case
 * @param {unknown} value
 * @param {string} [allowed] default: the host's text for the option
 * @returns {never}
 */
function refuse(name, value, allowed) {
  return guarded(() => native.refuse(snake(name), inspected(value), allowed))
}

const isText = value => typeof value === 'string'
/** Before it is cut: the @ of a URL may lie behind the cut. */
const plain = value => inspect(isText(value) ? native.shownUrl(value) : value, SHOWN)

/** How a message shows an option, or what a user callback returned: of a text in an object its kind, it may be a secret. */
function inspected(value) {
  if (Array.isArray(value)) {
    const more = value.length > 8 ? [`... ${value.length - 8} more items`] : []
    return value.length > 0 ? `[ ${[...value.slice(0, 8).map(plain), ...more].join(', ')} ]` : '[]'
  }
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return plain(value)
  const fields = Object.entries(Object.getOwnPropertyDescriptors(value)).slice(0, 8)
  const shown = fields.map(([name, { value }]) => `${name}: ${isText(value) ? '[string]' : plain(value)}`)
  return shown.length > 0 ? `{ ${shown.join(', ')} }` : '{}'
}

module.exports = { LeafidError, guarded, inspected, named, translate, refuse }
