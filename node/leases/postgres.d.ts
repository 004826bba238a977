import type { Leases } from './leases.js'

export type { Leases }

/**
 * Leases of worker ids from a table of PostgreSQL, by the package pg.
 *
 * @param database the URL, or the settings of a client of pg
 * @param options `table`, its name: letters, digits and `_`. Default `'worker'`
 *
 * @example
 * const worker = postgres.leases('postgresql://app@db/shop')
 * const flake = await Snowflake.open({ worker, name: 'shop' })
 */
export function leases(database: string | object, options?: { readonly table?: string }): Leases
