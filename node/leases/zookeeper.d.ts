import type { Leases, PrefixOptions } from './leases.js'

export type { Leases, PrefixOptions }

/**
 * Leases of worker ids from ZooKeeper, by the package zookeeper. The default `prefix` of its nodes is `'/leafid/worker/'`.
 *
 * @param hosts as `'zk-1:2181,zk-2:2181,zk-3:2181'`
 *
 * @example
 * const worker = zookeeper.leases('zk-1:2181,zk-2:2181,zk-3:2181')
 * const flake = await Snowflake.open({ worker, name: 'shop' })
 */
export function leases(hosts: string, options?: PrefixOptions): Leases
