/// <reference lib="es2020.bigint" />
/// <reference lib="esnext.disposable" />

/** The version of the package and of its addon. */
export declare const version: string

/** What `LeafidError.code` can be. The names never change. */
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

/** The error of everything in this package. The message says what happened, with the numbers, and what to do. */
export declare class LeafidError extends Error {
  constructor(code: LeafidErrorCode, message: string)
  readonly name: 'LeafidError'
  /** Which error it is. */
  readonly code: LeafidErrorCode
  /** Whether the same call can succeed later with nothing changed by hand. */
  readonly retry: boolean
}

/** Worker ids of which any free one is claimed. */
export interface WorkerRange {
  /** The least id. */
  readonly first: number
  /** The largest id; it belongs to the range. */
  readonly last: number
}

/** What {@link WorkerLeases.claim} is asked with. Times are Unix milliseconds. */
export interface ClaimRequest {
  /** The id space. */
  readonly name: string
  /** 128 random bits in hex: of this claim alone. */
  readonly instance: string
  /** The worker id that the generator held before; `null` at the first claim. */
  readonly previous: number | null
  /** The clock. */
  readonly nowMs: number
  /** Where the span is wished to end. More or less may be given. */
  readonly untilMs: number
}

/** A worker id and a span of time that is given to nobody else. Times are Unix milliseconds, integers. */
export interface Lease {
  /** The worker id. */
  readonly workerId: number
  /** Where the span begins: at or above the `untilMs` of every holder before. */
  readonly fromMs: number
  /** Where it ends, exclusive, at most a week ahead. It is stored before it is answered. */
  readonly untilMs: number
  /** How long the id is kept for this holder without a renewal, 1 to 604800000 ms. Without it: until `untilMs`. */
  readonly leaseMs?: number | null
  /** What the holder is known by: handed back at renewal and release. */
  readonly token?: string | null
  /** What the clocks of other holders read: a clock 10 s or more from the median of three or more is refused. */
  readonly peerTimesMs?: readonly number[] | null
}

/** What {@link WorkerLeases.renew} changed. An absent field other than `untilMs` keeps its value. */
export type Renewal = Pick<Lease, 'untilMs'> & Partial<Lease>

/**
 * Leases of worker ids from what all hosts share: a database, Redis, etcd, ZooKeeper.
 *
 * What makes ids unique is one rule: a span that was answered overlaps no other span of the same worker id. So `untilMs`
 * is stored before it is answered, never lowered but by a release, and the next holder's `fromMs` is at or above it.
 *
 * The methods run on the thread that made the snowflake: `claim` in the constructor or in {@link Snowflake.open}, `release`
 * in `close`, everything else from the event loop, never inside `next`. Each may answer a promise, `claim` only for
 * {@link Snowflake.open} or with `lazy`. One that has not answered after `timeoutMs` is given up, and only then is there
 * a second one for the same generator; what a claim that was given up brings is released. An event loop that is busy for
 * longer than the lease lasts cannot renew it: calls are `ERR_LEAFID_WOULD_BLOCK` until it is free again.
 *
 * What they throw or are rejected with is `ERR_LEAFID_WORKER_LOST` with that text, and as `cause` where the constructor or
 * `open` throws it; a {@link LeafidError} keeps its code. Answers of another kind are `ERR_LEAFID_INVALID_ARGUMENT`.
 */
export interface WorkerLeases {
  /**
   * Lends a free worker id; `null` when there is none (`ERR_LEAFID_WORKER_IN_USE`). What it stores must stay stored: no
   * constructor in the middle of a transaction that can be rolled back and that `claim` takes part in.
   */
  claim(request: ClaimRequest): Lease | null | undefined | PromiseLike<Lease | null | undefined>
  /**
   * Extends the span to about `untilMs`: answers where it ends now, or what changed; `null`, or a `LeafidError` with the
   * code `ERR_LEAFID_WORKER_LOST`, when the id is no longer this holder's: another is claimed then by itself. Any other
   * error means that it is not known: what is held is used to its end, and the call made again.
   */
  renew(lease: Lease, untilMs: number): Renewal | number | null | PromiseLike<Renewal | number | null>
  /**
   * Takes the id back: no id at or after `untilMs` was made, nor will be. An error is a warning of the process, for the
   * lease ends by itself. After `process.exit()` and at a natural end, only what it does at once is done.
   */
  release(lease: Lease, untilMs: number): unknown
}

