// leafid/wasm in Node.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { fault } from './errors.js'
import { openFor } from './files.js'
import { begin } from './module.js'
import { use } from './platform.js'
import { server } from './server.js'

/** Node has no file locks. A lock of flock(2) belongs to the open file, so a program that inherits it can take it. */
function flock(file) {
  const opened = openFor(file)
  const close = () => fs.closeSync(opened.fd)
  const stdio = ['ignore', 'ignore', 'pipe', opened.fd]
  const { status, stderr, error } = spawnSync('flock', ['-x', '-n', '3'], { stdio, encoding: 'utf8' })
  if (status === 0) return { id: opened.id, close }
  close()
  if (error?.code === 'ENOENT') {
    const message =
      'Node has no file locks, and the program flock is missing: install util-linux, or the native package, or lease ' +
      'the worker id from a server'
    throw fault('invalid_argument', message)
  }
  if (status === 1 && !stderr) return null
  throw new Error(`flock: ${error?.message ?? (stderr.trim() || `it ended with ${status}`)}`)
}

use(server('Node', flock))
begin(new WebAssembly.Module(fs.readFileSync(new URL('./leafid.wasm', import.meta.url))))

export * from './api.js'
