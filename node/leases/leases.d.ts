// What the modules of leafid/leases have in common.

import type { ClaimRequest, Lease, Renewal, WorkerLeases, WorkerRange } from '../index.js'

/** Leases of worker ids from a database: the `worker` of `Snowflake.open({ worker, name })`. */
export interface Leases extends WorkerLeases {
  /** Leases the id that has been free for longest; `null` if none is free. */
  claim(request: ClaimRequest): Promise<Lease | null>
  /** Extends a span, and changes its token; `null` if another one has the id. */
  renew(lease: Lease, untilMs: number): Promise<Renewal | null>
  /** Gives the id back, of which no id at or after `untilMs` was made. */
  release(lease: Lease, untilMs: number): Promise<void>
  /**
   * Makes what is missing: the table or its like, and these worker ids; so many from 0, or a range. Default 1024. No lease
   * is changed. Call it once, and not at each start: in a database that has lost its leases all ids would be free.
   */
  createTables(options?: { readonly workers?: number | WorkerRange }): Promise<void>
  /** What is wrong with the server and what is stored, each with what mends it. Rejects if the server does not answer. */
  check(): Promise<string[]>
}

/** The options of leases from keys or nodes. */
export interface PrefixOptions {
  /** What the names of keys or nodes begin with. */
  readonly prefix?: string
}
