// Calls of the module, as docs/WASM-ABI.md describes them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = process.env.LEAFID_ROOT
const path = name => join(root, 'build/wasm', `${name}.wasm`)

export const bytes = name => readFileSync(path(name))
export const vectors = name => JSON.parse(readFileSync(join(root, 'tests/vectors', name), 'utf8'))
export const document = readFileSync(join(root, 'docs/WASM-ABI.md'), 'utf8')

export const [WAIT_UNTIL, NEED_SPAN] = [-101, -102]

/** An error that the module returned. */
export class Refused extends Error {}

const compiled = new Map()

/** An instance. Exports are called by their names; `ok` throws what is an error. */
export class Module {
  constructor(name = 'leafid') {
    if (!compiled.has(name)) compiled.set(name, new WebAssembly.Module(bytes(name)))
    this.exports = new WebAssembly.Instance(compiled.get(name)).exports
  }

  /** Calls an export. Texts and bytes are its input, and nothing is a text that is not given. */
  call(name, ...values) {
    const isGiven = value => typeof value === 'string' || value instanceof Uint8Array
    const lengths = this.input(...values.filter(isGiven))
    return this.ok(this.exports[name](...values.map(value => (isGiven(value) ? lengths.shift() : (value ?? -1)))))
  }

  /** Puts texts and bytes into the input; returns their lengths. */
  input(...parts) {
    const encoded = parts.map(part => (typeof part === 'string' ? new TextEncoder().encode(part) : part))
    const length = encoded.reduce((sum, part) => sum + part.length, 0)
    let at = this.exports.input(length)
    for (const part of encoded) {
      new Uint8Array(this.exports.memory.buffer, at, part.length).set(part)
      at += part.length
    }
    return encoded.map(part => part.length)
  }

  output() {
    return new Uint8Array(this.exports.memory.buffer, this.exports.output(), this.exports.output_length()).slice()
  }

  text() {
    return new TextDecoder('utf-8', { fatal: true }).decode(this.output())
  }

  /** The texts of a list in the output; null for one that is not given. */
  list() {
    const bytes = this.output()
    const texts = []
    for (let at = 0; at < bytes.length; ) {
      const length = new DataView(bytes.buffer).getUint32(at, true)
      at += 4
      texts.push(length === 2 ** 32 - 1 ? null : new TextDecoder().decode(bytes.subarray(at, at + length)))
      if (length !== 2 ** 32 - 1) at += length
    }
    return texts
  }

  numbers(count) {
    return [...new Float64Array(this.exports.memory.buffer, this.exports.numbers(), count)]
  }

  ids(count) {
    return [...new BigInt64Array(this.exports.memory.buffer, this.exports.ids(), count)]
  }

  /** What a call returned. Throws for an error. */
  ok(returned) {
    if (returned >= 0 || returned <= -100) return returned
    const message = this.text()
    this.exports.error_name(-Number(returned))
    throw Object.assign(new Refused(message), { code: this.text() })
  }

  layout(text) {
    return this.ok(this.exports.layout_parse(...this.input(text)))
  }

  rules({ backwards = '', exhausted = '', maxBackwardsMs = NaN, randomStart = 0 } = {}) {
    return this.ok(this.exports.rules_new(...this.input(backwards, exhausted), maxBackwardsMs, randomStart))
  }
}
