// The errors of leafid, the same of the addon and of WebAssembly.

const PREFIX = 'ERR_LEAFID_'
export const codeOf = name => PREFIX + name.toUpperCase()
export const nameOf = code => code.slice(PREFIX.length).toLowerCase()

/** Whether a later try can succeed, by code. */
const retries = new Map()

/** What the core says of an error, once it is loaded. */
export function learn(name, retry) {
  retries.set(codeOf(name), retry)
}

/** Whether the core has an error of this name. */
export const isKnown = name => retries.has(codeOf(name))

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

/** An error with the name of a code, as `worker_in_use`. */
export function fault(name, message, cause) {
  return new LeafidError(codeOf(name), message, cause === undefined ? undefined : { cause })
}
