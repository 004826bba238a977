// Node, Bun and Deno. leafid/wasm keeps no files there: that is what the native package is for.

import fs from 'node:fs'
import os from 'node:os'
import { fault } from './errors.js'
import { hostLock } from './host_lock.js'
import { begin } from './module.js'
import { noStore } from './no_store.js'
import { use } from './platform.js'
import { setTimeout, suspendCountingClock } from './time.js'

const tried = (call, otherwise) => {
  try {
    return call()
  } catch {
    return otherwise
  }
}

const name = globalThis.Deno ? 'Deno' : globalThis.Bun ? 'Bun' : 'Node'
/** The machine's time since its start counts suspended time; where it may not be read, two other clocks do together. */
const uptime = process.platform === 'linux' ? tried(() => (os.uptime(), () => os.uptime() * 1000), null) : null
const NATIVE = 'use the native package: import leafid, without /wasm'
const OTHERS = 'another process or thread of this host'

/** What of these settings needs files, or undefined. */
function needsFiles({ stateDir, storage, persist, isRange, leases }) {
  if (stateDir !== undefined) return 'stateDir is set'
  if (storage !== undefined) return 'storage is set'
  if (leases) return undefined
  if (isRange) return 'worker is a range'
  return persist ? 'worker is no lease, and persist is not false' : undefined
}

function refused(what, otherwise) {
  return fault('invalid_argument', `${what}, but leafid/wasm keeps no files in ${name}: ${NATIVE}; or ${otherwise}`)
}

const lock = leases => (name, workerId) => {
  const held = hostLock(name, workerId)
  if (held !== undefined) return held
  // Its source gives no span twice.
  if (leases) return { release() {} }
  const message =
    `another process may have worker id ${workerId}: it cannot be locked here, where there are no abstract Unix ` +
    `sockets (macOS, Windows, some sandboxes); ${NATIVE}; or lease the worker id from a server`
  throw fault('invalid_argument', message)
}

function store(settings) {
  const what = needsFiles(settings)
  if (what === undefined) return noStore(lock(settings.leases), OTHERS)
  throw refused(what, 'lease the worker id; or give one number that no other process has, with persist: false')
}

function marks(settings) {
  const what = needsFiles({ ...settings, leases: true }) ?? 'marks are to be stored, because persist is not false'
  throw refused(what, 'set persist: false, and then only this thread notices a source that repeats itself')
}

/** Reads the module, and makes its instance. */
export function loadInNode(url) {
  use({
    name,
    waits: true,
    bootMs: uptime ?? suspendCountingClock(),
    variable: name => tried(() => process.env[name], undefined) || undefined,
    store,
    marks,
    background(run, ms) {
      const timer = setTimeout(run, ms)
      timer.unref?.()
      return timer
    },
    block: ms => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
    warning: text => process.emitWarning(text, 'LeafidWarning'),
    ending: close => void process.on('exit', close),
  })
  begin(new WebAssembly.Module(fs.readFileSync(url)))
}
