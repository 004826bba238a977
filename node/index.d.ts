/// <reference lib="es2018.asynciterable" />
/// <reference lib="es2020.bigint" />
/// <reference lib="esnext.disposable" />

/** The version of the package and of its addon. */
export declare const version: string

/** The values of `LeafidError.code`. They never change. */
export type LeafidErrorCode =
  | 'ERR_LEAFID_INVALID_ARGUMENT'
  | 'ERR_LEAFID_CLOCK_BACKWARDS'
  | 'ERR_LEAFID_BEFORE_EPOCH'
  | 'ERR_LEAFID_TIME_EXHAUSTED'
  | 'ERR_LEAFID_WORKER_IN_USE'
  | 'ERR_LEAFID_WORKER_LOST'
  | 'ERR_LEAFID_STATE_IO'
  | 'ERR_LEAFID_STATE_CORRUPT'
  | 'ERR_LEAFID_STATE_MISMATCH'
  | 'ERR_LEAFID_UNKNOWN_TAG'
  | 'ERR_LEAFID_SEGMENT_UNAVAILABLE'
  | 'ERR_LEAFID_SEGMENT_REGRESSED'
  | 'ERR_LEAFID_SOURCE_INVALID'
  | 'ERR_LEAFID_WOULD_BLOCK'
  | 'ERR_LEAFID_CLOSED'
  | 'ERR_LEAFID_INTERNAL'

/** Every error of this package. The message says what happened, with the numbers, and what to do. */
export declare class LeafidError extends Error {
  constructor(code: LeafidErrorCode, message: string)
  readonly name: 'LeafidError'
  /** Which error it is. */
  readonly code: LeafidErrorCode
  /** Whether the same call can succeed later without a manual change. */
  readonly retry: boolean
}

/** A range of worker ids: any free one is claimed. */
export interface WorkerRange {
  /** The smallest id. */
  readonly first: number
  /** The largest id, inclusive. */
  readonly last: number
}

/** The argument of {@link WorkerLeases.claim}. Times are Unix milliseconds. */
export interface ClaimRequest {
  /** The id space. */
  readonly name: string
  /** 128 random bits in hex, new for each claim. */
  readonly instance: string
  /** The worker id that the generator held before; `null` at the first claim. */
  readonly previous: number | null
  /** The clock. */
  readonly nowMs: number
  /** The requested end of the span. You may grant more or less. */
  readonly untilMs: number
}

/** A worker id and a span of time that no other holder gets. Times are Unix milliseconds, integers. */
export interface Lease {
  /** The worker id. */
  readonly workerId: number
  /** The start of the span: at or above the `untilMs` of every earlier holder. */
  readonly fromMs: number
  /** The end, exclusive, at most a week ahead. Store it before you return it. */
  readonly untilMs: number
  /** How long the id is kept for this holder without a renewal, 1 to 604800000 ms. Default: until `untilMs`. */
  readonly leaseMs?: number | null
  /** Identifies the holder: `renew` and `release` get it back. */
  readonly token?: string | null
  /** The clocks of other holders. A clock 10 s or more from the median of three or more is refused. */
  readonly peerTimesMs?: readonly number[] | null
}

/** The result of {@link WorkerLeases.renew}. An absent field other than `untilMs` keeps its value. */
export type Renewal = Pick<Lease, 'untilMs'> & Partial<Lease>

/**
 * Leases of worker ids from what all hosts share: a database, Redis, etcd, ZooKeeper.
 *
 * One rule makes ids unique: a granted span overlaps no other span of the same worker id. So store `untilMs` before you
 * return it, lower it only for a release, and set the next holder's `fromMs` at or above it.
 *
 * The methods run on the thread that made the snowflake: `claim` in the constructor or in {@link Snowflake.open}, `release`
 * in `close`, everything else from the event loop, never inside `next`. Each may return a promise, `claim` only for
 * {@link Snowflake.open} or with `lazy`. A call without an answer after `timeoutMs` is abandoned. Only then is there a
 * second call for the same generator, and a lease that an abandoned claim grants later is released. An event loop that is
 * busy for longer than the lease cannot renew it: calls are `ERR_LEAFID_WOULD_BLOCK` until it is free again.
 *
 * An exception or a rejection becomes `ERR_LEAFID_WORKER_LOST` with its text, and is the `cause` if the constructor or
 * `open` throws it; a {@link LeafidError} keeps its code. A result of another type is `ERR_LEAFID_INVALID_ARGUMENT`.
 *
 * A snowflake that the garbage collector finds releases its lease. One to which this object refers is never found: close it.
 */
