// The WebAssembly module, as docs/WASM-ABI.md describes it. There is one instance for all that this realm opens.

import { LeafidError, codeOf, fault, learn } from './errors.js'
import { snake } from './option_names.js'
import { shown } from './shown.js'

const ABI_VERSION = 2
/** What a call returns for an action: no error. */
export const UNTIL = -101
export const SLEEP = -103
export const EMPTY = -103

const CODES = 16
/** The length in a list of a text that is not given. */
const NOT_GIVEN = 2 ** 32 - 1
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** The numbers of errors, by code. */
const numbers = new Map()
/** The module's number of an error; of one that is none of leafid's `internal`. */
export const numberOf = error => numbers.get(error?.code) ?? numbers.get(codeOf('internal'))

export class Module {
  #memory
  #view = null
  #numbers
  #ids
  #lastIds = null
  /** The defect that ended the instance. */
  #ended = null
  /** The exports, for calls that come often. Use `checked` for their results, and `trapped` for what they throw. */
  exports

  constructor(compiled) {
    this.exports = new WebAssembly.Instance(compiled, {}).exports
    this.#memory = this.exports.memory
    const version = this.exports.abi_version()
    if (version !== ABI_VERSION) {
      const message =
        `the WebAssembly module has the version ${version} of its exports, not ${ABI_VERSION}: install one leafid`
      throw fault('internal', message)
    }
    this.exports.camel_case?.()
    // Public ids have a module without these.
    this.#numbers = this.exports.numbers?.()
    this.#ids = this.exports.ids?.()
    for (let number = 1; number <= CODES; number++) {
      const retry = this.exports.error_name(number)
      const name = this.text()
      learn(name, retry === 1)
      numbers.set(codeOf(name), number)
    }
  }

  /**
   * Calls an export. Texts and bytes become the input, and their lengths the arguments; `null` is a text that is not
   * given, and `undefined` a number that is not. Returns what it returned, 0 or more, or an action; throws errors.
   */
  call(name, ...values) {
    if (this.#ended) throw this.#ended
    try {
      return this.checked(this.exports[name](...this.#arguments(values)))
    } catch (error) {
      throw this.trapped(error)
    }
  }

  /** As `call`, for an export whose -1 means none: then it is `null`. */
  maybe(name, ...values) {
    if (this.#ended) throw this.#ended
    try {
      const returned = this.exports[name](...this.#arguments(values))
      return returned === -1 ? null : this.checked(returned)
    } catch (error) {
      throw this.trapped(error)
    }
  }

  #arguments(values) {
    const parts = []
    let length = 0
    const given = values.map(value => {
      if (value === undefined) return NaN
      if (value === null) return -1
      if (typeof value === 'boolean') return Number(value)
      if (typeof value === 'number' || typeof value === 'bigint') return value
      const bytes = typeof value === 'string' ? encoder.encode(value) : value
      parts.push(bytes)
      length += bytes.length
      return bytes.length
    })
    if (parts.length === 0) return given
    let at = this.exports.input(length)
    const memory = new Uint8Array(this.#memory.buffer)
    for (const part of parts) {
      memory.set(part, at)
      at += part.length
    }
    return given
  }

  /** What an export returned, if it is no error. */
  checked(returned) {
    if (returned >= 0 || returned <= -100) return returned
    throw this.errorOf(-Number(returned), this.text())
  }

  /** The error with a number of the module's, as in an answer. */
  errorOf(number, message) {
    this.exports.error_name(number)
    return new LeafidError(codeOf(this.text()), message)
  }

  /** What a call threw. A trap is a defect, and ends the instance: no id comes from it any more. */
  trapped(error) {
    if (error instanceof LeafidError) return error
    if (!(error instanceof WebAssembly.RuntimeError)) return error
    const message = `a defect of leafid ended its WebAssembly module: ${error.message}; please report it`
    this.#ended = fault('internal', message, error)
    return this.#ended
  }

  /** Throws if a trap ended the instance: before calls of `exports`. */
  get ended() {
    return this.#ended
  }

  /** Frees handles. 0, and those that were never given, are ignored. */
  free(...handles) {
    for (const handle of handles) if (handle > 0) this.exports.free(handle)
  }

  /** The bytes of the output, a copy. */
  output() {
    return new Uint8Array(this.#memory.buffer, this.exports.output(), this.exports.output_length()).slice()
  }

  text() {
    return decoder.decode(this.output())
  }

  /** The texts of a list in the output; `null` for one that is not given. */
  list() {
    const bytes = this.output()
    const view = new DataView(bytes.buffer)
    const texts = []
    for (let at = 0; at < bytes.length; ) {
      const length = view.getUint32(at, true)
      const isGiven = length !== NOT_GIVEN
      at += 4
      texts.push(isGiven ? decoder.decode(bytes.subarray(at, at + length)) : null)
      if (isGiven) at += length
    }
    return texts
  }

  /** The number of the answer at a place. */
  number(at = 0) {
    return this.#memoryView().getFloat64(this.#numbers + 8 * at, true)
  }

  numbers(count) {
    return Array.from({ length: count }, (_, at) => this.number(at))
  }

  /** The first ids of the answer: an array over the module's memory, which a later call may change. */
  ids(count) {
    const last = this.#lastIds
    if (last?.length === count && last.buffer === this.#memory.buffer) return last
    return (this.#lastIds = new BigInt64Array(this.#memory.buffer, this.#ids, count))
  }

  #memoryView() {
    // The memory grows in any call, and its old buffer is then detached.
    if (this.#view?.buffer !== this.#memory.buffer) this.#view = new DataView(this.#memory.buffer)
    return this.#view
  }

  /**
   * Throws `invalid_argument` for a value of an option or argument, which is named in camel case.
   *
   * @param {string} [allowed] default: the module's text for the option
   */
  refuse(name, value, allowed = '') {
    return this.refuseText(snake(name), shown(value), allowed)
  }

  /** As `refuse`, with the name and the value as the message shows them. */
  refuseText(name, value, allowed = '') {
    this.call('refuse', name, value, allowed)
  }
}

let module = null

/**
 * Makes the instance of a compiled module. A second call is ignored: two instances would not know of each other. Throws
 * if the module of the first has less.
 */
export function begin(compiled) {
  module ??= new Module(compiled)
  if (WebAssembly.Module.exports(compiled).every(({ name }) => name in module.exports)) return
  throw fault('internal', 'leafid/wasm/snowflake was loaded before leafid/wasm: import leafid/wasm alone')
}

/** The instance. Throws after a defect of it. */
export function wasm() {
  if (!module) {
    throw fault('internal', 'the WebAssembly module of leafid is not loaded: import leafid/wasm, not a file of it')
  }
  if (module.ended) throw module.ended
  return module
}

/** 64 random bits. */
export const random64 = () => crypto.getRandomValues(new BigInt64Array(1))[0]
