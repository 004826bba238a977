// What the types refuse: each line below is an error, or this file is.

import { Snowflake, compose, decode } from 'leafid'

export function refused(flake: Snowflake): void {
  // @ts-expect-error an unknown option
  new Snowflake({ workers: 7 })
  // @ts-expect-error a bigint is no worker id
  new Snowflake({ worker: 7n })
  // @ts-expect-error both ends are needed
  new Snowflake({ worker: { first: 0 } })
  // @ts-expect-error no such layout
  new Snowflake({ layout: 'twitter' })
  // @ts-expect-error no such rule
  new Snowflake({ onExhausted: 'throw' })
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
  void id
}
