'use strict'

const { inspect } = require('node:util')
const { guarded } = require('./guard.js')
const native = require('./native.js')
const { snake } = require('./option_names.js')

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
const refuse = (name, value, allowed) => refuseText(snake(name), inspected(value), allowed)

/** As `refuse`, with the name and the value as the message shows them. */
const refuseText = (name, text, allowed) => guarded(() => native.refuse(name, text, allowed))

/** Refuses an option that is none of those known, a text of names. */
const refuseUnknown = (name, known) => guarded(() => native.refuseUnknown(name, known))

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

module.exports = { inspected, refuse, refuseText, refuseUnknown }
