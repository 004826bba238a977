import { composed, decoded, existing, firstAt, formatted, lastAt, parsed } from './id_calls.js'
import { integer, text } from './readers.js'
import { Date } from './time.js'

export function decode(id, layout) {
  const { timestampMs, workerId, sequence } = decoded(existing(id, 'id'), layout)
  return { timestampMs, time: new Date(timestampMs), workerId, sequence }
}

export function compose(timestampMs, workerId, sequence, layout) {
  const time = integer(timestampMs, 'timestampMs')
  const worker = integer(workerId, 'workerId')
  return composed(time, worker, integer(sequence, 'sequence'), layout)
}

export function firstIdAt(timestamp, layout) {
  return firstAt(milliseconds(timestamp), layout)
}

export function lastIdAt(timestamp, layout) {
  return lastAt(milliseconds(timestamp), layout)
}

export function formatId(id, form) {
  const whole = existing(id, 'id')
  return formatted(whole, text(form, 'form'))
}

export function parseId(given, form) {
  const id = text(given, 'text')
  return parsed(id, text(form, 'form'))
}

/** A time, in Unix milliseconds or as a Date. */
function milliseconds(timestamp) {
  return integer(typeof timestamp?.getTime === 'function' ? timestamp.getTime() : timestamp, 'timestampMs')
}