/**
 * Answers a worker id that no other process on any host holds; `null` when none is free (`ERR_LEAFID_WORKER_IN_USE`).
 * `previous` is `null`. Asked once for a process; the state directory does the rest. Promises and errors as with
 * {@link WorkerLeases}.
 */
export type WorkerClaim = (
  name: string,
  previous: number | null,
) => number | null | undefined | PromiseLike<number | null | undefined>

/** Where worker id and sequence stand below the timestamp: Leaf's, or Sonyflake's. */
export type LayoutOrder = 'worker-sequence' | 'sequence-worker'

/** What the bits of an id mean: at most 63 together. An absent field is Leaf's. */
export interface LayoutFields {
  /** Bits of the tick counter, 1 to 62. Default 41. */
  readonly timestampBits?: number | null
  /** Bits of the worker id, 0 to 31. Default 10. */
  readonly workerBits?: number | null
  /** Bits of the sequence, 0 to 31. Default 12. */
  readonly sequenceBits?: number | null
  /** Unix milliseconds of tick 0. Default 1288834974657. */
  readonly epochMs?: number | null
  /** Milliseconds a tick, 1 to 3600000. Default 1. */
  readonly tickMs?: number | null
  /** Default `worker-sequence`. */
  readonly order?: LayoutOrder | null
}

/** The layouts known by name. */
export type LayoutPreset = 'leaf' | 'uid-generator' | 'yitter' | 'sonyflake' | 'js-safe'

/** A preset's name, the bits of timestamp, worker id and sequence as in `'35|5|23'`, or the fields. */
export type Layout = LayoutPreset | `${number}|${number}|${number}` | LayoutFields

