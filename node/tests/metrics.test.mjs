// The text for Prometheus. Python's tests parse it with Prometheus' own parsers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Snowflake, metrics, version } from 'leafid'
import { space } from './support.mjs'

test('each generator with its labels', () => {
  const options = { ...space(), worker: 7 }
  const flake = new Snowflake(options)
  const other = new Snowflake(options)
  const { name, stateDir, layout, expiresAtMs } = flake.stats()
  const labels = `{name="${name}",worker_id="7",state_dir="${stateDir}",layout="${layout}"}`
  const lines = metrics().split('\n')
  assert.ok(lines.includes(`leafid_snowflake_handles${labels} 2`), metrics())
  assert.ok(lines.includes(`leafid_snowflake_renewal_failures_total${labels} 0`), metrics())
  assert.ok(lines.includes(`leafid_snowflake_expires_at_seconds${labels} ${expiresAtMs / 1000}`), metrics())
  assert.ok(lines.includes(`leafid_build_info{version="${version}"} 1`), metrics())
  assert.equal(lines.at(-2), '# EOF')
  flake.close()
  other.close()
  assert.ok(!metrics().includes(name))
})
