// leafid/wasm/decode: takes ids apart in plain JavaScript, for pages that load no module. The vectors of the core hold.

import { fault } from './errors.js'
import { LEAF, ORDERS, PRESETS } from './presets.js'
import { ID, shown } from './shown.js'
import { Date } from './time.js'

export { LeafidError } from './errors.js'

const LAYOUT = '"leaf", "uid-generator", "yitter", "sonyflake", "js-safe", bits such as "41|10|12", or their fields'
const LATEST_MS = 2n ** 53n

function refuse(name, value, allowed) {
  throw fault('invalid_argument', `${name} is ${shown(value).slice(0, 200)}; allowed: ${allowed}`)
}

function existing(id) {
  const isWhole = typeof id === 'bigint' || Number.isSafeInteger(id) || (typeof id === 'string' && /^[0-9]+$/.test(id))
  const whole = isWhole ? BigInt(id) : -1n
  return whole === BigInt.asUintN(63, whole) ? whole : refuse('id', id, ID)
}

const isBetween = (value, least, most) => Number.isSafeInteger(value) && value >= least && value <= most

function areRight({ timestampBits, workerBits, sequenceBits, epochMs, tickMs, order }) {
  const areBits = isBetween(timestampBits, 1, 62) && isBetween(workerBits, 0, 31) && isBetween(sequenceBits, 0, 31)
  const isTime = isBetween(epochMs, 0, 2 ** 53) && isBetween(tickMs, 1, 3_600_000) && ORDERS.includes(order)
  if (!areBits || !isTime || timestampBits + workerBits + sequenceBits > 63) return false
  return (1n << BigInt(timestampBits)) * BigInt(tickMs) + BigInt(epochMs) <= LATEST_MS
}

/** The fields of a layout. */
function fieldsOf(layout) {
  if (layout === undefined || layout === null) return LEAF
  const fields = { ...LEAF }
  if (typeof layout === 'string') {
    if (Object.hasOwn(PRESETS, layout)) return PRESETS[layout]
    const bits = /^([0-9]{1,2})\|([0-9]{1,2})\|([0-9]{1,2})$/.exec(layout) ?? refuse('layout', layout, LAYOUT)
    const [timestampBits, workerBits, sequenceBits] = bits.slice(1).map(Number)
    Object.assign(fields, { timestampBits, workerBits, sequenceBits })
  } else if (typeof layout === 'object' && !(Symbol.iterator in layout) && Object.keys(layout).every(name => Object.hasOwn(LEAF, name))) {
    for (const name of Object.keys(fields)) fields[name] = layout[name] ?? LEAF[name]
  } else {
    refuse('layout', layout, LAYOUT)
  }
  return areRight(fields) ? fields : refuse('layout', layout, LAYOUT)
}

export function decode(id, layout) {
  const whole = existing(id)
  const { timestampBits, workerBits, sequenceBits, epochMs, tickMs, order } = fieldsOf(layout)
  const low = workerBits + sequenceBits
  if (whole >> BigInt(timestampBits + low) !== 0n) refuse('id', id, `ids of ${timestampBits + low} bits, as the layout has`)
  const [workerShift, sequenceShift] = order === ORDERS[0] ? [sequenceBits, 0] : [0, workerBits]
  const part = (shift, bits) => Number(BigInt.asUintN(bits, whole >> BigInt(shift)))
  const timestampMs = epochMs + part(low, timestampBits) * tickMs
  const [workerId, sequence] = [part(workerShift, workerBits), part(sequenceShift, sequenceBits)]
  return { timestampMs, time: new Date(timestampMs), workerId, sequence }
}
