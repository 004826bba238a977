// `chaos` in Node: as in C, with the same words and files. It does not fork.

import { openSync, readFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const require = createRequire(fileURLToPath(new URL('../../../build/node/', import.meta.url)))
const { LeafidError, Segments, Snowflake } = require('leafid')

const LONG_MS = 200
const words = Object.fromEntries(process.argv.slice(3).map(word => word.split(/=(.*)/s, 2)))
const batch = Number(words.batch ?? 64)
const pauseMs = Number(words.pause_us ?? 2000) / 1000
const notes = openSync(words.notes, 'a')
let ending = false

const nowMs = () => Number(process.hrtime.bigint() / 1_000_000n)
const scheduled = () => readFileSync('/proc/thread-self/schedstat', 'latin1')
const keptWaitingMs = () => Math.trunc(Number(scheduled().split(' ')[1]) / 1e6)
const codeOf = error => error.code.replace('ERR_LEAFID_', '').toLowerCase()

function note(what, text = '') {
  writeSync(notes, `${nowMs()} ${process.pid} ${what} ${text}`.slice(0, 1190).replaceAll('\n', ' ') + '\n')
}

/** Ids of one kind, made in turns with those of the others. */
class Line {
  code = ''
  lastMs = 0
  sampledMs = 0
  waitedMs = 0

  constructor(number, kind, takeOne, take) {
    Object.assign(this, { kind, takeOne, take })
    const order = kind === 'flakes' ? 'rising' : 'mixed'
    if (words.out && kind !== 'opening')
      this.file = openSync(`${words.out}/${kind}/${order}-${words.run}-${process.pid}-${number}`, 'ax')
  }

  async make(turn) {
    const n = [1, 7, batch][turn % 3]
    let ids
    try {
      ids = n === 1 ? BigInt64Array.of(await this.takeOne()) : await this.take(n)
    } catch (error) {
      this.noteError(error)
      return false
    }
    const bytes = Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)
    if (writeSync(this.file, bytes) !== bytes.length) throw new Error('a write was cut short')
    const now = nowMs()
    if (!this.lastMs) [this.waitedMs, this.sampledMs] = [keptWaitingMs(), now]
    else if (now - this.lastMs > LONG_MS || now - this.sampledMs > LONG_MS / 2) this.notePause(now)
    this.lastMs = now
    this.code = ''
    return true
  }

  /** It counts once until ids come again, or another one. */
  noteError(error) {
    if (!(error instanceof LeafidError)) throw error
    const code = codeOf(error)
    // The JavaScript thread may not wait: asked again.
    if (code === 'would_block' || code === this.code) return
    this.code = code
    note('error', `${this.kind} ${code}: ${error.message}`)
  }

  notePause(now) {
    const waited = keptWaitingMs()
    if (now - this.lastMs > LONG_MS)
      note('pause', `${this.kind} ${this.lastMs} ${now} ${waited - this.waitedMs} ${this.code || '-'}`)
    this.sampledMs = now
    this.waitedMs = waited
  }

  async keepMaking() {
    for (let turn = 0; !ending; turn++) await sleep((await this.make(turn)) ? pauseMs : this.code ? 20 : 1)
    if (this.lastMs) this.notePause(nowMs())
  }
}

/** Opens again and again: a refusal is no end. */
async function opened(open) {
  const line = new Line(0, 'opening')
  while (!ending) {
    try {
      return await open()
    } catch (error) {
      line.noteError(error)
      await sleep(50)
    }
  }
}

process.on('SIGTERM', () => (ending = true))
const shared = { name: words.name, stateDir: words.dir }
const lines = []
let flake, segments
if (words.worker) {
  const begun = nowMs()
  flake = await opened(() => Snowflake.open({ worker: words.worker, ...shared }))
  if (flake) {
    note('in', `${flake.workerId} ${nowMs() - begun}`)
    lines.push(new Line(0, 'flakes', () => flake.next(), n => flake.take(n)))
  }
}
if (words.tags) {
  segments = await opened(() => new Segments([words.servers], { protocol: 'range', adaptive: false, ...shared }))
  for (const name of segments ? words.tags.split(',') : []) {
    const tag = segments.tag(name)
    lines.push(new Line(lines.length, name, () => tag.next(), n => tag.take(n)))
  }
}
// Nothing of leafid keeps the process: a call that waits would end it.
const alive = setInterval(() => {}, 1000)
await Promise.all(lines.map(line => line.keepMaking()))
flake?.close()
segments?.close()
clearInterval(alive)
note('done')
