import type { Source, TableOptions } from './source.js'

export type { Source, TableOptions }

/**
 * Ranges of ids from a table of PostgreSQL, by the package pg.
 *
 * @param database the URL, or the settings of a client of pg
 *
 * @example
 * const fetch = postgres.source('postgresql://app@db/shop')
 * const ids = new Segments({ fetch, name: 'shop' })
 */
export function source(database: string | object, options?: TableOptions): Source
