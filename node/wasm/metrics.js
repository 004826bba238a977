// Metrics of the generators and segments of this realm, in the OpenMetrics format: those of the native package that
// docs/MONITORING.md gives to it.

import { openTags } from './segments.js'
import { Shared } from './shared.js'
import { version } from './version.js'

const seconds = ms => ms / 1000
const reservedUntil = stats => seconds(stats.reservedUntilMs)
const expiresAt = (_, { settings }) => seconds(settings.expiresAtMs)
const leaseUntil = ({ leaseUntilMs }) => (leaseUntilMs === null ? null : seconds(leaseUntilMs))
/** Name, unit, description, kind, and value of each. */
const SNOWFLAKES = [
  ['reserved_until', '_seconds', 'Ids are durable up to here, exclusive, Unix time', 'gauge', reservedUntil],
  ['lead', '_seconds', 'How far the logical clock is ahead of the clock', 'gauge', stats => seconds(stats.leadMs)],
  ['expires_at', '_seconds', 'When the timestamp bits of the layout end, Unix time', 'gauge', expiresAt],
  ['lease_until', '_seconds', 'Where the lease of the worker id ends, Unix time', 'gauge', leaseUntil],
  ['clock_lag', '_seconds', "How late the generator's clock may be", 'gauge', () => 0],
  ['claims', '', 'Worker ids claimed: more than one when leases were lost', 'counter', (_, { claims }) => claims],
  ['handles', '', 'Open handles of the generator', 'gauge', (_, { handles }) => handles],
  ['renewals', '', 'Spans made durable since the opening', 'counter', stats => stats.renewals],
  ['renewal_failures', '', 'Renewals of spans and leases that failed', 'counter', stats => stats.renewalFailures],
]

const TAGS = [
  ['left', 'Ids at hand', 'gauge', stats => stats.left],
  ['step', 'The step of the last fetch', 'gauge', stats => stats.step],
  ['waiting', 'Calls that wait', 'gauge', stats => stats.waiting],
  ['fetches', 'Fetches that have ended', 'counter', stats => stats.fetches],
  ['fetch_failures', 'Fetches that failed', 'counter', stats => stats.failures],
  ['waits', 'Calls that found nothing at hand', 'counter', stats => stats.waits],
]

/** As OpenMetrics quotes them. */
const quoted = text => `"${text.replace(/[\\"\n]/g, each => (each === '\n' ? '\\n' : `\\${each}`))}"`

function* ofTags() {
  const open = openTags()
  for (const [name, help, kind, value] of open.length > 0 ? TAGS : []) {
    const full = `leafid_segment_${name}`
    yield `# HELP ${full} ${help}.`
    yield `# TYPE ${full} ${kind}`
    for (const { space, source, stats } of open) {
      const labels = `name=${quoted(space)},source=${quoted(source)},tag=${quoted(stats.tag)}`
      yield `${full}${kind === 'counter' ? '_total' : ''}{${labels}} ${value(stats)}`
    }
  }
}

export function metrics() {
  const head = ['# HELP leafid_build_info The version.', '# TYPE leafid_build_info gauge']
  const lines = [...head, `leafid_build_info{version="${version}"} 1`]
  const open = Shared.open().map(shared => ({ shared, stats: shared.generator.stats() }))
  for (const [name, unit, help, kind, value] of SNOWFLAKES) {
    const all = open.map(({ shared, stats }) => ({ shared, number: value(stats, shared) }))
    const samples = all.filter(({ number }) => number !== null)
    if (samples.length === 0) continue
    const full = `leafid_snowflake_${name}${unit}`
    lines.push(`# HELP ${full} ${help}.`, `# TYPE ${full} ${kind}`)
    if (unit) lines.push(`# UNIT ${full} ${unit.slice(1)}`)
    for (const { shared, number } of samples) {
      const labels = `name="${shared.settings.name}",worker_id="${shared.generator.workerId}"`
      lines.push(`${full}${kind === 'counter' ? '_total' : ''}{${labels}} ${number}`)
    }
  }
  return `${[...lines, ...ofTags()].join('\n')}\n# EOF\n`
}
