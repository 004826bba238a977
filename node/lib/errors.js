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
 * The names of options and arguments as the host's messages write them; each is named as it is written here. What an
 * answer of a server's "has" is named as it is there.
 */
const OPTIONS = /(?<!"|\bhas the )\b(state_dir|epoch_ms|tick_ms|(timestamp|worker|sequence)_bits|on_clock_backwards|max_backwards_ms|on_exhausted|random_start|timeout_ms|timestamp_ms|worker_id|shared_fs|shared_group|exclusive_range|no_record_wait_ms|request_timeout_ms|connect_timeout_ms|ca_file|block_size|keep_unused|ordered_source|clock_source|start_after|peer_times(_ms)?|from_ms|until_ms|lease_ms)\b/g

/** A message of the host's, with options named as they are written here; but not in the user's own text at its end. */
function named(message, theirs = 'failed: ') {
  const at = message.indexOf(theirs)
  return at < 0 ? message.replace(OPTIONS, camel) : message.slice(0, at).replace(OPTIONS, camel) + message.slice(at)
}

/** What an addon's exception is to the user; `theirs`: the user's text in it, where it is known. */
function translate(error, theirs) {
  const code = codeOf(String(error?.code))
  if (!retries.has(code)) {
    // A panic, or Node-API itself.
    return Object.assign(new LeafidError('ERR_LEAFID_INTERNAL', String(error?.message ?? error)), { cause: error })
  }
  return new LeafidError(code, named(error.message, theirs))
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

module.exports = { LeafidError, SHOWN, guarded, named, translate, refuse }
