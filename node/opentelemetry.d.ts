import type { Meter, Tracer } from '@opentelemetry/api'
import type { SegmentFetch, Snowflake, Tag } from 'leafid'

/**
 * Reports leafid's metrics of this process to the meter, by default that of the global provider. Call it once, after the
 * provider was set. The names are those of Prometheus with dots and without the unit: `leafid.snowflake.ids`. A histogram
 * is two counters, because the API has no histograms that are read: `leafid.segment.wait.count`, and
 * `leafid.segment.wait.time` in seconds.
 *
 * @param metrics the function of leafid/wasm, for its metrics instead; default: that of leafid
 */
export function instrument(meter?: Meter, metrics?: () => string): void

export interface TracedOptions {
  /** A call that lasts no longer leaves no span, milliseconds. Default 1. */
  longerThanMs?: number
  /** Default: the global provider's. */
  tracer?: Tracer
}

/**
 * The snowflake or tag, whose calls leave a span `leafid.wait` if they last long. A span begins when the call began, and is
 * a child of the active span. A call that fails has one too, with the error's code. All else is unchanged.
 */
export function traced<T extends Snowflake | Tag>(ids: T, options?: TracedOptions): T

/** A `fetch` for segments that leaves a span `leafid.fetch` for each call, with the tag, the step and the error. */
export function tracedFetch(fetch: SegmentFetch, options?: { tracer?: Tracer }): SegmentFetch