export interface WorkerLeases {
  /**
   * Leases a free worker id; returns `null` if there is none (`ERR_LEAFID_WORKER_IN_USE`). What it stores must stay stored:
   * do not call the constructor inside a transaction that includes `claim` and can be rolled back.
   */
  claim(request: ClaimRequest): Lease | null | undefined | PromiseLike<Lease | null | undefined>
  /**
   * Extends the span to about `untilMs`, stores a new `token`, and returns both; an end alone leaves the token as it is.
   * `null`, or a `LeafidError` with the code `ERR_LEAFID_WORKER_LOST`, means that another holder has the id: leafid then
   * claims a new one. Any other error means that the result is unknown: leafid uses the span to its end, and repeats the
   * call.
   */
  renew(lease: Lease, untilMs: number): Renewal | number | null | PromiseLike<Renewal | number | null>
  /**
   * Releases the id: no id at or after `untilMs` was made or will be made. An error is a warning of the process, because
   * the lease ends by itself. After `process.exit()`, and at a natural end, only its synchronous part runs.
   */
  release(lease: Lease, untilMs: number): unknown
}

/**
 * Returns a worker id that no other process on any host holds; `null` if none is free (`ERR_LEAFID_WORKER_IN_USE`).
 * `previous` is `null`. It is called once for a process; the state directory does the rest. Promises and errors are as for
 * {@link WorkerLeases}.
 */
export type WorkerClaim = (
  name: string,
  previous: number | null,
) => number | null | undefined | PromiseLike<number | null | undefined>

/** The order of worker id and sequence below the timestamp: Leaf's, or Sonyflake's. */
export type LayoutOrder = 'worker-sequence' | 'sequence-worker'

/** The bits of an id, at most 63 together. The default of each field is Leaf's. */
export interface LayoutFields {
  /** Bits of the tick counter, 1 to 62. Default 41. */
  readonly timestampBits?: number | null
  /** Bits of the worker id, 0 to 31. Default 10. */
  readonly workerBits?: number | null
  /** Bits of the sequence, 0 to 31. Default 12. */
  readonly sequenceBits?: number | null
  /** Unix milliseconds of tick 0. Default 1288834974657. */
  readonly epochMs?: number | null
  /** Milliseconds per tick, 1 to 3600000. Default 1. */
  readonly tickMs?: number | null
  /** Default `worker-sequence`. */
  readonly order?: LayoutOrder | null
}

/** The layouts known by name. */
export type LayoutPreset = 'leaf' | 'uid-generator' | 'yitter' | 'sonyflake' | 'js-safe'

/** A preset's name, the bits of timestamp, worker id and sequence as in `'35|5|23'`, or the fields. */
export type Layout = LayoutPreset | `${number}|${number}|${number}` | LayoutFields

/**
 * The options of a {@link Snowflake}. `undefined` and `null` mean the default; any other name is refused. The project's
 * `docs/OPTIONS.md` describes every option in full.
 */