/** The options of a {@link Snowflake}. `undefined` and `null` stand for the default; any other name is refused. */
export interface SnowflakeOptions {
  /**
   * The worker id (`7`); ids of which any free one is claimed (`{ first: 0, last: 31 }` or `'0-31'`, both ends included);
   * `'hostname:orders'` for N on a host called orders-N, `'hostname:orders*8'` for any of 8N to 8N+7; the URL of a lease
   * server, `'https://ids-1:8443'`, or an array of several, of which the first is preferred and one that fails rests; a
   * function or an object that gives worker ids. Default: the environment's `LEAFID_WORKER`; without either the constructor
   * refuses.
   *
   * Lease servers are asked by leafid's own threads. The constructor waits for the claim, up to `requestTimeoutMs`:
   * {@link Snowflake.open} does so off the JavaScript thread.
   */
  readonly worker?: number | string | readonly string[] | WorkerRange | WorkerClaim | WorkerLeases | null
  /** The id space: worker ids are unique within it. 1 to 64 of `A-Z a-z 0-9 . _ -`. Default `'default'`. */
  readonly name?: string | null
  /**
   * Where the records of the worker ids are kept; made if missing. Default: `LEAFID_STATE_DIR`, systemd's
   * `STATE_DIRECTORY`, `/var/lib/leafid` where writable, else the user's own state directory.
   */
  readonly stateDir?: string | null
  /** The layout of the ids. Default `'leaf'`. */
  readonly layout?: Layout | null
  /** The layout's epoch, Unix milliseconds, not ahead of the clock. Default the layout's own. */
  readonly epochMs?: number | null
  /**
   * When the clock is behind the last id: `'continue'` goes on upon a logical clock that never goes back, `'wait'`
   * waits for the clock (Leaf's rule). Default `'continue'`.
   */
  readonly onClockBackwards?: 'continue' | 'wait' | null
  /** How far the clock may be behind, milliseconds. Default 5000 under `'continue'`, 5 under `'wait'`. */
  readonly maxBackwardsMs?: number | null
  /**
   * When a tick's sequence is used up: `'wait'` for the clock's next tick, or `'borrow'` the next tick ahead of the
   * clock, within `maxBackwardsMs`. Default `'wait'`.
   */
  readonly onExhausted?: 'wait' | 'borrow' | null
  /**
   * A new tick starts its sequence at a pseudo-random number below this, at most an eighth of the sequence space;
   * 0 is off. 0 to 1000000. Default 100.
   */
  readonly randomStart?: number | null
  /**
   * How long a call may take to get its next id, milliseconds, 1 to 3600000. Default 2000. The JavaScript thread
   * itself never waits more than 2 ms for the clock: beyond that the call is `ERR_LEAFID_WOULD_BLOCK`.
   */
  readonly timeoutMs?: number | null
  /**
   * Whether a record is kept that the next start goes on from. Default `true`. `false` gives up restart safety: a start
   * after the clock went back repeats ids; it is refused with a range, and without a lease ids never run ahead of the
   * clock. `stateDir` is not used then.
   */
  readonly persist?: boolean | null
  /**
   * Whether `stateDir` may lie on a network file system: its locks must work between all hosts that use it. Default
   * `false`.
   */
  readonly sharedFs?: boolean | null
  /**
   * Whether `stateDir` is shared by the members of one group: files are born for them to write, 0660 whatever the
   * umask, and directories 2770. Files with secrets stay the owner's alone. Default `LEAFID_SHARED_GROUP`, else `false`:
   * 0640 and 0750 less the umask.
   */
  readonly sharedGroup?: boolean | null
  /**
   * Your word that no other container or host was given this range of worker ids, or that all that were share `stateDir`.
   * Without it a range is refused in a container, or in a network of its own, where others of the machine do not see
   * which ids are held. Default `LEAFID_EXCLUSIVE_RANGE`, else `false`.
   */
  readonly exclusiveRange?: boolean | null
  /**
   * How long a start that finds no record of its worker id issues nothing, milliseconds by the clock: as far as the clock
   * of another host, which may have used the worker id before, may be ahead of this one's. Calls meanwhile are
   * `ERR_LEAFID_CLOCK_BACKWARDS` where the rest is longer than `timeoutMs`, else `ERR_LEAFID_WOULD_BLOCK`. Refused with
   * leases, which need no wait. Default `LEAFID_NO_RECORD_WAIT_MS`, else 0: off.
   */
  readonly noRecordWaitMs?: number | null
  /**
   * Whether the worker id is claimed at the first id instead of by the constructor. Default `false`. Errors of the claim
   * are then those of that call. Where the user's code or a lease server is asked, that call is `ERR_LEAFID_WOULD_BLOCK`,
   * and so are others until the code, called from the event loop, or the server has answered.
   */
  readonly lazy?: boolean | null
  /**
   * Which clock ids are made of: `'system'`, or `'coarse'`, the system's as of its last timer interrupt: cheaper to read,
   * and up to that interval late ({@link SnowflakeStats.clockLagMs}). Default `'system'`.
   */
  readonly clockSource?: 'system' | 'coarse' | null
  /** An existing largest id of this layout, such as that of the generator before: every id will be of a later tick. */
  readonly startAfter?: bigint | string | number | null
  /**
   * Answers what the clocks of peers read, Unix milliseconds: asked before each claim, also after a loss. A clock 10 s or
   * more from the median of three or more is refused (`ERR_LEAFID_CLOCK_BACKWARDS`); that it fails, or does not answer
   * within `timeoutMs`, does not keep from starting. A promise needs {@link Snowflake.open} or `lazy`.
   */
  readonly peerTimes?: (() => readonly number[] | PromiseLike<readonly number[]>) | null
  /** Sent to lease servers as `Authorization: Bearer …`. This and the next four options are refused without their URLs. */
  readonly token?: string | null
  /** Sent to lease servers with each request, besides. */
  readonly headers?: Readonly<Record<string, string>> | null
  /** A PEM file of certificate authorities that lease servers may be signed by, besides the system's own. */
  readonly caFile?: string | null
  /**
   * How long a claim, renewal or release may last, however many lease servers it asks, milliseconds, 1 to 3600000. Default
   * 1000.
   */
  readonly requestTimeoutMs?: number | null
  /** How long a lease server may take to accept a connection, milliseconds, 1 to 3600000. Default 300. */
  readonly connectTimeoutMs?: number | null
}

