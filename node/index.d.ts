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
   * The worker id (`7`), or ids of which any free one is claimed (`{ first: 0, last: 31 }` or `'0-31'`, both ends
   * included). Default: the environment's `LEAFID_WORKER`; without either the constructor refuses.
   */
  readonly worker?: number | string | WorkerRange | null
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
}

/** What a generator says of itself. Times are Unix milliseconds. */
export interface SnowflakeStats {
  /** The id space. */
  name: string
  /** The worker id held. */
  workerId: number
  /** Where its record is kept. */
  stateDir: string
  /** The layout's name or bits. */
  layout: string
  /** The layout's epoch. */
  epochMs: number
  /** When the layout ends. */
  expiresAtMs: number
  /** Up to where the ids' time is reserved durably. */
  reservedUntilMs: number
  /** By how many milliseconds the ids are ahead of the clock. */
  leadMs: number
  /** The open handles that share this generator. */
  handles: number
  /** The reservations made since the start. */
  renewals: number
  /** Those that failed. */
  renewalFailures: number
  /** What the last failure said; `null` if there was none. */
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
   * package touches a disk on the JavaScript thread besides a late reservation.
   *
   * Throws `ERR_LEAFID_INVALID_ARGUMENT`, `_WORKER_IN_USE` (naming the holder), `_CLOCK_BACKWARDS`, `_BEFORE_EPOCH`,
   * `_TIME_EXHAUSTED`, `_STATE_IO`, `_STATE_CORRUPT`, `_STATE_MISMATCH`, `_WOULD_BLOCK`.
   */
  constructor(options?: SnowflakeOptions | null)

  /**
   * The constructor as a promise: what it throws is the rejection. Where the constructor is `ERR_LEAFID_WOULD_BLOCK`,
   * since under `onClockBackwards: 'wait'` the record of a killed process is ahead of the clock, this waits for the
   * clock: 4 s at most, or `timeoutMs` if that is longer.
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
   * The next `n` ids, 1 to 16777216, ascending: all or none. Errors as `next`; `_WOULD_BLOCK` when they need a wait of
   * more than 2 ms for one tick.
   */
  take(this: void, n: number): BigInt64Array

  /**
   * Fills the array, of 1 to 16777216 elements, with the next ids, ascending, and answers it: all or nothing. A view of
   * a `SharedArrayBuffer` is filled through a copy. Errors as `take`.
   */
  fill<T extends BigInt64Array | BigUint64Array>(this: void, array: T): T

  /** The state of the generator now. Throws `ERR_LEAFID_CLOSED`. */
  stats(this: void): SnowflakeStats

  /**
   * Closes this handle; the generator's last one writes where its ids end and frees the worker id. Afterwards every call
   * is `ERR_LEAFID_CLOSED`; closing twice is fine.
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
