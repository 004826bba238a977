// leafid/wasm in Bun.

import { dlopen } from 'bun:ffi'
import fs from 'node:fs'
import { openFor } from './files.js'
import { begin } from './module.js'
import { use } from './platform.js'
import { server } from './server.js'

const EXCLUSIVE_NOW = 2 | 4
let libc = null

/** flock(2) of the C library: glibc's, or musl's. */
function library() {
  const symbols = { flock: { args: ['int', 'int'], returns: 'int' } }
  const arch = { x64: 'x86_64', arm64: 'aarch64' }[process.arch] ?? process.arch
  const names = ['libc.so.6', `libc.musl-${arch}.so.1`, 'libc.so']
  const failures = []
  for (const name of names) {
    try {
      return dlopen(name, symbols).symbols
    } catch (error) {
      failures.push(error.message)
    }
  }
  throw new Error(`flock(2) was not found: ${failures.join('; ')}`)
}

function flock(file) {
  libc ??= library()
  const opened = openFor(file)
  const close = () => fs.closeSync(opened.fd)
  if (libc.flock(opened.fd, EXCLUSIVE_NOW) === 0) return { id: opened.id, close }
  close()
  return null
}

use(server('Bun', flock))
begin(new WebAssembly.Module(fs.readFileSync(new URL('./leafid.wasm', import.meta.url))))

export * from './api.js'
