import type { Source, TableOptions } from './source.js'

export type { Source, TableOptions }

/**
 * Ranges of ids from a table of SQLite, for the processes of one host, by the package better-sqlite3.
 *
 * @param path of the file, on a local disk
 *
 * @example
 * const fetch = sqlite.source('/var/lib/shop/ids.db')
 * const ids = new Segments({ fetch, name: 'shop' })
 */
export function source(path: string, options?: TableOptions): Source
