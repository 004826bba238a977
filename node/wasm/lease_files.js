// Leases of servers, cached as files beside the records, for a start while no server can be reached: docs/LEASES.md.
// They have the format of the native package. Who holds the lock of a worker id's record may use its file.

import fs from 'node:fs'
import path from 'node:path'
import { filteredMs } from './clock.js'
import { codeOf } from './errors.js'
import { LockedFile, create, syncDirectories } from './files.js'
import { log } from './logger.js'
import { wasm } from './module.js'
import { platform } from './platform.js'
import { failed } from './record.js'

/** Whoever has the token of a lease can renew and release it. */
const MODE = 0o600
/** How often a file is written until the kernel's time of its change is that of the write. */
const WRITES = 5
const CORRUPT = codeOf('state_corrupt')

const inPlace = found => {
  if (found === null) throw new Error('it was deleted, moved or replaced meanwhile')
}

/** The cached leases in the directory of a store of files. */
export class LeaseFiles {
  #name
  #servers
  #boot
  #store

  /** `boot` identifies this start of the machine; '' if it is unknown. */
  constructor({ name, workers }, store, boot) {
    this.#name = name
    this.#servers = workers.source.urls.join('\n')
    this.#boot = boot
    this.#store = store
  }

  get isOn() {
    return this.#boot !== '' && this.#store.tellsCopies
  }

  path(workerId) {
    return path.join(this.#store.place, `worker-${workerId}.lease`)
  }

  /** The cache of one run's lease. */
  cacheOf(workerId) {
    return new LeaseCache(this, workerId)
  }

  /** The first arguments of the calls about a file with this content. */
  input(workerId, bytes) {
    return [this.#name, this.#servers, this.#boot, this.path(workerId), bytes]
  }

  /** The worker ids whose leases seem usable, in the order in which they are to be tried. */
  candidates() {
    const found = []
    for (const name of this.isOn ? fs.readdirSync(this.#store.place) : []) {
      const id = /^worker-(\d+)\.lease$/.exec(name)?.[1]
      if (id === undefined) continue
      try {
        const input = this.input(id, fs.readFileSync(this.path(id)))
        const ends = wasm().maybe('lease_file_hint', ...input, Number(id), platform().bootMs(), filteredMs())
        if (ends !== null) found.push([ends, Number(id)])
      } catch {
        // It is damaged or gone: there is no lease.
      }
    }
    return found.sort(([one, a], [other, b]) => other - one || b - a).map(([, id]) => id)
  }

  /** The usable lease of a locked record: `{ workerId, lease, asked }`, or null. */
  find(workerId, record) {
    const file = this.isOn ? this.open(workerId) : null
    if (file === null) return null
    try {
      const lease = this.found(workerId, record, file)
      return lease === 0 ? null : { workerId, lease, asked: wasm().number() }
    } finally {
      file.close()
    }
  }

  /** The handle of the usable lease in an open file, or 0. */
  found(workerId, record, file) {
    const { device, inode, changedMs } = file.facts()
    const input = this.input(workerId, file.read())
    return wasm().call('lease_file_find', ...input, record, device, inode, changedMs, platform().bootMs(), filteredMs())
  }

  /** 1, and the slot to write so that the file holds this lease, or with 0 none; 0 if there is nothing to write. */
  slot(workerId, record, held, file) {
    const { device, inode } = file.facts()
    const input = this.input(workerId, file.read())
    return wasm().call('lease_file_slot', ...input, record, held, device, inode, filteredMs())
  }

  /** Opens the file of a worker id; null if there is none. */
  open(workerId) {
    try {
      return new LockedFile(this.path(workerId))
    } catch (error) {
      if (error.code === 'ENOENT') return null
      throw error
    }
  }

  make(workerId) {
    const module = wasm()
    module.call('lease_file_new', this.#name, this.#servers, workerId)
    create(this.path(workerId), module.output(), MODE)
    syncDirectories(this.#store.place)
    return new LockedFile(this.path(workerId))
  }
}

class LeaseCache {
  #files
  #workerId
  /** Which file this run has written. */
  #written = null
  #hasWarned = false

  constructor(files, workerId) {
    this.#files = files
    this.#workerId = workerId
  }

  /** Makes a lease durable; `held` is its schedule, `record` that of the run. An error is logged. */
  store(held, record) {
    if (!this.#files.isOn) return
    try {
      const file = this.#files.open(this.#workerId) ?? this.#files.make(this.#workerId)
      try {
        this.#store(file, held, record)
      } finally {
        file.close()
      }
    } catch (error) {
      log('warn', `the lease of worker id ${this.#workerId} is not cached: ${error.message}`)
    }
  }

  #store(file, held, record) {
    const { id, others } = file.facts()
    if (this.#written !== id && others !== 0) return this.#warnOf(others)
    for (let tries = 0; tries < WRITES; tries++) {
      if (this.#files.slot(this.#workerId, record, held, file) === 0) return
      const slot = wasm().number()
      // After an error it may hold the old lease, or this one.
      this.#written = id
      file.write(slot, wasm().output(), inPlace)
      const lease = this.#files.found(this.#workerId, record, file)
      wasm().free(lease)
      if (lease !== 0) return
    }
  }

  /** To make the file private now would close no descriptor of another user. */
  #warnOf(others) {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const mode = others.toString(8).padStart(3, '0')
    const message =
      `${this.#files.path(this.#workerId)} may be opened by other users of the host (its mode ends in ${mode}), so ` +
      `the lease of worker id ${this.#workerId} is not cached; delete the file, or see that the file system keeps ` +
      'the mode 0600'
    log('warn', message)
  }

  /** Makes the cached lease invalid, durably. After an error it may still be used. */
  invalidate(record) {
    const where = this.#files.path(this.#workerId)
    try {
      const file = this.#files.open(this.#workerId)
      if (file === null) return this.#written === null || inPlace(null)
      try {
        this.#invalidate(file, record)
      } finally {
        file.close()
      }
    } catch (error) {
      // Nobody can use a damaged file that this run did not write.
      if (error.code === CORRUPT && this.#written === null) return
      throw error.code?.startsWith?.('ERR_LEAFID') ? error : failed('write', where, error)
    }
  }

  #invalidate(file, record) {
    const { id } = file.facts()
    // One that this run wrote, and that was moved away, may come back.
    if (this.#written !== null && this.#written !== id) inPlace(null)
    if (this.#files.slot(this.#workerId, record, 0, file) === 0) return
    file.write(wasm().number(), wasm().output(), inPlace)
  }
}
