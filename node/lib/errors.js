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

/**
 * The names of options and arguments in the host's messages, which a message here has in camel case. A field that "the
 * answer has" keeps the name that the server uses.
 */
const OPTIONS = /(?<!"|\bhas the )\b(state_dir|epoch_ms|tick_ms|(timestamp|worker|sequence)_bits|on_clock_backwards|max_backwards_ms|on_exhausted|random_start|timeout_ms|timestamp_ms|worker_id|shared_fs|shared_group|exclusive_range|no_record_wait_ms|request_timeout_ms|connect_timeout_ms|ca_file|block_size|keep_unused|ordered_source|clock_source|start_after|peer_times(_ms)?|from_ms|until_ms|lease_ms)\b/g

/** A message of the host, with the names of options in camel case, except in the text of a user callback at its end. */
function named(message, theirs = 'failed: ') {
  const at = message.indexOf(theirs)
  return at < 0 ? message.replace(OPTIONS, camel) : message.slice(0, at).replace(OPTIONS, camel) + message.slice(at)
}

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
const SHOWN = { depth: 1, customInspect: false, breakLength: Infinity, maxStringLength: 200, maxArrayLength: 8 }

/**
 * Throws `invalid_argument` for a value that the addon has no type for.
 *
 * @param {string} name the option or argument, in camel case
 * @param {unknown} value
 * @param {string} [allowed] default: the host's text for the option
 * @returns {never}
 */
function refuse(name, value, allowed) {
  return guarded(() => native.refuse(snake(name), inspect(value, SHOWN), allowed))
}

module.exports = { LeafidError, SHOWN, guarded, named, translate, refuse }