/** What a generator says of itself. Times are Unix milliseconds. */
export interface SnowflakeStats {
  /** The id space. */
  name: string
  /** The worker id held. */
  workerId: number
  /** The directory of the records, with the id space's sub-directory; empty where none are kept. */
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
 * The same options opened again in one process, in any `worker_threads` worker, share one generator. Nothing keeps the
 * process alive; a handle still open when a worker or the process ends is closed then.
 *
 * All methods are bound: `const { next } = new Snowflake({ worker: 7 })` works. Errors are {@link LeafidError}.
 *
 * ```js
 * const flake = new Snowflake({ worker: { first: 0, last: 31 } })
 * const id = flake.next() // 1169786042799259000n
 * ```
 */
export declare class Snowflake {
  /**
   * Claims a worker id and makes its first reservation durable: a short write of a file, the one time that this
   * package touches a disk on the JavaScript thread besides a late reservation. A lease server is waited for, and so is a
   * worker id of a range whose ids are all held, for `timeoutMs` at most: {@link Snowflake.open} waits beside that thread.
   *
   * Throws `ERR_LEAFID_INVALID_ARGUMENT`, `_WORKER_IN_USE` (naming the holder), `_WORKER_LOST` (a source of worker ids, or
   * a lease server, failed), `_CLOCK_BACKWARDS`, `_BEFORE_EPOCH`, `_TIME_EXHAUSTED`, `_STATE_IO`, `_STATE_CORRUPT`, `_STATE_MISMATCH`,
   * `_WOULD_BLOCK` (also for a source of worker ids that answers a promise: see {@link Snowflake.open}).
   */
  constructor(options?: SnowflakeOptions | null)

  /**
   * The constructor as a promise, with a lease server and the disk asked off this thread: what it throws is the rejection.
   * Promises of the user's code are waited for, each for `timeoutMs`. Where the constructor is `ERR_LEAFID_WOULD_BLOCK`, since under `onClockBackwards: 'wait'` the record of
   * a killed process is ahead of the clock, this waits for the clock: 4 s at most, or `timeoutMs` if that is longer.
   */
  static open<T extends typeof Snowflake>(this: T, options?: SnowflakeOptions | null): Promise<InstanceType<T>>
  static open(this: void, options?: SnowflakeOptions | null): Promise<Snowflake>

  /**
   * The next id: 0 to 2^63-1, above every earlier one of this generator.
   *
   * When the tick's ids are used up it waits for the clock, at most 2 ms. Throws `ERR_LEAFID_WOULD_BLOCK`,
   * `_CLOCK_BACKWARDS`, `_TIME_EXHAUSTED`, `_STATE_IO`, `_WORKER_LOST`, `_CLOSED`. `JSON.stringify` refuses a bigint:
   * see {@link Snowflake.nextString}.
   */
  next(this: void): bigint

  /** The next id as decimal digits: what JSON and logs carry. Errors as `next`. */
  nextString(this: void): string

  /** The next id as a number. Refused (`_INVALID_ARGUMENT`) unless the layout has at most 53 bits. Errors as `next`. */
  nextNumber(this: void): number

  /**
   * The next `n` ids, 0 to 16777216, ascending: all or none. Errors as `next`; `_WOULD_BLOCK` when they need a wait of
   * more than 2 ms for one tick.
   */
  take(this: void, n: number): BigInt64Array

  /**
   * Fills the array, of up to 16777216 elements, with the next ids, ascending, and answers it: all or nothing. A view of
   * a `SharedArrayBuffer` is filled through a copy. Errors as `take`.
   */
  fill<T extends BigInt64Array | BigUint64Array>(this: void, array: T): T

  /** The state of the generator now. Throws `ERR_LEAFID_CLOSED`. */
  stats(this: void): SnowflakeStats

  /**
   * Closes this handle; the generator's last one writes where its ids end, frees the worker id, and has a lease released.
   * Afterwards every call is `ERR_LEAFID_CLOSED`; closing twice is fine. Leased ones are closed when the process emits
   * `exit`. A lease server is told by another thread, without a wait; the end of the process waits for that, 3 s at most.
   */
  close(this: void): void

