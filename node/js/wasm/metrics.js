// Metrics of the generators and segments of this realm, in the OpenMetrics format: those of the native package that
// docs/MONITORING.md gives to it.

import { Run } from './run.js'
import { Owner } from './segments_owner.js'
import { Tag } from './tag.js'
import { version } from './version.js'

const seconds = ms => ms / 1000
const leaseUntil = ({ leaseUntilMs }) => (leaseUntilMs === null ? [] : seconds(leaseUntilMs))
/** Name, unit, description, kind, and value: a number, or pairs of a number and more labels, or none. */
const SNOWFLAKES = [
  ['reserved_until', '_seconds', 'Ids are durable up to here, exclusive, Unix time', 'gauge',
    ({ reservedUntilMs }) => seconds(reservedUntilMs)],
  ['lead', '_seconds', 'How far the logical clock is ahead of the clock', 'gauge', ({ leadMs }) => seconds(leadMs)],
  ['expires_at', '_seconds', 'When the timestamp bits of the layout end, Unix time', 'gauge',
    (_, { settings }) => seconds(settings.expiresAtMs)],
  ['lease_until', '_seconds', 'Where the lease of the worker id ends, Unix time', 'gauge', leaseUntil],
  ['clock_lag', '_seconds', "How late the generator's clock may be", 'gauge', () => 0],
  ['claims', '', 'Worker ids claimed: more than one when leases were lost', 'counter', ({ claims }) => claims],
  ['ids', '', 'Ids issued since the claim', 'counter', ({ ids }) => ids],
  ['handles', '', 'Open handles of the generator', 'gauge', (_, { handles }) => handles],
  ['renewals', '', 'Spans made durable since the opening', 'counter', ({ renewals }) => renewals],
  ['renewal_failures', '', 'Renewals of spans and leases that failed', 'counter', stats => stats.renewalFailures],
]

const outcomesOf = (_, { outcomes }) => outcomes.map(([outcome, count]) => [count, { outcome }])
const TAGS = [
  ['left', '', 'Ids at hand', 'gauge', ({ left }) => left],
  ['step', '', 'The step of the last fetch', 'gauge', ({ step }) => step],
  ['waiting', '', 'Calls that wait', 'gauge', ({ waiting }) => waiting],
  ['ids', '', 'Ids that calls have taken, with those that are reserved for the next ones', 'counter', ({ ids }) => ids],
  ['fetches', '', 'Fetches that have ended', 'counter', ({ fetches }) => fetches],
  ['fetch_outcomes', '', "Fetches that have ended, by outcome: ok, or an error's code", 'counter', outcomesOf],
  ['fetch_failures', '', 'Fetches that failed', 'counter', ({ failures }) => failures],
  ['waits', '', 'Calls that found nothing at hand', 'counter', ({ waits }) => waits],
]

/** As OpenMetrics quotes them. */
const quoted = text => `"${text.replace(/[\\"\n]/g, each => (each === '\n' ? '\\n' : `\\${each}`))}"`
const labelled = labels => Object.entries(labels).map(([name, text]) => `${name}=${quoted(text)}`).join()

/** The lines of metrics, also of those without a sample: collectors register what there is once. */
function* lines(prefix, metrics, all) {
  for (const [name, unit, help, kind, value] of metrics) {
    const full = `${prefix}_${name}${unit}`
    yield `# HELP ${full} ${help}.`
    yield `# TYPE ${full} ${kind}`
    if (unit) yield `# UNIT ${full} ${unit.slice(1)}`
    for (const each of all) {
      const found = value(each.stats, each)
      for (const [number, more] of typeof found === 'number' ? [[found]] : found) {
        yield `${full}${kind === 'counter' ? '_total' : ''}{${labelled({ ...each.labels, ...more })}} ${number}`
      }
    }
  }
}

function openSnowflakes() {
  return Run.open().map(run => {
    const { settings, handles, workerId } = run
    const state_dir = settings.persist ? settings.store.place : ''
    const { name, layoutText: layout } = settings
    const labels = { name, worker_id: String(workerId), state_dir, layout }
    return { settings, handles, labels, stats: run.stats() }
  })
}

/** The tags of all open segments. */
function openTags() {
  return Owner.open().flatMap(owner => {
    const { name, source, stateDir: state_dir, tags } = owner
    return owner.states().map(({ stats, outcomes }) => {
      const tag = tags.get(stats.tag)
      if (tag) Tag.withLocal(tag, stats)
      return { labels: { name, source, state_dir, tag: stats.tag }, outcomes, stats }
    })
  })
}

export function metrics() {
  const head = ['# HELP leafid_build_info The version.', '# TYPE leafid_build_info gauge']
  const snowflakes = lines('leafid_snowflake', SNOWFLAKES, openSnowflakes())
  const tags = lines('leafid_segment', TAGS, openTags())
  return `${[...head, `leafid_build_info{version="${version}"} 1`, ...snowflakes, ...tags].join('\n')}\n# EOF\n`
}
