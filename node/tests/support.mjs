// What the tests share: id spaces of their own, and programs run beside this one.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

setMaxListeners(0, process)

/** The root of the repository. */
export const root = process.env.LEAFID_ROOT ?? join(import.meta.dirname ?? '.', '../..')

export const vectors = name => JSON.parse(readFileSync(join(root, 'tests/vectors', name), 'utf8'))

/** Far longer than anything takes on a busy machine: only what never comes lasts so long. Also the bound of each test. */
export const HANG = 900_000

/** `timeoutMs` of calls that are to succeed: a disk that many others use takes seconds for a write. */
export const PATIENT = 60_000

/** A state directory that goes with this process. */
export function directory(parent = tmpdir()) {
  const stateDir = mkdtempSync(join(parent, 'leafid-node-'))
  process.on('exit', () => rmSync(stateDir, { recursive: true, force: true }))
  return stateDir
}

/** Whether `leafid` is leafid/wasm here, which keeps no files, and asks servers by fetch. */
export const wasm = process.env.LEAFID_WASM === '1'

let hosts = 0
/** As on another host: another state directory, and without one other settings. */
export const elsewhere = () => ({ timeoutMs: PATIENT, ...(wasm ? { persist: false, randomStart: ++hosts } : { stateDir: directory() }) })

/** An id space that no other test of this host shares: a name, and where its records are kept, if they are. */
export const space = () => ({
  name: `node-${randomBytes(6).toString('hex')}`,
  timeoutMs: PATIENT,
  ...(wasm ? { persist: false } : { stateDir: directory() }),
})

/** In memory, if /dev/shm is there: a program, a brief call, and the end of one give up a slow disk after two seconds. */
export const inMemory = () => ({ ...space(), ...(!wasm && hasMemory && { stateDir: directory('/dev/shm') }) })
const hasMemory = process.platform === 'linux' && existsSync('/dev/shm')

/** What the call throws. */
export function thrown(call) {
  try {
    call()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** The newest record of a worker id in a state directory. */
export function record({ stateDir, name }, worker) {
  const bytes = readFileSync(join(stateDir, name, `worker-${worker}.state`), 'utf8')
  const slots = bytes.match(/\{"leafid_state".*?"crc32":"[0-9a-f]*"\}/g).map(text => JSON.parse(text))
  return slots.sort((a, b) => b.number - a.number)[0]
}

/**
 * Starts `node -e` on a program that finds `leafid`, with `options` as the value of that name; without options, `node` on
 * a file; or a `command` of any kind. `ended` gives code, signal, standard output and error; `line()` the next line of the output.
 */
export function start(t, program, options, { env = {}, command } = {}) {
  const head = `const options = ${JSON.stringify(options)}; const { Snowflake, decode } = require('leafid');\n`
  const [file, ...args] = command ?? [process.execPath, ...(options ? ['-e', head + program] : [program])]
  const child = spawn(file, args, {
    env: { ...process.env, NODE_TEST_CONTEXT: '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let [out, err] = ['', '']
  let taken = 0
  let arrived = () => {}
  child.stdout.setEncoding('utf8').on('data', text => {
    out += text
    arrived()
  })
  child.stderr.setEncoding('utf8').on('data', text => (err += text))
  const ended = new Promise((done, failed) => {
    child.on('error', failed)
    child.on('close', (code, signal) => {
      done({ code, signal, out, err })
      arrived()
    })
  })
  async function line() {
    for (;;) {
      const end = out.indexOf('\n', taken)
      if (end >= 0) {
        const text = out.slice(taken, end)
        taken = end + 1
        return text
      }
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended first: ${err}`)
      await new Promise(done => (arrived = done))
    }
  }
  return { child, ended, line }
}

/** Fails unless the ids, in any order, are all different. */
export function assertDistinct(ids) {
  const repeated = ids.length - new Set(ids).size
  if (repeated > 0) throw new Error(`${repeated} of ${ids.length} ids are repeated`)
}
