// The errors of leafid, the same as of the native package.

export const PREFIX = 'ERR_LEAFID_'
export const codeOf = name => PREFIX + name.toUpperCase()
export const nameOf = code => code.slice(PREFIX.length).toLowerCase()

/** Whether a later try can succeed, by code. The module says it when it is loaded: `learn`. */
const retries = new Map()

export class LeafidError extends Error {
  /**
   * @param {string} code `ERR_LEAFID_…`
   * @param {string} message what happened and what to do
   */
  constructor(code, message, options) {
    super(message, options)
    this.code = code
    this.retry = retries.get(code) === true
  }
}
Object.defineProperty(LeafidError.prototype, 'name', { value: 'LeafidError', configurable: true, writable: true })

/** The numbers of the module, by code. */
const numbers = new Map()

export function learn(number, name, retry) {
  retries.set(codeOf(name), retry)
  numbers.set(codeOf(name), number)
}

/** The module's number of an error; of one that is none of leafid's `internal`. */
export const numberOf = error => numbers.get(error?.code) ?? numbers.get(codeOf('internal'))

/** An error with the name of a code, as `worker_in_use`. */
export const fault = (name, message, cause) =>
  new LeafidError(codeOf(name), message, cause === undefined ? undefined : { cause })

const camel = name => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())
export const snake = name => name.replace(/[A-Z]/g, letter => '_' + letter.toLowerCase())

/** As in the native package's lib/errors.js: the names of options in the module's messages, in camel case. */
const NAMES = [
  'state_dir', 'epoch_ms', 'tick_ms', '(timestamp|worker|sequence)_bits', 'on_clock_backwards', 'max_backwards_ms',
  'on_exhausted', 'random_start', 'timeout_ms', 'timestamp_ms', 'worker_id', 'shared_fs', 'shared_group',
  'exclusive_range', 'no_record_wait_ms', 'request_timeout_ms', 'connect_timeout_ms', 'ca_file', 'block_size',
  'keep_unused', 'ordered_source', 'clock_source', 'start_after', 'peer_times(_ms)?', 'from_ms', 'until_ms',
  'lease_ms',
]
const OPTIONS = new RegExp(`(?<!"|\\bhas the )\\b(${NAMES.join('|')})\\b`, 'g')

/**
 * A message of the module with the names of options in camel case, but not in the text of a user callback at its end.
 */
export function named(message, theirs = 'failed: ') {
  const at = message.indexOf(theirs)
  return at < 0 ? message.replace(OPTIONS, camel) : message.slice(0, at).replace(OPTIONS, camel) + message.slice(at)
}

const SHORT = 200

/** How a message shows a value: short, and without a call of the user's code. */
export function shown(value) {
  const cut = text => (text.length > SHORT ? `${text.slice(0, SHORT)}…` : text)
  if (typeof value === 'string') return `'${cut(value)}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return '[Function]'
  if (typeof value === 'symbol') return '[Symbol]'
  if (Array.isArray(value)) return `[Array of ${value.length}]`
  if (typeof value === 'object' && value !== null) return '[Object]'
  return Object.is(value, -0) ? '-0' : String(value)
}
