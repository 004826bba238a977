// Next.js: the app of docs/NODE.md, built by both bundlers without a worker id, and its folder of standalone run elsewhere.

import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { decode } from 'leafid'
import { fakeServer } from './node/fake-server.mjs'
import { start } from './node/support.mjs'
import { env, folder, here, tool } from './run.mjs'

function freePort() {
  return new Promise(done => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => done(port))
    })
  })
}

/** Starts the server of a folder. Gives what asks it: the status and the id of the answer. */
async function serve(t, built, worker) {
  const port = await freePort()
  const command = [process.execPath, join(built, 'project/next/server.js')]
  const given = { ...env, LEAFID_WORKER: worker, PORT: String(port), HOSTNAME: '127.0.0.1' }
  const { child, ended } = start(t, null, null, { command, env: given })
  const ask = async (method, path) => {
    for (;;) {
      try {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, { method })
        const [, id] = (await response.text()).match(/(?:<p>|"id":")(\d+)/) ?? []
        return [response.status, id]
      } catch (error) {
        if (child.exitCode !== null) assert.fail(`it ended: ${(await ended).err}`, { cause: error })
        await setTimeout(50)
      }
    }
  }
  const stop = async () => {
    child.kill()
    return (await ended).err
  }
  return { ask, stop }
}

for (const bundler of ['turbopack', 'webpack']) {
  test(`Next.js, built by ${bundler}`, async t => {
    tool('next', ['build', `--${bundler}`], join(here, 'next'))
    const built = folder(t, 'next')
    cpSync(join(here, 'next/.next/standalone'), built, { recursive: true, verbatimSymlinks: true })

    const leases = await fakeServer(t)
    const leased = await serve(t, built, leases.url)
    const asked = [['GET', '/'], ['GET', '/'], ['POST', '/orders'], ['POST', '/edge'], ['POST', '/edge/all']]
    const found = []
    for (const each of asked) found.push(await leased.ask(...each))
    const said = await leased.stop()
    assert.ok(found.every(([status]) => status === 200), JSON.stringify(found) + said)
    const ids = found.map(([, id]) => id)
    assert.equal(new Set(ids).size, 5, String(ids))
    const [page, again, route, ...edge] = ids.map(id => decode(id).workerId)
    assert.ok(page === again && page === route && !edge.includes(page), String(ids))

    const local = await serve(t, built, '0-31')
    assert.equal((await local.ask('GET', '/'))[0], 200)
    assert.deepEqual(await local.ask('POST', '/edge'), [500, undefined])
    assert.match(await local.stop(), /an isolate has no storage of its own, .*: lease the worker id from a server/)
  })
}