export interface SnowflakeOptions {
  /**
   * `7`, `{ first: 0, last: 31 }`, `'0-31'`, `'local'` on this machine alone, `'hostname:orders'`, `'hostname:orders*8'`, URLs
   * of lease servers, a function or an object that gives worker ids. Default: the environment's `LEAFID_WORKER`.
   */
  readonly worker?: number | string | readonly string[] | WorkerRange | WorkerClaim | WorkerLeases | null
  /**
   * The id space: worker ids are unique within it, and two id spaces can make the same id. Give one name to all programs
   * that write into one column. 1 to 64 of `A-Z a-z 0-9 . _ -`. Default `'default'`.
   */
  readonly name?: string | null
  /** The directory of the records. Default: `LEAFID_STATE_DIR`, or a directory of the system or the user. */
  readonly stateDir?: string | null
  /** The layout of the ids. Default `'leaf'`. */
  readonly layout?: Layout | null
  /** The layout's epoch, Unix milliseconds, not ahead of the clock. Default: the layout's own. */
  readonly epochMs?: number | null
  /** When the clock is behind the last id: `'continue'` on a logical clock (default), or `'wait'` for the clock. */
  readonly onClockBackwards?: 'continue' | 'wait' | null
  /** How far the clock may be behind the last id, milliseconds. Default 5000, or 5 under `'wait'`. */
  readonly maxBackwardsMs?: number | null
  /** When a tick is used up: `'wait'` for the next one (default), or `'borrow'` it ahead of the clock. */
  readonly onExhausted?: 'wait' | 'borrow' | null
  /** A new tick starts its sequence below this number, 0 to 1000000; 0 is off. Default 100. */
  readonly randomStart?: number | null
  /**
   * The longest wait of a call for its next id, milliseconds, 1 to 3600000. Default 2000. On the JavaScript thread a call
   * waits 2 ms at most for the clock; beyond that it is `ERR_LEAFID_WOULD_BLOCK`.
   */
  readonly timeoutMs?: number | null
  /** `false` stores no record and gives up restart safety. Default `true`. */
  readonly persist?: boolean | null
  /** Whether `stateDir` may be on a network file system with working locks. Default `false`. */
  readonly sharedFs?: boolean | null
  /** Whether the members of a group share `stateDir`. Default: `LEAFID_SHARED_GROUP`, else `false`. */
  readonly sharedGroup?: boolean | null
  /**
   * Your statement that no other container or host has this range, or that all that have it share `stateDir`. Default:
   * `LEAFID_EXCLUSIVE_RANGE`, else `false`.
   */
  readonly exclusiveRange?: boolean | null
  /**
   * How long a start without a record issues nothing, milliseconds, 0 to 3600000. Calls meanwhile are
   * `ERR_LEAFID_CLOCK_BACKWARDS` or `ERR_LEAFID_WOULD_BLOCK`. Default: `LEAFID_NO_RECORD_WAIT_MS`, else 0: off.
   */
  readonly noRecordWaitMs?: number | null
  /**
   * Whether to claim the worker id at the first id instead of in the constructor, with the environment of that time.
   * Default `false`. If a user callback or a lease server gives the worker id, calls are `ERR_LEAFID_WOULD_BLOCK` until it
   * has answered. Its error is that of the next call. A call that comes later than `timeoutMs` claims again; that error is
   * then its `cause`.
   */
  readonly lazy?: boolean | null
  /** `'system'` (default), or `'coarse'`: cheaper to read, and late by up to {@link SnowflakeStats.clockLagMs}. */
  readonly clockSource?: 'system' | 'coarse' | null
  /** The largest existing id of this layout: every id will be of a later tick. */
  readonly startAfter?: bigint | string | number | null
  /** Returns the clocks of peers, Unix milliseconds, before each claim. A promise needs {@link Snowflake.open} or `lazy`. */
  readonly peerTimes?: (() => readonly number[] | PromiseLike<readonly number[]>) | null
  /**
   * Sent to lease servers as `Authorization: Bearer …`. Default: `LEAFID_TOKEN`, or the file `LEAFID_TOKEN_FILE`. This and the
   * next four options need URLs of lease servers.
   */
  readonly token?: string | null
  /** More headers for lease servers. */
  readonly headers?: Readonly<Record<string, string>> | null
  /** A PEM file of certificate authorities for lease servers, in addition to the system's. Default: `LEAFID_CA_FILE`. */
  readonly caFile?: string | null
  /** The longest duration of a claim, renewal or release, over all servers, milliseconds, 1 to 3600000. Default 1000. */
  readonly requestTimeoutMs?: number | null
  /** The longest duration of a connection to a lease server, milliseconds, 1 to 3600000. Default 300. */
  readonly connectTimeoutMs?: number | null
}

/** The state of a generator. Times are Unix milliseconds. */
export interface SnowflakeStats {
  /** The id space. */
  name: string
  /** The worker id held. */
  workerId: number
  /** The directory of the records, with the id space's sub-directory; empty if none are stored. */
  stateDir: string
  /** The layout: a preset's name, or bits as in `35|5|23`. */
  layout: string
  /** The layout's epoch. */
  epochMs: number
  /** When the layout's timestamp bits end. */
  expiresAtMs: number
  /** Ids are durable up to here, exclusive. */
  reservedUntilMs: number
  /** How far the logical clock is ahead of the clock, in milliseconds; 0 when it is not. */
  leadMs: number
  /** How late the clock of `clockSource` may be, in milliseconds; 0 for the system's. */
  clockLagMs: number
  /** Where the lease of the worker id ends; `null` without one. */
  leaseUntilMs: number | null
  /** Ids issued since the claim of this worker id, with those that a thread reserved for its next calls. */
  ids: number
  /** How often a worker id was claimed: more than once when leases were lost. */
  claims: number
  /** Handles of this process that share the generator. */
  handles: number
  /** Spans made durable since the generator was opened, the first one not counted. */
  renewals: number
  /** Renewals of spans and leases that failed. */
  renewalFailures: number
  /** The last error of a renewal, `null` after a success. */
  lastError: string | null
}

/**
 * Makes unique 64-bit ids in this process: unique across threads, processes, crashes, restarts and clock movements.
 *
 * Snowflakes of one process with the same options share one generator, across its `worker_threads`. Nothing keeps the
 * process alive. A handle that is still open when a worker or the process ends is closed then.
 *
 * All methods are bound: `const { next } = new Snowflake({ worker: 7 })` works. Errors are {@link LeafidError}.
 *
 * ```js
 * const flake = new Snowflake() // with LEAFID_WORKER=0-31
 * const id = flake.next() // 1169786042799259000n
 * ```
 */
