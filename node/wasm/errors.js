// The errors of leafid, the same as of the native package.

export { named, snake } from './option_names.js'

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

/** How a message shows a value: without a call of the user's code. The module cuts it, and hides the password of a URL. */
export function shown(value) {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return '[Function]'
  if (typeof value === 'symbol') return '[Symbol]'
  if (Array.isArray(value)) return `[Array of ${value.length}]`
  if (typeof value === 'object' && value !== null) return '[Object]'
  return Object.is(value, -0) ? '-0' : String(value)
}

/** As `shown`, of a record with its fields, of a text in it its kind: it may be a secret. */
export function inspected(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return shown(value)
  const properties = Object.entries(Object.getOwnPropertyDescriptors(value))
  const fields = properties.map(([name, { value }]) => `${name}: ${typeof value === 'string' ? '[string]' : shown(value)}`)
  return `{ ${fields.slice(0, 8).join(', ')} }`
}
