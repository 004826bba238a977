// Layouts and options as the module takes them.

import { snake } from './option_names.js'
import { wasm } from './module.js'
import { LEAF, ORDERS } from './presets.js'
import { isRecord, layoutFields, record } from './readers.js'

/** A layout as a new handle, from a preset's name, bits, or fields. */
function layoutOf(value, name = 'layout') {
  const module = wasm()
  if (value === undefined || value === null) return module.call('layout_parse', 'leaf')
  if (typeof value === 'string') return module.call('layout_parse', value)
  if (!isRecord(value)) module.refuse(name, value)
  const fields = { ...LEAF, ...record(value, layoutFields) }
  const { epochMs, tickMs, timestampBits, workerBits, sequenceBits, order } = fields
  return module.call('layout_new', epochMs, tickMs, timestampBits, workerBits, sequenceBits, order)
}

/** The fields of a layout, or of that of options, as `decode` takes them, and its text. */
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

/** The module's text of options, whose names are those of the core. What the host keeps is a mark in it. */
export function json(given) {
  const value = (value, name) => {
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'function') return '{"callback":true}'
    if (typeof value?.claim === 'function') return '{"leases":true}'
    return name === 'layout' && isRecord(value) ? json(value) : JSON.stringify(value)
  }
  const fields = Object.entries(given).filter(([, field]) => field !== undefined)
  return `{${fields.map(([name, field]) => `"${snake(name)}":${value(field, name)}`).join()}}`
}