export declare class Snowflake {
  /**
   * Claims a worker id and makes its first span durable: a short write of a file on the JavaScript thread (besides it only
   * a span that comes late is written there). The constructor waits for a lease server up to `requestTimeoutMs`, and for a
   * free worker id of a full range up to `timeoutMs`. {@link Snowflake.open} waits off that thread.
   *
   * Throws `ERR_LEAFID_INVALID_ARGUMENT`, `_WORKER_IN_USE` (naming the holder), `_WORKER_LOST` (a source of worker ids, or
   * a lease server, failed), `_CLOCK_BACKWARDS`, `_BEFORE_EPOCH`, `_TIME_EXHAUSTED`, `_STATE_IO`, `_STATE_CORRUPT`,
   * `_STATE_MISMATCH`, `_WOULD_BLOCK` (also for a source of worker ids that returns a promise: see {@link Snowflake.open}).
   */
  constructor(options?: SnowflakeOptions | number | string | null)

  /**
   * The constructor as a promise; it uses the lease server and the disk off this thread. It rejects with what the
   * constructor throws. It waits for promises of user callbacks, each for `timeoutMs`. Under `onClockBackwards: 'wait'` the
   * record of a killed process may be ahead of the clock: the constructor then throws `ERR_LEAFID_WOULD_BLOCK`, and this
   * waits for the clock, 4 s at most, or `timeoutMs` if that is longer.
   */
  static open<T extends typeof Snowflake>(this: T, options?: SnowflakeOptions | number | string | null): Promise<InstanceType<T>>
  static open(this: void, options?: SnowflakeOptions | number | string | null): Promise<Snowflake>

  /**
   * The next id: 0 to 2^63-1, above every earlier one of this generator.
   *
   * It waits for the clock, at most 2 ms, when the tick's ids are used up. Throws `ERR_LEAFID_WOULD_BLOCK`,
   * `_CLOCK_BACKWARDS`, `_BEFORE_EPOCH`, `_TIME_EXHAUSTED`, `_STATE_IO`, `_WORKER_LOST`, `_CLOSED`; in the first call of a
   * lazy generator, and where a lost lease cannot be claimed again, also what the constructor throws. `JSON.stringify`
   * refuses a bigint: see {@link Snowflake.nextString}.
   */
  next(this: void): bigint

  /** The next id as decimal digits, for JSON and logs. Errors as `next`. */
  nextString(this: void): string

  /** The next id as a number. Refused (`_INVALID_ARGUMENT`) unless the layout has at most 53 bits. Errors as `next`. */
  nextNumber(this: void): number

  /**
   * The next `n` ids, 0 to 16777216, ascending: all or none. Errors as `next`; `_WOULD_BLOCK` when they need a wait of
   * more than 2 ms for one tick.
   */
  take(this: void, n: number): BigInt64Array

  /** The next `n` ids as decimal digits. Errors as `take`. */
  takeStrings(this: void, n: number): string[]

  /**
   * Fills the array, of up to 16777216 elements, with the next ids, ascending, all or nothing, and returns it. A view of a
   * `SharedArrayBuffer` is filled through a copy. Errors as `take`.
   */
  fill<T extends BigInt64Array | BigUint64Array>(this: void, array: T): T

  /** The state of the generator now. Throws `ERR_LEAFID_CLOSED`. */
  stats(this: void): SnowflakeStats

  /**
   * Closes this handle. The last handle of a generator records where its ids end, frees the worker id, and releases a
   * lease. Afterwards every call is `ERR_LEAFID_CLOSED`; you may close twice. Leased ones are closed when the process emits
   * `exit`. Another thread informs a lease server, and `close` does not wait for it; the end of the process does, 3 s at
   * most.
   */
  close(this: void): void

  /** Closes at the end of a `using` block. Exists where the runtime has `Symbol.dispose`. */
  [Symbol.dispose](): void

  /** Ids without an end: `for (const id of flake)`. What `next` throws ends the loop. Do not spread it. */
  [Symbol.iterator](): IterableIterator<bigint>

  /** The worker id held. Throws `ERR_LEAFID_CLOSED`. */
  get workerId(): number

  /** The layout of the ids, as {@link decode} takes it. */
  get layout(): Readonly<ResolvedLayout>
}

/** A layout with every field. */
export interface ResolvedLayout extends LayoutFields {
  readonly timestampBits: number
  readonly workerBits: number
  readonly sequenceBits: number
  readonly epochMs: number
  readonly tickMs: number
  readonly order: LayoutOrder
}

