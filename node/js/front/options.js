// Checks the types of options: numbers are safe integers, text is text, no name is unknown. The core checks the values.

import { existing, layout, ofSnowflakes } from './option_rules.js'
import { headers, integer, isRecord, peerTimes, record, text, truth, worker } from './readers.js'
import { refuse } from './refuse.js'

const options = {
  worker,
  name: text,
  stateDir: text,
  layout,
  epochMs: integer,
  onClockBackwards: text,
  maxBackwardsMs: integer,
  onExhausted: text,
  randomStart: integer,
  timeoutMs: integer,
  persist: truth,
  sharedFs: truth,
  sharedGroup: truth,
  exclusiveRange: truth,
  noRecordWaitMs: integer,
  lazy: truth,
  clockSource: text,
  startAfter: existing,
  peerTimes,
  token: text,
  headers,
  caFile: text,
  requestTimeoutMs: integer,
  connectTimeoutMs: integer,
}
const readers = { ...options, ...ofSnowflakes }

/** The options of a snowflake, with their types checked. */
export function snowflakeOptions(given) {
  if (given === undefined || given === null) return {}
  if (!isRecord(given)) refuse('options', given, 'an object of options: docs/OPTIONS.md')
  return record(given, readers)
}
