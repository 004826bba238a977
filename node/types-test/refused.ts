// What the types refuse: each line below is an error, or this file is.

import { Segments, type Tag, Snowflake, compose, decode, setLogger } from 'leafid'

export function refused(flake: Snowflake, tag: Tag): void {
  // @ts-expect-error an unknown option
  new Snowflake({ workers: 7 })
  // @ts-expect-error a bigint is no worker id
  new Snowflake({ worker: 7n })
  // @ts-expect-error both ends are needed
  new Snowflake({ worker: { first: 0 } })
  // @ts-expect-error URLs
  new Snowflake({ worker: [0, 31] })
  // @ts-expect-error texts by name
  new Snowflake({ worker: 'https://a', headers: [['a', 'b']] })
  // @ts-expect-error no such layout
  new Snowflake({ layout: 'twitter' })
  // @ts-expect-error no such rule
  new Snowflake({ onExhausted: 'throw' })
  // @ts-expect-error no boolean
  new Snowflake({ persist: 1 })
  // @ts-expect-error no such clock
  new Snowflake({ clockSource: 'monotonic' })
  // @ts-expect-error a worker id
  new Snowflake({ worker: () => '7' })
  // @ts-expect-error no renew and release
  new Snowflake({ worker: { claim: () => null } })
  // @ts-expect-error where the span ends is missing
  new Snowflake({ worker: { claim: () => ({ workerId: 1, fromMs: 2 }), renew: () => null, release: () => {} } })
  // @ts-expect-error a function
  new Snowflake({ peerTimes: [1] })
  // @ts-expect-error numbers
  new Snowflake({ peerTimes: () => ['1'] })
  // @ts-expect-error a number
  flake.take(5n)
  // @ts-expect-error 64 bits are needed
  flake.fill(new Int32Array(4))
  // @ts-expect-error a bigint
  const id: number = flake.next()
  // @ts-expect-error no id
  decode(new Date())
  // @ts-expect-error numbers
  compose(1n, 2, 3)
  // @ts-expect-error read-only
  flake.layout.tickMs = 2
  // @ts-expect-error read-only
  flake.workerId = 2
  // @ts-expect-error no level
  setLogger(null, 'loud')
  // @ts-expect-error no callback
  setLogger('log')
  void id
  // @ts-expect-error servers, or a function
  new Segments({})
  // @ts-expect-error no servers
  new Segments({ fetch: () => null, protocol: 'range' })
  // @ts-expect-error no such protocol
  new Segments('http://a', { protocol: 'http' })
  // @ts-expect-error a number
  new Segments('http://a', { blockSize: '100' })
  // @ts-expect-error not of a function
  new Segments({ fetch: () => null, blockSize: 100 })
  // @ts-expect-error the end is missing
  new Segments({ fetch: () => ({ start: 1 }) })
  // @ts-expect-error no text
  new Segments({ fetch: () => ({ start: '1', end: '5' }) })
  // @ts-expect-error not from a function
  new Segments({ fetch: () => null, create: true })
  // @ts-expect-error a promise
  const next: bigint = tag.next()
  // @ts-expect-error a number
  tag.take(5n)
  // @ts-expect-error no signal
  tag.next({ signal: 5 })
  // @ts-expect-error only segments make tags
  new Tag()
  void next
}