/** Ids that a source gives only once: `start`, `start + stride`, … below `end`. Bigints, or safe integers. */
export interface SegmentRange {
  /** The first id, 0 to 2^63 - 2. */
  readonly start: bigint | number
  /** The end, exclusive, up to 2^63 - 1. */
  readonly end: bigint | number
  /** From one id to the next. Default 1. */
  readonly stride?: bigint | number | null
}

/**
 * Gives segments, from your own database for example: returns a range of about `step` ids of `tag` that was never given
 * before, or `null` for an unknown tag (`ERR_LEAFID_UNKNOWN_TAG`). It takes the range from its counter in one transaction,
 * and returns after the commit. `after`: every id below it was given before; a counter that is lower has lost something.
 *
 * It is called on the thread that made the segments, from the event loop, never inside a call for ids. There is one call at
 * a time for a tag, and at most 16 for all tags, not counting those that take longer than a second. It may return a promise.
 * While it fails it is called less and less often. What it throws or rejects with becomes `ERR_LEAFID_SEGMENT_UNAVAILABLE`,
 * with its text at the end and as `cause`, when the time of a call is over; a {@link LeafidError} keeps its code. A result
 * of another type is `ERR_LEAFID_SOURCE_INVALID`, and a range that was given before `ERR_LEAFID_SEGMENT_REGRESSED`.
 */
export type SegmentFetch = (
  tag: string,
  step: number,
  after: bigint,
) => SegmentRange | null | undefined | PromiseLike<SegmentRange | null | undefined>

/**
 * The options of all segments. `undefined` and `null` mean the default; any other name is refused. The project's
 * `docs/OPTIONS.md` describes every option in full.
 */
export interface CommonSegmentsOptions {
  /**
   * How many ids to ask for at a time, 1 to 1000000; with a Leaf the size of the stock. Default: the source's own, or 1000.
   * Refused with tinyid.
   */
  readonly step?: number | null
  /** Whether the step, or a Leaf's stock, follows the use. Default `true`. */
  readonly adaptive?: boolean | null
  /** The next segment is fetched when more than this percentage is used, 0 to 100. Default 10. */
  readonly prefetch?: number | null
  /** The longest wait of a call for its next id, milliseconds, 1 to 3600000. Default 2000. */
  readonly timeoutMs?: number | null
  /** The id space. Two databases or two clusters need two names. 1 to 64 of `A-Z a-z 0-9 . _ -`. Default `'default'`. */
  readonly name?: string | null
  /** The directory of the marks. Default: as for {@link SnowflakeOptions.stateDir}. */
  readonly stateDir?: string | null
  /** `false` stores nothing: then only this process notices a source that repeats itself. Default `true`. */
  readonly persist?: boolean | null
  /** Whether directories may be on a network file system with working locks. Default `false`. */
  readonly sharedFs?: boolean | null
  /** Whether the members of a group share the directories. Default: `LEAFID_SHARED_GROUP`, else `false`. */
  readonly sharedGroup?: boolean | null
  /** Tags to fetch at once, in the background: at most 1000, or `'last-day'`. Default none. */
  readonly prewarm?: readonly string[] | 'last-day' | null
  /** Whether a clean close stores the unused ids for the next opening on this machine. Default `false`. */
  readonly keepUnused?: boolean | null
  /** Whether to refuse a segment that lies below earlier ones. Default `true`; `false` for a Leaf and tinyid. */
  readonly orderedSource?: boolean | null
}

/** The options of {@link Segments} from your own function. */
export interface FetchSegmentsOptions extends CommonSegmentsOptions {
  /** Gives the segments. */
  readonly fetch: SegmentFetch
  /** 1 is your word that tags called `…-xN` are no blocks of ids for anybody. Default: such a tag is refused. */
  readonly blockSize?: 1 | null
}

/**
 * A counter of a `file:` source, created with its first fetch if it is missing. An existing one continues, with this step
 * from that fetch on.
 */
export interface FileTag {
  /** The first id. Default 1. */
  readonly start?: bigint | number | null
  /** How many ids a fetch gets, 1 to 16777216. Default 1000. */
  readonly step?: number | null
}

