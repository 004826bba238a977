// Node, Bun and Deno: what they have in common.

import fs from 'node:fs'
import os from 'node:os'
import { fault } from './errors.js'
import { fileStore } from './files.js'
import { LeaseFiles } from './lease_files.js'
import { fileMarks } from './mark_files.js'
import { setTimeout, suspendCountingClock } from './time.js'
import { noStore } from './no_store.js'

const tried = (call, otherwise) => {
  try {
    return call()
  } catch {
    return otherwise
  }
}

const isLinux = process.platform === 'linux'
/** The machine's time since its start counts suspended time; where it may not be read, two other clocks do together. */
const uptime = isLinux ? tried(() => (os.uptime(), () => os.uptime() * 1000), null) : null
const bootMs = uptime ?? suspendCountingClock()
const boot = uptime && isLinux ? tried(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), '') : ''
const host = tried(() => os.hostname(), '')
const started = new Date(Date.now() - process.uptime() * 1000).toISOString().replace(/\.\d+Z$/, 'Z')

/**
 * A platform with files. `flock` is as files.js describes it. `seesChanges`: it tells when a file was changed, in ms.
 */
export function server(name, flock, seesChanges = true) {
  const variable = name => tried(() => process.env[name], undefined) || undefined
  return {
    name,
    waits: true,
    bootMs,
    filters: uptime !== null,
    host,
    variable,
    writer: () => ({ pid: process.pid, host: host.slice(0, 64), started, boot, counted_ms: Math.trunc(bootMs()) }),
    store(settings) {
      if (settings.storage !== undefined) return refuseStorage(name)
      if (isLinux) {
        const files = fileStore(settings, { flock, variable, lockDir: variable('LEAFID_LOCK_DIR') })
        if (settings.workers.source?.urls && settings.persist && seesChanges) {
          files.leases = new LeaseFiles(settings, files, boot)
        }
        return files
      }
      if (settings.leases) return noStore(settings)
      const message =
        `leafid/wasm has file locks only on Linux, and this is ${process.platform}: install the native package here, ` +
        'or lease the worker id from a server'
      throw fault('invalid_argument', message)
    },
    marks(settings) {
      if (settings.storage !== undefined) return refuseStorage(name)
      if (isLinux) return fileMarks(settings, { flock, variable })
      const message =
        `leafid/wasm has file locks only on Linux, and this is ${process.platform}: install the native package here; ` +
        'or set persist: false, and then only this process notices a source that repeats itself'
      throw fault('invalid_argument', message)
    },
    background(run, ms) {
      const timer = setTimeout(run, ms)
      timer.unref?.()
      return timer
    },
    block: ms => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
    ending: close => void process.on('exit', close),
  }
}

function refuseStorage(name) {
  throw fault('invalid_argument', `storage is set; allowed: nothing in ${name}, where records are files`)
}
