// What the tests of tools share.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

export const here = import.meta.dirname
export const tools = join(here, '../node_modules')
export const tarball = process.env.LEAFID_TARBALL

// A build may keep the disk busy for seconds.
const stateDir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'leafid-tools-'))
after(() => rmSync(stateDir, { recursive: true }))
const plain = { NODE_TEST_CONTEXT: undefined, NO_COLOR: '1', FORCE_COLOR: undefined, NEXT_TELEMETRY_DISABLED: '1' }
export const env = { ...process.env, ...plain, LEAFID_STATE_DIR: stateDir }

/** A folder that goes with the test. */
export function folder(t, name) {
  const made = mkdtempSync(join(tmpdir(), `leafid-${name}-`))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** What a program prints, which ends well, or with `status`. */
export function run(file, args, cwd = here, ended = 0) {
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, env, encoding: 'utf8', timeout: 900_000 })
  assert.equal(status, ended, `${file} ${args.join(' ')}: ${error ?? ''}\n${stdout}\n${stderr}`)
  return stdout + stderr
}

export const tool = (name, args, cwd, ended) => run(join(tools, '.bin', name), args, cwd, ended)