  /** Closes at the end of a `using` block. Exists where the runtime has `Symbol.dispose`. */
  [Symbol.dispose](): void

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

/** Ids that a source gives to nobody else: `start`, `start + stride`, … below `end`. Bigints, or safe integers. */
export interface SegmentRange {
  /** The first id, 0 to 2^63 - 2. */
  readonly start: bigint | number
  /** The end, exclusive, up to 2^63 - 1. */
  readonly end: bigint | number
  /** From one id to the next. Default 1. */
  readonly stride?: bigint | number | null
}

/**
 * Gives segments, from your own database for example: answers a range of about `step` ids of `tag` that was never given
 * before, or `null` for a tag that it does not know (`ERR_LEAFID_UNKNOWN_TAG`). The range is taken from its counter in one
 * transaction, which has ended before the answer. `after`: every id below was given before; a counter that says less has
 * lost something.
 *
 * It is called on the thread that made the segments, from the event loop, never inside a call for ids: one call at a time
 * for a tag, at most 16 under way for all tags, those not counted that take longer than a second. It may answer a promise.
 * While it fails it is asked less and less often. What it throws or is rejected with is `ERR_LEAFID_SEGMENT_UNAVAILABLE`
 * with its text last and as `cause`, once the time of a call is over; a {@link LeafidError} keeps its code. An answer of
 * another kind is `ERR_LEAFID_SOURCE_INVALID`, and one that was given before `ERR_LEAFID_SEGMENT_REGRESSED`.
 */
export type SegmentFetch = (
  tag: string,
  step: number,
  after: bigint,
) => SegmentRange | null | undefined | PromiseLike<SegmentRange | null | undefined>

/** What all segments can be opened with. `undefined` and `null` stand for the default; any other name is refused. */
export interface CommonSegmentsOptions {
  /**
   * How many ids to ask for at a time, 1 to 1000000. Default: the source's own; 1000 of a function. Of a Leaf, which gives
   * one id a request, as many are kept in stock, 1000 by default; tinyid decides itself, and takes none.
   */
  readonly step?: number | null
  /**
   * Whether the step follows the use, as Leaf's does: doubled, up to 1000000, when a segment lasted less than 15 minutes,
   * halved when it lasted more than 30, never below the first. Default `true`. The stock of a Leaf begins at 16 ids, and
   * grows to `step` with the use; `false` fills it at once.
   */
  readonly adaptive?: boolean | null
  /** Of how much of a segment, in percent, more must be used before the next one is fetched, 0 to 100. Default 10. */
  readonly prefetch?: number | null
  /** How long a call waits at most for its next id, milliseconds, 1 to 3600000. Default 2000. */
  readonly timeoutMs?: number | null
  /**
   * The id space: what a source gives a tag of it twice is refused. Segments of two databases, or two clusters, are two id
   * spaces. 1 to 64 of `A-Z a-z 0-9 . _ -`. Default `'default'`.
   */
  readonly name?: string | null
  /** Where it is kept how far each tag was given; made if missing. Default as for {@link SnowflakeOptions.stateDir}. */
  readonly stateDir?: string | null
  /** Whether it is kept. Default `true`. `false` has a source that repeats itself noticed by this process alone. */
  readonly persist?: boolean | null
  /** Whether directories may lie on a network file system: its locks must work between all hosts. Default `false`. */
  readonly sharedFs?: boolean | null
  /**
   * Whether directories are shared by the members of one group: files are born for them to write, 0660 whatever the
   * umask, and directories 2770. Files with secrets stay the owner's alone. Default `LEAFID_SHARED_GROUP`, else `false`:
   * 0640 and 0750 less the umask.
   */
  readonly sharedGroup?: boolean | null
  /**
   * Tags to be fetched at once, before their first use, in the background: at most 1000, or `'last-day'` for those that
   * were fetched within the last day. Default none.
   */
  readonly prewarm?: readonly string[] | 'last-day' | null
  /**
   * Whether a clean close keeps what is left for the next opening on this machine, for a day at most. Default `false`: it
   * is given up.
   */
  readonly keepUnused?: boolean | null
  /**
   * Whether the source gives every segment of a tag above all that it gave before, so that one below is refused. Default
   * `true`; `false` of a Leaf, whose nodes interleave, and of tinyid. Segments that cross one of those remembered, the last
   * ones, are refused either way.
   */
  readonly orderedSource?: boolean | null
}

/** The options of {@link Segments} from a function of yours. */
export interface FetchSegmentsOptions extends CommonSegmentsOptions {
  /** Gives the segments. */
  readonly fetch: SegmentFetch
}

/**
 * A tag of a `file:` source, made with its first fetch if it is not there; one that is there goes on, with the step that is
 * said here from that fetch on.
 */
export interface FileTag {
  /** The first id. Default 1. */
  readonly start?: bigint | number | null
  /** How many ids a fetch gets, 1 to 16777216. Default 1000. */
  readonly step?: number | null
}

/** The options of {@link Segments} from servers, or from a directory. */
export interface ServerSegmentsOptions extends CommonSegmentsOptions {
  /**
   * What the servers speak: an unmodified Leaf's segment mode (`'leaf'`) or snowflake mode, one id a request; leafid's own;
   * or tinyid's. Default `'leaf'`.
   */
  readonly protocol?: 'leaf' | 'leaf-snowflake' | 'range' | 'tinyid' | null
  /** How long a request to a server may last, milliseconds. Default 1000. */
  readonly requestTimeoutMs?: number | null
  /** How long a server may take to accept a connection, milliseconds. Default 300. */
  readonly connectTimeoutMs?: number | null
  /**
   * How many connections to each server are kept alive, 1 to 64; of a Leaf also how many requests are under way at a
   * time, for all tags together. Default 4.
   */
  readonly connections?: number | null
  /**
   * Ids that one number of a Leaf stands for, 2 to 1000000: number n for n * N to (n + 1) * N - 1. Each tag must be called
   * `…-xN` then, in Leaf's table too, and is not used otherwise, so that all who read it agree. Default: a number is an id.
   */
  readonly blockSize?: number | null
  /** Sent to servers as `Authorization: Bearer …`; to tinyid as its own `token`. */
  readonly token?: string | null
  /** Sent to servers with each request, besides. */
  readonly headers?: Readonly<Record<string, string>> | null
  /** A PEM file of certificate authorities that servers may be signed by, besides the system's own. */
  readonly caFile?: string | null
  /** Tags of a `file:` source. */
  readonly tags?: Readonly<Record<string, FileTag>> | null
  /**
   * Whether the directory of a `file:` source is made if it is missing. Default `false`: a counter that is lost must not
   * begin anew by itself.
   */
  readonly create?: boolean | null
}

/** What is used of an `AbortSignal`. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** How long a call waits, and what ends it before. */
export interface WaitOptions {
  /** How long it waits at most for its next id, milliseconds, 1 to 3600000. Default: that of the segments. */
  readonly timeoutMs?: number | null
  /** Ends the call with its reason; what the call had by then is issued later. */
  readonly signal?: AbortSignalLike | null
}

/** Ids that were not issued yet. */
export interface SegmentLeft {
  /** The first of them. */
  start: bigint
  /** The end, exclusive. */
  end: bigint
  /** From one id to the next. */
  stride: bigint
}

/** How a tag stands on this thread. */
export interface TagStats {
  /** The tag. */
  tag: string
  /** What is left of the segment that is issued. */
  current: SegmentLeft | null
  /** The segment after it. */
  next: SegmentLeft | null
  /** Ids at hand. */
  left: number
  /** The step of the last fetch; 0 before the first. */
  step: number
  /** Whether a fetch is under way. */
  fetching: boolean
  /** Fetches that have ended. */
  fetches: number
  /** Those of them that failed. */
  failures: number
  /** Calls that found nothing at hand. */
  waits: number
  /** Calls that wait now. */
  waiting: number
  /** The last fetch's error, `null` after a success. */
  lastError: string | null
}

/** A server as it stands. */
export interface ServerStats {
  /** Its URL. */
  url: string
  /** What it failed with last, `null` after a success. */
  lastError: string | null
}

/** What segments say of themselves. */
export interface SegmentsStats {
  /** The id space. */
  name: string
  /** Where segments come from. */
  source: string
  /** The servers, as they are preferred; none of another source. */
  servers: ServerStats[]
  /** The directory of what is kept, with the id space's sub-directory; empty where nothing is. */
  stateDir: string
  /** Every tag that was used, by name. */
  tags: TagStats[]
}

/**
 * The ids of one tag, made by {@link Segments.tag}. In order: all methods draw from one run of ids, and a call that waits
 * comes before one that is made later. All methods are bound.
 *
 * Errors: `ERR_LEAFID_UNKNOWN_TAG` and `_CLOSED` at once; `_SEGMENT_UNAVAILABLE`, `_SEGMENT_REGRESSED`, `_SOURCE_INVALID`,
 * `_STATE_IO`, `_STATE_CORRUPT` once the time of the call is over. A call that waits keeps the process alive until then.
 */
export interface Tag {
  /** The next id: 0 to 2^63 - 2. */
  next(this: void, options?: WaitOptions | null): Promise<bigint>

