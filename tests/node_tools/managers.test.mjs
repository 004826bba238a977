// leafid as package managers install it from a registry, where one runs that has no node_modules, and one with links.

import assert from 'node:assert/strict'
import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { start } from './node/support.mjs'
import { registry } from './registry.mjs'
import { env, folder, here, tarball, tools } from './run.mjs'

/** A project of its own, and what runs a package manager there. */
async function project(t, name, settings) {
  const made = folder(t, name)
  cpSync(join(here, 'bundles/server.mjs'), join(made, 'server.mjs'))
  writeFileSync(join(made, 'package.json'), '{ "private": true, "type": "module" }')
  // By this Yarn knows a project.
  writeFileSync(join(made, 'yarn.lock'), '')
  // Both keep what a registry said, which here has another port each time.
  const own = { YARN_GLOBAL_FOLDER: join(made, 'global'), XDG_CACHE_HOME: join(made, 'cache'), XDG_DATA_HOME: join(made, 'data') }
  const run = async command => {
    const { code, out, err } = await start(t, null, null, { command, env: { ...env, ...own, ...settings } }).ended
    assert.equal(code, 0, `${command.join(' ')}\n${out}\n${err}`)
    return out
  }
  return { made, run }
}

function assertServes(out) {
  const { id, number } = JSON.parse(out)
  assert.ok(BigInt(id) > 0n && number === 1)
}

test("Yarn with Plug'n'Play unplugs the addon, and nothing else", async t => {
  const { made, run } = await project(t, 'yarn', {
    YARN_NPM_REGISTRY_SERVER: await registry(t, dirname(tarball)),
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    YARN_NODE_LINKER: 'pnp',
    YARN_ENABLE_GLOBAL_CACHE: 'false',
    YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
    YARN_ENABLE_TELEMETRY: 'false',
  })
  const yarn = (...args) => run([process.execPath, join(tools, '@yarnpkg/cli-dist/bin/yarn.js'), '--cwd', made, ...args])
  await yarn('add', 'leafid')
  assertServes(await yarn('node', join(made, 'server.mjs')))
  const unplugged = readdirSync(join(made, '.yarn/unplugged'))
  assert.ok(unplugged.length === 1 && unplugged[0].startsWith(`leafid-${process.platform}-`), String(unplugged))
})

test('pnpm', async t => {
  const { made, run } = await project(t, 'pnpm', {})
  await run([join(tools, '.bin/pnpm'), '--dir', made, 'add', 'leafid', '--registry', await registry(t, dirname(tarball))])
  assertServes(await run([process.execPath, join(made, 'server.mjs')]))
})
