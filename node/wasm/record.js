// The record of a worker id, in the format of all languages: two slots, written in turn.
//
// The store gives the bytes:
//   read()                       all of them
//   write(slot, bytes, check)    calls `check` with what is there, or null; then replaces the slot, durably. It throws
//                                what `check` throws, and changes nothing then
//   close()

import { filteredMs } from './clock.js'
import { LeafidError, codeOf, fault } from './errors.js'
import { log } from './logger.js'
import { random64, wasm } from './module.js'
import { platform } from './platform.js'

export const SLOT_BYTES = 4096

/** Who writes a record: nothing here tells more. */
const writer = () => JSON.stringify({ pid: 0, host: platform().name, started: '' })

export class RecordFile {
  #file
  #path
  #name
  /**
   * The number of what was read or written last, and the highest that was tried: a failed write may have reached the
   * disk.
   */
  #number
  #tried
  #spare
  /** A handle: what was read or written last. */
  record

  /** Opens the record of a locked worker id. `file` is the lock's. */
  static *open(settings, workerId, file) {
    const opened = new RecordFile()
    opened.#file = file
    opened.#path = settings.store.path(workerId)
    opened.#name = settings.name
    try {
      opened.#read(yield file.read(), settings, workerId)
      return opened
    } catch (error) {
      opened.close()
      throw error
    }
  }

  /** The record of an unlocked worker id, as a handle; 0 if there is none. Errors: as of an opening. */
  static *peek(settings, workerId) {
    const { store } = settings
    const bytes = yield store.peek(workerId)
    if (bytes === null) return 0
    const module = wasm()
    const stored = module.call('state_read', store.path(workerId), bytes)
    const record = module.call('stored_record', stored)
    module.free(stored)
    try {
      checkLayout(record, store.path(workerId), settings)
      return record
    } catch (error) {
      module.free(record)
      throw error
    }
  }

  #read(bytes, settings, workerId) {
    const module = wasm()
    const stored = module.call('state_read', this.#path, bytes)
    try {
      this.#number = this.#tried = module.call('stored_number', stored)
      module.call('stored_fields', stored)
      const [spare, damaged] = module.numbers(2)
      this.#spare = spare
      const [name] = module.text().split('\n')
      this.record = module.call('stored_record', stored)
      const found = fields(this.record)
      if (name !== this.#name || found.workerId !== workerId) {
        const message =
          `${this.#path} is the record of worker id ${found.workerId} of "${name}", not of ${workerId} of ` +
          `"${this.#name}": it was moved or copied here; nothing was changed, put it back`
        throw fault('state_corrupt', message)
      }
      checkLayout(this.record, this.#path, settings)
      module.call('record_check', this.record)
      if (damaged) {
        this.#replace(module.call('record_after_lost_slot', this.record, settings.rules, filteredMs()))
        const message =
          `one slot of ${this.#path} is damaged; the other one is used, and ids continue above what it may have ` +
          'granted'
        log('warn', message)
      }
    } finally {
      module.free(stored)
    }
  }

  #replace(record) {
    wasm().free(this.record)
    this.record = record
  }

  /** Makes a record durable; `record` is then this file's. After an error the one before stays. */
  *write(record) {
    const module = wasm()
    this.#tried += 1n
    try {
      module.call('state_slot', record, this.#tried, this.#name, writer())
      yield this.#file.write(this.#spare, module.output(), bytes => this.#checkOurs(bytes))
    } catch (error) {
      module.free(record)
      throw error instanceof LeafidError ? error : failed('write', this.#path, error)
    }
    this.#replace(record)
    this.#number = this.#tried
    this.#spare = 1 - this.#spare
  }

  /** What is there is this record, or one of a write that was reported as failed. */
  #checkOurs(bytes) {
    if (bytes === null) throw this.#lost('was deleted, moved or replaced')
    const module = wasm()
    let ours = false
    try {
      const stored = module.call('state_read', this.#path, bytes)
      const number = module.call('stored_number', stored)
      const found = module.call('stored_record', stored)
      ours = fields(found).owner === fields(this.record).owner && this.#number <= number && number <= this.#tried
      module.free(stored, found)
    } catch (error) {
      if (error.code !== codeOf('state_corrupt') && error.code !== codeOf('state_mismatch')) throw error
    }
    if (!ours) throw this.#lost('was overwritten')
  }

  #lost(what) {
    const { workerId } = fields(this.record)
    const message =
      `${this.#path} ${what} while worker id ${workerId} was in use; no further ids are issued by this generator: ` +
      'find out what changed it, then close and open again'
    return fault('worker_lost', message)
  }

  close() {
    this.#file.close()
    if (this.record) wasm().free(this.record)
    this.record = 0
  }
}

/** Throws for a record of another layout: ids of two layouts in one id space can be equal. */
function checkLayout(record, path, { layout, layoutText }) {
  const module = wasm()
  const theirs = module.call('record_layout', record)
  const found = layoutFields(theirs)
  module.free(theirs)
  const ours = layoutFields(layout)
  if (found.text === ours.text && found.numbers.every((number, at) => number === ours.numbers[at])) return
  const message =
    `${path} has the layout ${found.text} with epochMs ${found.numbers[0]} and tickMs ${found.numbers[1]}, ` +
    `not ${layoutText} with epochMs ${ours.numbers[0]} and tickMs ${ours.numbers[1]}; use the layout it has, or another name`
  throw fault('state_mismatch', message)
}

/** The bytes of the record of an unused worker id. */
export function newFile({ layout, name }, workerId) {
  const module = wasm()
  const record = module.call('record_unused', workerId, layout)
  module.call('state_new_file', record, name)
  module.free(record)
  return module.output()
}

/** The fields of a record. */
export function fields(record) {
  const module = wasm()
  module.call('record_fields', record)
  const [workerId, from, until, grantedAtMs] = module.numbers(4)
  return { workerId, from, until, grantedAtMs, owner: module.text() }
}

/** The numbers and the text of a layout. */
export function layoutFields(layout) {
  const module = wasm()
  module.call('layout_fields', layout)
  return { numbers: module.numbers(9), text: module.text() }
}

/** The owner of a run: two halves of 128 random bits. */
export const owner = () => [random64(), random64()]

/** `state_io` with what failed, and what to do. */
export function failed(doing, path, error) {
  const full = error?.name === 'QuotaExceededError' || error?.code === 'ENOSPC' || error?.code === 'EDQUOT'
  const advice = full ? 'free some space there' : 'see that the place is there and can be written'
  return fault('state_io', `cannot ${doing} ${path}: ${error?.message ?? error}; ${advice}`, error)
}

/** A record that is kept in memory alone. */
export class Unrecorded {
  #bytes

  constructor(bytes) {
    this.#bytes = bytes
  }

  read() {
    return this.#bytes
  }

  write(slot, bytes, check) {
    check(this.#bytes)
    this.#bytes.set(bytes, slot * SLOT_BYTES)
  }

  close() {}
}
