// A registry of npm that has the tarballs of a folder, and for a package manager to look at, what the packages for other
// platforms say of themselves.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const manifestOf = file => JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json']))

/** Its URL. */
export async function registry(t, folder) {
  const packages = new Map()
  for (const file of readdirSync(folder).filter(name => name.endsWith('.tgz')).map(name => join(folder, name))) {
    const manifest = manifestOf(file)
    packages.set(manifest.name, { manifest, bytes: readFileSync(file) })
  }
  const { version, optionalDependencies } = packages.get('leafid').manifest
  for (const name of Object.keys(optionalDependencies)) {
    const [, os, cpu] = name.split('-')
    // Of no C library: nothing installs it.
    const manifest = { name, version, os: [os], cpu: [cpu], libc: ['none'] }
    if (!packages.has(name)) packages.set(name, { manifest, bytes: Buffer.alloc(0) })
  }
  const server = createServer((request, response) => {
    const [, name, , file] = request.url.split('/')
    const found = packages.get(name)
    if (!found) return response.writeHead(404).end('{}')
    if (file) return response.end(found.bytes)
    const tarball = `http://${request.headers.host}/${name}/-/${name}-${version}.tgz`
    const integrity = `sha512-${createHash('sha512').update(found.bytes).digest('base64')}`
    const versions = { [version]: { ...found.manifest, dist: { tarball, integrity } } }
    const time = { [version]: '2026-01-01T00:00:00.000Z' }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions, time }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${server.address().port}`
}
