import type { Leases, PrefixOptions } from './leases.js'

export type { Leases, PrefixOptions }

/** What is used of a client of ioredis. */
export interface RedisClient {
  eval(...args: any[]): Promise<any>
  zadd(...args: any[]): Promise<any>
  zcard(...args: any[]): Promise<any>
  info(...args: any[]): Promise<any>
  config(...args: any[]): Promise<any>
}

/**
 * Leases of worker ids from Redis, by the package ioredis. The default `prefix` of its two keys is `'{worker}'`; what is in
 * braces is the same for both, for a cluster.
 *
 * @param server the URL, or your client
 *
 * @example
 * const worker = redis.leases('redis://ids:6379/0')
 * const flake = await Snowflake.open({ worker, name: 'shop' })
 */
export function leases(server: string | RedisClient, options?: PrefixOptions): Leases
