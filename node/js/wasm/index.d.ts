import * as native from '../index.js'

export * from '../index.js'

/** In `leafid/wasm/public-ids`: a key does not belong into a browser. */
export declare const PublicIds: undefined

/**
 * The options of the native package, and those of WebAssembly. docs/WASM.md says which of them each platform refuses. A
 * function as `worker` is subject to the rules of a number; an object that leases worker ids works everywhere. In Node,
 * Bun and Deno there are no files: `stateDir` and ranges are refused, and a number needs `persist: false`.
 */
export interface SnowflakeOptions extends native.SnowflakeOptions {
  /**
   * Your statement, in browsers and Durable Objects, that no other profile, device or object has this number or range,
   * or gets this function's numbers: a program is the same for all who run it. Default `false`, and then all but a lease
   * is refused there.
   */
  readonly exclusiveRange?: boolean | null
  /** In workerd: `ctx.storage` of a Durable Object, where the records are kept. */
  readonly storage?: unknown
}

/**
 * The native package's `Snowflake`, made by WebAssembly. Where records are stored asynchronously, as in a browser, the
 * constructor needs `lazy: true`; use {@link Snowflake.open}.
 */
export declare class Snowflake extends native.Snowflake {
  constructor(options?: SnowflakeOptions | number | string | null)

  static open<T extends typeof native.Snowflake>(this: T, options?: SnowflakeOptions | number | string | null): Promise<InstanceType<T>>
  static open(this: void, options?: SnowflakeOptions | number | string | null): Promise<Snowflake>

  /**
   * Fulfilled when {@link Snowflake.next} finds an id at once. Use it where records are stored asynchronously: before
   * the first id after a pause of more than a minute, and after `ERR_LEAFID_WOULD_BLOCK`. Rejects with what `next`
   * would throw.
   */
  ready(this: void): Promise<void>

  /** As `close`; fulfilled when the end is recorded. Exists where the runtime has `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>
}

interface Stored {
  /** In workerd: `ctx.storage` of a Durable Object, where the marks are kept. */
  readonly storage?: unknown
}

/** The options of the native package, and those of WebAssembly. */
export interface FetchSegmentsOptions extends native.FetchSegmentsOptions, Stored {}

/** The options of the native package, and those of WebAssembly. */
export interface ServerSegmentsOptions extends native.ServerSegmentsOptions, Stored {}

/**
 * The native package's `Segments`, made by WebAssembly, from your own function or from URLs of servers. `nextSync`,
 * `takeSync` and `fill` never wait for a fetch: it needs the event loop.
 */
export declare class Segments extends native.Segments {
  constructor(servers: string | readonly string[], options?: ServerSegmentsOptions | null)
  constructor(options: FetchSegmentsOptions)

  static open<T extends typeof native.Segments>(
    this: T,
    servers: string | readonly string[],
    options?: ServerSegmentsOptions | null,
  ): Promise<InstanceType<T>>
  static open<T extends typeof native.Segments>(this: T, options: FetchSegmentsOptions): Promise<InstanceType<T>>
  static open(
    this: void,
    servers: string | readonly string[],
    options?: ServerSegmentsOptions | null,
  ): Promise<Segments>
  static open(this: void, options: FetchSegmentsOptions): Promise<Segments>
}
