import * as native from '../index.js'

export * from '../index.js'

/** The options of the native package, and those of WebAssembly. docs/WASM.md says which of them each platform refuses. */
export interface SnowflakeOptions extends native.SnowflakeOptions {
  /** In workerd: `ctx.storage` of a Durable Object, where the records are kept. */
  readonly storage?: unknown
}

/**
 * The native package's `Snowflake`, made by WebAssembly. Where records are stored asynchronously, as in a browser, the
 * constructor needs `lazy: true`; use {@link Snowflake.open}.
 */
export declare class Snowflake extends native.Snowflake {
  constructor(options?: SnowflakeOptions | null)

  static open<T extends typeof native.Snowflake>(this: T, options?: SnowflakeOptions | null): Promise<InstanceType<T>>
  static open(this: void, options?: SnowflakeOptions | null): Promise<Snowflake>

  /**
   * Fulfilled when {@link Snowflake.next} finds an id at once. Use it where records are stored asynchronously: before the
   * first id after a pause of more than a minute, and after `ERR_LEAFID_WOULD_BLOCK`. Rejects with what `next` would throw.
   */
  ready(this: void): Promise<void>

  /** As `close`; fulfilled when the end is recorded. Exists where the runtime has `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>
}