/** The options of {@link Segments} from servers, or from a directory. */
export interface ServerSegmentsOptions extends CommonSegmentsOptions {
  /** The protocol of the servers: Leaf's segment mode or snowflake mode, leafid's own, or tinyid's. Default `'leaf'`. */
  readonly protocol?: 'leaf' | 'leaf-snowflake' | 'range' | 'tinyid' | null
  /** The longest duration of a request, over all servers, milliseconds, 1 to 3600000. Default 1000. */
  readonly requestTimeoutMs?: number | null
  /** The longest duration of a connection to a server, milliseconds, 1 to 3600000. Default 300. */
  readonly connectTimeoutMs?: number | null
  /** Kept-alive connections to each server, 1 to 64; with a Leaf also its concurrent requests. Default 4. */
  readonly connections?: number | null
  /**
   * With `'leaf'`, how many ids each number stands for, 2 to 1000000; the tag must be called `…-xN`. Default none. With
   * others, 1 is your word that tags called so are no blocks of ids for anybody.
   */
  readonly blockSize?: number | null
  /** Sent to servers as `Authorization: Bearer …`; to tinyid as its own `token`. Default as of a snowflake. */
  readonly token?: string | null
  /** More headers for servers. */
  readonly headers?: Readonly<Record<string, string>> | null
  /** A PEM file of certificate authorities for servers, in addition to the system's. Default: `LEAFID_CA_FILE`. */
  readonly caFile?: string | null
  /** Counters of a `file:` source. */
  readonly tags?: Readonly<Record<string, FileTag>> | null
  /** Whether to create the directory of a `file:` source if it is missing. Default `false`. */
  readonly create?: boolean | null
}

/** The part of an `AbortSignal` that is used. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** How long a call waits, and a signal that ends it earlier. */
export interface WaitOptions {
  /** The longest wait for its next id, milliseconds, 1 to 3600000. Default: that of the segments. */
  readonly timeoutMs?: number | null
  /** Ends the call with its reason; ids that the call had by then are issued later. */
  readonly signal?: AbortSignalLike | null
}

/** Ids that are not issued yet. */
export interface SegmentLeft {
  /** The first of them. */
  start: bigint
  /** The end, exclusive. */
  end: bigint
  /** From one id to the next. */
  stride: bigint
}

/** The state of a tag on this thread. */
export interface TagStats {
  /** The tag. */
  tag: string
  /** The ids left of the current segment. */
  current: SegmentLeft | null
  /** The segment after it. */
  next: SegmentLeft | null
  /** Ids in memory. */
  left: number
  /** Ids that calls have taken, with those that this thread reserved for its next calls. */
  ids: number
  /** The step of the last fetch, or of the first fetch to come; 0 leaves it to the source. */
  step: number
  /** Whether a fetch is under way. */
  fetching: boolean
  /** Fetches that have ended. */
  fetches: number
  /** Those of them that failed. */
  failures: number
  /** Calls that found no id in memory. */
  waits: number
  /** Calls that wait now. */
  waiting: number
  /** The last fetch's error, `null` after a success. */
  lastError: string | null
}

/** The state of a server. */
export interface ServerStats {
  /** Its URL. */
  url: string
  /** Its last error, `null` after a success. */
  lastError: string | null
}

/** The state of segments. */
export interface SegmentsStats {
  /** The id space. */
  name: string
  /** The kind of source. */
  source: string
  /** The servers, in the order of preference; empty for another source. */
  servers: ServerStats[]
  /** The directory of the marks, with the id space's sub-directory; empty if nothing is stored. */
  stateDir: string
  /** Every tag that was used, by name. */
  tags: TagStats[]
}

/**
 * The ids of one tag, made by {@link Segments.tag}. All methods take from one sequence of ids, and a call that waits comes
 * before a later one. All methods are bound.
 *
 * Errors: `ERR_LEAFID_UNKNOWN_TAG` and `_CLOSED` at once; `_SEGMENT_UNAVAILABLE`, `_SEGMENT_REGRESSED`, `_SOURCE_INVALID`,
 * `_STATE_IO`, `_STATE_CORRUPT` when the time of the call is over. A call that waits keeps the process alive until then.
 */
export interface Tag {
  /** The next id: 0 to 2^63 - 2. */
  next(this: void, options?: WaitOptions | null): Promise<bigint>

  /**
   * The next id, if it is in memory or arrives within 2 ms. If not, `ERR_LEAFID_WOULD_BLOCK`, and the fetch of the next
   * segment has started. Your own `fetch` function needs the event loop: the call does not wait for it at all.
   */
  nextSync(this: void): bigint

  /** The next id if one is in memory; if not, `undefined`, and the fetch of the next segment has started. */
  tryNext(this: void): bigint | undefined

  /** The next id as decimal digits, for JSON and logs. */
  nextString(this: void, options?: WaitOptions | null): Promise<string>

  /** The next id as a number; one above 2^53 - 1 is refused (`_INVALID_ARGUMENT`), and issued later. */
  nextNumber(this: void, options?: WaitOptions | null): Promise<number>

