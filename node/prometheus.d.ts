/** What is used of a `Registry` of prom-client. */
export interface MetricRegistry {
  registerMetric(metric: any): void
}

/**
 * Registers leafid's metrics of this process in a registry of prom-client, such as its default `register`. Each scrape
 * reads them again, from memory. In a cluster, call it in each worker: `AggregatorRegistry` sums counters, histograms, ids
 * in memory, waiting calls and handles, and takes the largest of other gauges. A second call for one registry throws.
 *
 * @param metrics the function of leafid/wasm, for its metrics instead; default: that of leafid
 *
 * @example
 * const client = require('prom-client')
 * require('leafid/prometheus').register(client.register)
 */
export function register(registry: MetricRegistry, metrics?: () => string): void
