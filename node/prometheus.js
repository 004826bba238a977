'use strict'

// leafid's metrics in a registry of prom-client, which is not loaded here.

const { families, reader } = require('./lib/metric_families.js')

// Of several processes of a cluster; the largest is shown of other gauges.
const SUMMED = new Set(['leafid_segment_left', 'leafid_segment_waiting', 'leafid_snowflake_handles'])

function aggregatorOf({ name, kind }) {
  return kind !== 'gauge' || SUMMED.has(name) ? 'sum' : 'max'
}

function register(registry, metrics) {
  const read = reader(metrics)
  for (const family of families(metrics).values()) {
    const { name, kind, help } = family
    // prom-client's names of counters have the ending.
    const full = kind === 'counter' ? `${name}_total` : name
    const aggregator = aggregatorOf(family)
    const values = () =>
      (read(name)?.samples ?? []).map(sample => ({
        value: sample.value,
        labels: kind === 'histogram' && sample.labels.le ? withBound(sample.labels) : sample.labels,
        metricName: sample.name,
      }))
    const get = async () => ({ name: full, help, type: kind, aggregator, values: values() })
    registry.registerMetric({ name: full, help, type: kind, aggregator, get, reset() {} })
  }
}

/** prom-client's own bounds are numbers, except the last. */
function withBound(labels) {
  return { ...labels, le: labels.le === '+Inf' ? labels.le : Number(labels.le) }
}

module.exports = { register }
