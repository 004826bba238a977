// leafid/wasm in Deno. Files need --allow-read and --allow-write; --allow-env and --allow-sys are used where given.

import fs from 'node:fs'
import { begin } from './module.js'
import { use } from './platform.js'
import { server } from './server.js'

const { Deno } = globalThis

/** Deno locks with flock(2). */
function flock(file) {
  const opened = Deno.openSync(file, { read: true })
  const close = () => opened.close()
  if (!opened.tryLockSync(true)) {
    close()
    return null
  }
  const { dev, ino } = opened.statSync()
  return { id: `${dev}:${ino}`, close }
}

// It cuts the time of a change to seconds.
use(server('Deno', flock, false))
begin(new WebAssembly.Module(fs.readFileSync(new URL('./leafid.wasm', import.meta.url))))

export * from './api.js'