  /**
   * The next `n` ids, 0 to 16777216, from as many segments as needed. The source is asked for that many at once, if it can
   * give them. A call that makes progress continues. After an error the ids that it had are issued later.
   */
  take(this: void, n: number, options?: WaitOptions | null): Promise<BigInt64Array>

  /** The next `n` ids as decimal digits, as `take` has them. */
  takeStrings(this: void, n: number, options?: WaitOptions | null): Promise<string[]>

  /** The next `n` ids, as far as {@link Tag.nextSync} would wait for them: all or none. */
  takeSync(this: void, n: number): BigInt64Array

  /**
   * Fills the array, of up to 16777216 elements, as `takeSync` does, and returns it. A view of a `SharedArrayBuffer` is
   * filled through a copy.
   */
  fill<T extends BigInt64Array | BigUint64Array>(this: void, array: T): T

  /** Ids without an end: `for await (const id of tag)`. An error of `next` ends the loop. */
  [Symbol.asyncIterator](): AsyncIterableIterator<bigint>

  /** The state of the tag. Throws `ERR_LEAFID_CLOSED`. */
  stats(this: void): TagStats

  /** The tag. */
  readonly name: string
}

/**
 * Ids from segments: ranges of counters, one counter for each tag, leased from a source, held in a double buffer, issued
 * from memory. Calls do not wait while the source is slow, or down for a while.
 *
 * Only a call that waits keeps the process alive. Each thread that uses a tag holds up to 256 of its ids. A worker that is
 * terminated, and a process that is killed, lose them together with their segments. Each thread opens its own segments: a
 * `fetch` function belongs to the thread that made it.
 *
 * ```js
 * const ids = new Segments({ fetch: async (tag, step) => ({ start, end }) })
 * const order = ids.tag('order')
 * const id = await order.next() // 1n
 * ```
 */
export declare class Segments {
  /**
   * Opens segments from URLs of servers; the first is preferred, and leafid backs off from one that fails. Or from
   * `'file:DIR'` alone, a directory that the processes of one host share. No server is asked yet. Short reads and writes of
   * files in the directories happen on this thread: see {@link Segments.open}.
   *
   * Throws `ERR_LEAFID_INVALID_ARGUMENT`, `_STATE_IO`, `_STATE_CORRUPT`; for a `file:` source `_UNKNOWN_TAG` if the directory
   * was not created.
   */
  constructor(servers: string | readonly string[], options?: ServerSegmentsOptions | null)
  /** Opens segments from your own function. */
  constructor(options: FetchSegmentsOptions)

  /** The constructor as a promise; it uses the directories off this thread. */
  static open<T extends typeof Segments>(
    this: T,
    servers: string | readonly string[],
    options?: ServerSegmentsOptions | null,
  ): Promise<InstanceType<T>>
  static open<T extends typeof Segments>(this: T, options: FetchSegmentsOptions): Promise<InstanceType<T>>
  static open(this: void, servers: string | readonly string[], options?: ServerSegmentsOptions | null): Promise<Segments>
  static open(this: void, options: FetchSegmentsOptions): Promise<Segments>

  /**
   * The tag of this name, 1 to 128 bytes of UTF-8 without control characters: the same object each time. Nothing is fetched
   * yet. Throws `ERR_LEAFID_INVALID_ARGUMENT`, `_CLOSED`.
   */
  tag(this: void, name: string): Tag

  /** The state of every tag that was used. Throws `ERR_LEAFID_CLOSED`. */
  stats(this: void): SegmentsStats

  /** Closes all tags: calls that wait end with `ERR_LEAFID_CLOSED`. You may close twice. Throws `_STATE_IO`. */
  close(this: void): void

  /** Closes at the end of a `using` block. Exists where the runtime has `Symbol.dispose`. */
  [Symbol.dispose](): void

  /** Closes at the end of an `await using` block. Exists where the runtime has `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>

  /** The id space. */
  get name(): string
}

/** The parts of an id. */
export interface Parts {
  /** Unix milliseconds, floored to the layout's tick. */
  timestampMs: number
  /** The same as a `Date`. */
  time: Date
  /** The worker id. */
  workerId: number
  /** The sequence number within the tick. */
  sequence: number
}

/**
 * Takes an id apart.
 *
 * @param id a bigint, its decimal digits, or an integer number up to 2^53-1: a larger one has lost digits and is refused
 * @param layout the layout it was made with; default `'leaf'`
 * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
 */
export declare function decode(id: bigint | string | number, layout?: Layout | null): Parts