  /**
   * The next id, if it is at hand or comes within 2 ms; `ERR_LEAFID_WOULD_BLOCK` if not, with the next segment's fetch
   * begun. What a function of yours fetches needs the event loop: it is not waited for at all.
   */
  nextSync(this: void): bigint

  /** The next id if one is at hand; if not, `undefined`, and the next segment's fetch is begun. */
  tryNext(this: void): bigint | undefined

  /** The next id as decimal digits: what JSON and logs carry. */
  nextString(this: void, options?: WaitOptions | null): Promise<string>

  /** The next id as a number; one above 2^53 - 1 is refused (`_INVALID_ARGUMENT`), and issued later. */
  nextNumber(this: void, options?: WaitOptions | null): Promise<number>

  /**
   * The next `n` ids, 0 to 16777216, over as many segments as it takes; the source is asked for that many at once where it
   * can give them. One that makes progress goes on. On an error what it had is issued later.
   */
  take(this: void, n: number, options?: WaitOptions | null): Promise<BigInt64Array>

  /** The next `n` ids, as far as {@link Tag.nextSync} would wait for them: all or none. */
  takeSync(this: void, n: number): BigInt64Array

  /**
   * Fills the array, of up to 16777216 elements, and answers it, as `takeSync` does. A view of a `SharedArrayBuffer` is
   * filled through a copy.
   */
  fill<T extends BigInt64Array | BigUint64Array>(this: void, array: T): T

