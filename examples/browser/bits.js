// The bits of an id, in the colours of their fields.

import { decode } from 'leafid/wasm'

/** The fields of each layout, from the highest bit on. */
const LAYOUTS = {
  leaf: [['timestamp', 41], ['worker', 10], ['sequence', 12]],
  yitter: [['timestamp', 51], ['worker', 6], ['sequence', 6]],
  sonyflake: [['timestamp', 39], ['sequence', 8], ['worker', 16]],
  'uid-generator': [['timestamp', 28], ['worker', 22], ['sequence', 13]],
  'js-safe': [['timestamp', 41], ['worker', 3], ['sequence', 9]],
}

/** The field of each of the 64 bits. What lies above the layout's bits is 0, as the sign is. */
function fieldsOf(layout) {
  const fields = LAYOUTS[layout].flatMap(([field, bits]) => Array(bits).fill(field))
  return [...Array(64 - fields.length).fill('sign'), ...fields]
}

function cell(bit, field) {
  const made = document.createElement('i')
  made.className = `${field}${bit === '1' ? ' on' : ''}`
  made.textContent = bit
  return made
}

/** Shows an id of a layout in the elements that `find` finds by their ids; returns what is wrong with it, or null. */
export function showBits(text, layout, find) {
  let parts
  try {
    parts = decode(text, layout)
  } catch (error) {
    return error.message
  }
  const bits = BigInt(text).toString(2).padStart(64, '0')
  find('bits').replaceChildren(...fieldsOf(layout).map((field, at) => cell(bits[at], field)))
  find('bits').ariaLabel = `the 64 bits of ${text}`
  find('time').textContent = parts.time.toISOString().replace('T', ' ').replace('Z', ' UTC')
  find('worker-id').textContent = parts.workerId
  find('sequence').textContent = parts.sequence
  return null
}
