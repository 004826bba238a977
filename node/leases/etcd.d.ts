import type { Leases, PrefixOptions } from './leases.js'

export type { Leases, PrefixOptions }

/**
 * Leases of worker ids from etcd, by its JSON gateway. The default `prefix` of its keys is `'/leafid/worker/'`.
 *
 * @param url of the servers
 *
 * @example
 * const worker = etcd.leases('http://etcd:2379')
 * const flake = await Snowflake.open({ worker, name: 'shop' })
 */
export function leases(url: string, options?: PrefixOptions): Leases