  /** How the tag stands. Throws `ERR_LEAFID_CLOSED`. */
  stats(this: void): TagStats

  /** The tag. */
  readonly name: string
}

/**
 * Ids from segments: ranges of counters, one counter a tag, leased from a source, held in a double buffer, issued from
 * memory. A source may be slow, or gone for a while, without a call that waits.
 *
 * Nothing but a call that waits keeps the process alive. Up to 256 ids of a tag are held by the thread that uses it; a
 * worker that is terminated, and a process that is killed, lose them as they lose their segments. Each thread opens
 * segments of its own: a `fetch` function belongs to the thread that made it.
 *
 * ```js
 * const ids = new Segments({ fetch: async (tag, step) => ({ start, end }) })
 * const order = ids.tag('order')
 * const id = await order.next() // 1n
 * ```
 */
export declare class Segments {
  /**
   * Opens segments from servers' URLs, of which the first is preferred and one that fails rests; or from `'file:DIR'`
   * alone, a directory that processes of one host share. No server is asked yet. What the directories need, a short read or
   * write of files, is done on this thread: see {@link Segments.open}.
   *
   * Throws `ERR_LEAFID_INVALID_ARGUMENT`, `_STATE_IO`, `_STATE_CORRUPT`; of a `file:` source `_UNKNOWN_TAG` for a directory
   * that was not made.
   */
  constructor(servers: string | readonly string[], options?: ServerSegmentsOptions | null)
  /** Opens segments from a function of yours. */
  constructor(options: FetchSegmentsOptions)

  /** The constructor as a promise, with what the directories need done off this thread. */
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

  /** How every tag stands that was used. Throws `ERR_LEAFID_CLOSED`. */
  stats(this: void): SegmentsStats

  /** Ends all tags: calls that wait end with `ERR_LEAFID_CLOSED`. Closing twice is fine. Throws `_STATE_IO`. */
  close(this: void): void

  /** Closes at the end of a `using` block. Exists where the runtime has `Symbol.dispose`. */
  [Symbol.dispose](): void

  /** Closes at the end of an `await using` block. Exists where the runtime has `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>

  /** The id space. */
  get name(): string
}

/** What an id says. */
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
 * The statistics of every generator open in this process, its `worker_threads` included, as text of Prometheus in the
 * OpenMetrics format: to be served as `application/openmetrics-text; version=1.0.0; charset=utf-8`. Reads memory only.
 */
export declare function metrics(): string

/** How grave a log record is. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

/** A log record of leafid's. */
export interface LogRecord {
  level: LogLevel
  message: string
}

/**
 * Has `callback` called with each log record of `level` and graver ones, on this thread, soon after it was made. `null`
 * turns it off, which it is at the start.
 *
 * Each thread has a callback of its own, and each is told of the whole process: where `worker_threads` run, set it in the
 * main thread alone. The callback of a worker goes with the worker. Nothing keeps the process alive: what was logged just
 * before its end may be lost. What the callback throws is an uncaught exception. Up to 256 records wait for a thread that
 * is busy; further ones are dropped, and the next record says how many.
 *
 * @throws {LeafidError} `ERR_LEAFID_INVALID_ARGUMENT`
 */
export declare function setLogger(callback: ((record: LogRecord) => void) | null, level?: LogLevel): void
