// Checks the types of options: numbers are safe integers, text is text, no name is unknown. The module checks values.

import { wasm } from './module.js'

export function integer(value, name) {
  return Number.isSafeInteger(value) ? value : wasm().refuse(name, value)
}

export function text(value, name) {
  return typeof value === 'string' ? value : wasm().refuse(name, value)
}

export function truth(value, name) {
  return typeof value === 'boolean' ? value : wasm().refuse(name, value)
}

const ID = 'a bigint from 0 to 9223372036854775807n, its decimal digits as a string, or a number below 2^53'

/** An existing id as a bigint. */
export function existing(id, name) {
  if (typeof id === 'string') return parsed(id, name)
  if (typeof id === 'bigint' && id >= 0n && BigInt.asIntN(64, id) === id) return id
  if (Number.isSafeInteger(id) && id >= 0) return BigInt(id)
  return wasm().refuse(name, id, ID)
}

function parsed(id, name) {
  try {
    return wasm().call('id_parse', id)
  } catch (error) {
    return name === 'id' ? raise(error) : wasm().refuse(name, id)
  }
}

const raise = error => {
  throw error
}

export const isRecord = value => typeof value === 'object' && value !== null && !Array.isArray(value)
export const isText = value => typeof value === 'string'

/** Reads the known names of `given` once each. `undefined` and `null` stand for the default. */
export function record(given, readers, unknown = unknownName(readers)) {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(readers, name)) unknown(name)
  }
  const read = {}
  for (const [name, reader] of Object.entries(readers)) {
    const value = given[name]
    if (value !== undefined && value !== null) read[name] = reader(value, name)
  }
  return read
}

/** Refuses an unknown name; in quotes, as the user wrote it. */
export const unknownName = readers => name =>
  wasm().refuseText(JSON.stringify(name), 'an unknown option', Object.keys(readers).join(', '))

const layoutReaders = {
  timestampBits: integer,
  workerBits: integer,
  sequenceBits: integer,
  epochMs: integer,
  tickMs: integer,
  order: text,
}

const ORDERS = ['worker-sequence', 'sequence-worker']
const LEAF = {
  timestampBits: 41, workerBits: 10, sequenceBits: 12, epochMs: 1288834974657, tickMs: 1, order: ORDERS[0],
}

/** A layout as a new handle, from a preset's name, bits, or fields. */
export function layoutOf(value, name = 'layout') {
  const module = wasm()
  if (value === undefined || value === null) return module.call('layout_parse', 'leaf')
  if (typeof value === 'string') return module.call('layout_parse', value)
  if (!isRecord(value)) module.refuse(name, value)
  const fields = { ...LEAF, ...record(value, layoutReaders) }
  const { epochMs, tickMs, timestampBits, workerBits, sequenceBits, order } = fields
  return module.call('layout_new', epochMs, tickMs, timestampBits, workerBits, sequenceBits, order)
}

/** The fields of a layout, as `decode` takes them, and its text. */
export function resolved(layout) {
  const module = wasm()
  module.call('layout_fields', layout)
  const [epochMs, tickMs, timestampBits, workerBits, sequenceBits, order, mostWorker, , expiresAtMs] = module.numbers(9)
  const fields = { timestampBits, workerBits, sequenceBits, epochMs, tickMs, order: ORDERS[order] }
  return { fields, text: module.text(), mostWorker, expiresAtMs }
}

/** Calls with a layout that is freed then. */
export function withLayout(value, call) {
  const layout = layoutOf(value)
  try {
    return call(layout)
  } finally {
    wasm().free(layout)
  }
}

export function headers(value, name) {
  const fits = isRecord(value) && Object.values(value).every(isText)
  return fits ? { ...value } : wasm().refuse(name, value, 'an object of strings by name')
}

const MOST_MS = 3_600_000

/** A duration of an option. */
export function milliseconds(value, name) {
  return integer(value, name) >= 1 && value <= MOST_MS ? value : wasm().refuse(name, value)
}
