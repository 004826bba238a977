// The command line as npm installs it.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { Snowflake, decode, version } from 'leafid'
import { HANG, inMemory, space, start, vectors } from './support.mjs'

const require = createRequire(import.meta.url)
const program = join(require.resolve('leafid/package.json'), '../../.bin/leafid')
const env = { ...process.env }
delete env.LEAFID_WORKER

const run = (args, input = '') => spawnSync(program, args, { input, env, encoding: 'utf8', timeout: HANG })

test('the runs that end alike in all forms', () => {
  for (const expected of vectors('cli.json').runs) {
    const { status, stdout, stderr } = run(expected.arguments, expected.stdin)
    assert.deepEqual([status, stdout], [expected.exit, expected.stdout.replace('{version}', version)], stderr)
    if (expected.stderr === null) assert.match(stderr, /--help/)
    else assert.equal(stderr, expected.stderr)
  }
})

test('ids and their record', () => {
  const { name, stateDir } = inMemory()
  const place = ['--name', name, '--state-dir', stateDir]
  const made = run(['next', '-n', '5000', '--worker', '7', ...place])
  assert.deepEqual([made.status, made.stderr], [0, ''])
  const ids = made.stdout.trimEnd().split('\n').map(BigInt)
  assert.equal(ids.length, 5000)
  assert.ok(ids.every((id, at) => at === 0 || id > ids[at - 1]))
  assert.equal(decode(ids[0]).workerId, 7)
  const flake = new Snowflake({ worker: 7, name, stateDir })
  const held = run(['next', '--worker', '7', ...place])
  assert.equal(held.status, 1)
  assert.match(held.stderr, new RegExp(`^leafid: worker_in_use: .*pid ${process.pid} `))
  flake.close()
  assert.match(run(['state', 'show', ...place]).stdout, /held {5}by nobody/)
})

for (const [what, end, ended] of [
  ['a reader that goes away ends it quietly', child => child.stdout.destroy(), { code: 0, signal: null }],
  ['an interrupt ends it without a trace', child => child.kill('SIGINT'), { code: null, signal: 'SIGINT' }],
]) {
  test(what, async t => {
    const { name, stateDir } = inMemory()
    const made = start(t, null, null, {
      command: [program, 'next', '-n', '1000000000', '--worker', '7', '--name', name, '--state-dir', stateDir],
    })
    assert.match(await made.line(), /^\d+$/)
    end(made.child)
    const { code, signal, err } = await made.ended
    assert.deepEqual([{ code, signal }, err], [ended, ''])
  })
}
