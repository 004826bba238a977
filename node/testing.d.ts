// Generators for tests: the same ids in each run. These ids are NOT unique.

import type { Layout, ResolvedLayout, Segments, Snowflake, SnowflakeStats, SegmentsStats, Tag } from './index.js'

/** What a test gives: ids, and errors, which are thrown. */
export type GivenIds = Iterable<bigint | string | number | Error>

/** The options of a {@link FakeSnowflake}. */
export interface FakeSnowflakeOptions {
  /**
   * Unix milliseconds, a Date, or a function that returns one of them, such as `Date.now` with fake timers. A clock
   * that stands counts the sequence up, and then takes the next tick; one that goes back gives ids of the last tick.
   * Default: 2026-01-01 in UTC.
   */
  readonly clock?: number | Date | (() => number | Date)
  /** What `next` returns, in this order, instead. */
  readonly ids?: GivenIds
  /** The worker id of the ids. Default 0. */
  readonly workerId?: number
  /** The layout of the ids. Default `'leaf'`. */
  readonly layout?: Layout | null
  /** The layout's epoch. Default: the layout's own. */
  readonly epochMs?: number | null
}

/** A `Snowflake` for tests, whose ids are NOT unique: no worker id is claimed, and nothing is stored. */
export declare class FakeSnowflake implements Pick<Snowflake, keyof Snowflake> {
  constructor(options?: FakeSnowflakeOptions)
  /** The constructor as a promise. */
  static open(this: void, options?: FakeSnowflakeOptions): Promise<FakeSnowflake>
  next(this: void): bigint
  nextString(this: void): string
  nextNumber(this: void): number
  take(this: void, n: number): BigInt64Array
  takeStrings(this: void, n: number): string[]
  fill<T extends BigInt64Array | BigUint64Array>(this: void, array: T): T
  stats(this: void): SnowflakeStats
  close(this: void): void
  [Symbol.dispose](): void
  [Symbol.iterator](): IterableIterator<bigint>
  get workerId(): number
  get layout(): Readonly<ResolvedLayout>
}

/** The options of {@link FakeSegments}. */
export interface FakeSegmentsOptions {
  /** The first id of each tag. Default 1. */
  readonly first?: bigint | number
  /** Instead, what each tag returns, in this order. A tag that is not there is unknown. */
  readonly ids?: Readonly<Record<string, GivenIds>>
}

/** `Segments` for tests, whose ids are NOT unique: each tag counts from `first`, and nothing is fetched or stored. */
export declare class FakeSegments implements Pick<Segments, keyof Segments> {
  constructor(options?: FakeSegmentsOptions)
  /** The constructor as a promise. */
  static open(this: void, options?: FakeSegmentsOptions): Promise<FakeSegments>
  tag(this: void, name: string): Tag
  stats(this: void): SegmentsStats
  close(this: void): void
  [Symbol.dispose](): void
  [Symbol.asyncDispose](): Promise<void>
  get name(): string
}
