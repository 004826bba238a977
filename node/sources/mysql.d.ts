import type { Source, TableOptions } from './source.js'

export type { Source, TableOptions }

/**
 * Ranges of ids from a table of MariaDB or MySQL, by the package mysql2.
 *
 * @param database the URL, or the settings of a connection of mysql2
 *
 * @example
 * const fetch = mysql.source('mysql://app:secret@db:3306/shop')
 * const ids = new Segments({ fetch, name: 'shop' })
 */
export function source(database: string | object, options?: TableOptions): Source
