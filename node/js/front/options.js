// Checks the types of options by the kinds that the core's table says: numbers are safe integers, text is text, no name
// is unknown. The core checks the values.

import { existing, layout, ofSnowflakes, optionRows } from './option_rules.js'
import { headers, integer, isRecord, peerTimes, record, text, truth, worker } from './readers.js'
import { refuse } from './refuse.js'

export const kinds = { int: integer, text, word: text, path: text, flag: truth, headers }

/** The readers of options by their names: those of their kinds, and those of which this package has its own. */
export function readersOf(areOfSegments, byKind, own) {
  const rows = optionRows(areOfSegments).filter(({ kind }) => byKind[kind])
  return { ...Object.fromEntries(rows.map(({ name, kind }) => [name, byKind[kind]])), ...own }
}

/** Made with the first snowflake. */
let readers

/** The options of a snowflake, with their types checked. */
export function snowflakeOptions(given) {
  if (given === undefined || given === null) return {}
  if (typeof given === 'number' || typeof given === 'string') return snowflakeOptions({ worker: given })
  if (!isRecord(given)) refuse('options', given, 'an object of options: leafid help options')
  readers ??= readersOf(false, { ...kinds, id: existing, worker, layout, callback: peerTimes }, ofSnowflakes)
  return record(given, readers)
}
