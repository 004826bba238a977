import { wasm } from './module.js'
import { existing, integer, text as string, withLayout } from './options.js'
import { Date } from './time.js'

export function decode(id, layout) {
  const whole = existing(id, 'id')
  return withLayout(layout, handle => {
    const module = wasm()
    module.call('decode', handle, whole)
    const [timestampMs, workerId, sequence] = module.numbers(3)
    return { timestampMs, time: new Date(timestampMs), workerId, sequence }
  })
}

export function compose(timestampMs, workerId, sequence, layout) {
  const time = integer(timestampMs, 'timestampMs')
  const worker = integer(workerId, 'workerId')
  const number = integer(sequence, 'sequence')
  return withLayout(layout, handle => wasm().call('compose', handle, time, worker, number))
}

export function firstIdAt(timestamp, layout) {
  const time = milliseconds(timestamp)
  return withLayout(layout, handle => wasm().call('first_id_at', handle, time))
}

export function lastIdAt(timestamp, layout) {
  const time = milliseconds(timestamp)
  return withLayout(layout, handle => wasm().call('last_id_at', handle, time))
}

export function formatId(id, form) {
  const whole = existing(id, 'id')
  const module = wasm()
  module.call('id_format', string(form, 'form'), whole)
  return module.text()
}

export function parseId(text, form) {
  const given = string(text, 'text')
  return wasm().call('id_parse_form', string(form, 'form'), given)
}

/** A time, in Unix milliseconds or as a Date. */
function milliseconds(timestamp) {
  return integer(typeof timestamp?.getTime === 'function' ? timestamp.getTime() : timestamp, 'timestampMs')
}