/**
 * Makes the id of these parts; the time is floored to the tick.
 *
 * @param timestampMs Unix milliseconds
 * @param workerId 0 to the layout's largest
 * @param sequence 0 to the layout's largest
 * @param layout default `'leaf'`
 * @throws {LeafidError} `ERR_LEAFID_BEFORE_EPOCH`, `_TIME_EXHAUSTED`, `_INVALID_ARGUMENT`
 */
export declare function compose(timestampMs: number, workerId: number, sequence: number, layout?: Layout | null): bigint

/**
 * The smallest id of the tick that contains a time. The ids of a period, with all of its first and last tick:
 * `WHERE id BETWEEN ${firstIdAt(from)} AND ${lastIdAt(until)}`.
 *
 * @param timestamp Unix milliseconds, or a Date
 * @param layout default `'leaf'`
 * @throws {LeafidError} `ERR_LEAFID_BEFORE_EPOCH`, `_TIME_EXHAUSTED`, `_INVALID_ARGUMENT`
 */
export declare function firstIdAt(timestamp: number | Date, layout?: Layout | null): bigint

/** The largest id of the tick that contains a time. Otherwise as `firstIdAt`. */
export declare function lastIdAt(timestamp: number | Date, layout?: Layout | null): bigint

/** How an id is written as text: see `formatId`. */
export type TextForm = 'decimal' | 'base32' | 'base62' | 'uuid'

/**
 * The text of an id. `'base32'` is Crockford's, in upper case, with 13 characters; `'base62'` has 11 characters of 0-9, A-Z
 * and a-z; `'uuid'` is a UUID of version 8 (RFC 9562) in lower case, whose first 64 bits without its version and variant are the
 * id. The order of these texts, as bytes, is the order of the ids.
 *
 * @param id a bigint, its decimal digits, or an integer number up to 2^53-1
 * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
 */
export declare function formatId(id: bigint | string | number, form: TextForm): string

/**
 * The id of a text: the reverse of `formatId`. Every other text is refused: another width, case or character, and leading
 * zeros of decimal text.
 *
 * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
 */
export declare function parseId(text: string, form: TextForm): bigint

/**
 * Encrypts ids to numbers of the same 63 bits and back, one to one: FF1 of NIST SP 800-38G. docs/PUBLIC-IDS.md says what it
 * hides and what it does not. Without the addon: `leafid/wasm/public-ids`.
 */
export declare class PublicIds {
  /**
   * @param key 16, 24 or 32 bytes; or where to read hexadecimal digits of them, as `'env:NAME'`, an environment variable, or
   * `'file:PATH'`. No error shows a key.
   * @param version of the key, 0 to 31. A text begins with it.
   * @param others keys by their versions. They decrypt only.
   * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
   */
  constructor(key: Uint8Array | string, version: number, others?: { readonly [version: number]: Uint8Array | string } | null)

  /** The version of the key that encrypts. */
  get version(): number

  /**
   * The number that stands for an id, 0n to 2n ** 63n - 1n.
   *
   * @param id a bigint, its decimal digits, or an integer number up to 2^53-1; from 1
   * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
   */
  encrypt(id: bigint | string | number): bigint

  /**
   * The id of a number that `encrypt` made with the key of this version. A number of another key gives another id.
   *
   * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
   */
  decrypt(publicId: bigint | string | number, version: number): bigint

  /**
   * The text that stands for an id: a digit for the version, and the number of `encrypt`, together 14 characters of base32 or
   * 12 of base62.
   *
   * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
   */
  formatId(id: bigint | string | number, form: 'base32' | 'base62'): string

  /**
   * The id of a text of `formatId`, with the key of its version.
   *
   * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
   */
  parseId(text: string, form: 'base32' | 'base62'): bigint
}

/**
 * The statistics of everything open in this process and its `worker_threads`, in the OpenMetrics text format of Prometheus.
 * Serve it as `application/openmetrics-text; version=1.0.0; charset=utf-8`. Reads memory only.
 */
export declare function metrics(): string

/** The level of a log record. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

/** A log record of leafid. */
export interface LogRecord {
  level: LogLevel
  message: string
}

/**
 * Calls `callback` with each log record of `level` (`'info'` by default) or a more severe one, on this thread, soon after
 * it was made. `null` turns logging off, which is the default.
 *
 * Each thread has its own callback, and each gets the records of the whole process: with `worker_threads`, set it in the
 * main thread only. The callback of a worker ends with the worker. It does not keep the process alive: records made just
 * before the end may be lost. An exception of the callback is an uncaught exception. Up to 256 records wait for a busy
 * thread; further ones are dropped, and the next record says how many.
 *
 * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
 */
export declare function setLogger(callback: ((record: LogRecord) => void) | null, level?: LogLevel): void
