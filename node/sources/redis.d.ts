import type { Source } from './source.js'

export type { Source }

/** What is used of a client of ioredis. */
export interface RedisClient {
  eval(...args: any[]): Promise<any>
  set(...args: any[]): Promise<any>
  info(...args: any[]): Promise<any>
  config(...args: any[]): Promise<any>
}

/**
 * Ranges of ids from keys of Redis, by the package ioredis.
 *
 * @param server the URL, or your client
 * @param options `prefix` of the keys, before the tag. Default `'segment:'`
 *
 * @example
 * const fetch = redis.source('redis://ids:6379/0')
 * const ids = new Segments({ fetch, name: 'shop' })
 */
export function source(server: string | RedisClient, options?: { readonly prefix?: string }): Source
