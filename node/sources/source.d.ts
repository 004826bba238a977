// What the modules of leafid/sources have in common.

import type { SegmentRange } from '../index.js'

/** Ranges of ids from a database: the `fetch` of `new Segments({ fetch, name })`. */
export interface Source {
  /** A range that no other call gets, at or above `after`; `null` for an unknown tag. */
  (tag: string, step: number, after?: bigint): Promise<SegmentRange | null>
  /**
   * Makes what is missing: the table, and the counters of these tags. No counter is changed. Call it once, and not at each
   * start: in a database that has lost its counters they would begin at 1 again.
   */
  createTables(options?: { readonly tags?: readonly string[] }): Promise<void>
  /** What is wrong with the server and the table, each with what mends it. Rejects if the server does not answer. */
  check(): Promise<string[]>
}

/** The options of a source that has a table. */
export interface TableOptions {
  /** The name of Leaf's table: letters, digits and `_`. Default `'leaf_alloc'`. */
  readonly table?: string
}
