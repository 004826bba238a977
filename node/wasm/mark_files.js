// Marks as files, in the format and with the locks of the native package: both may share a directory. On Linux.

import fs from 'node:fs'
import path from 'node:path'
import { fault } from './errors.js'
import { LockedFile, create, idSpace, syncDirectories } from './files.js'
import { SLOT_BYTES, failed } from './record.js'
import { elapsed, sleep } from './time.js'

const MODE = 0o640
const LOCK_TIMEOUT_MS = 2000
const POLL_MS = 2

export function fileMarks(settings, system) {
  return new MarkFiles(idSpace(settings, system), system)
}

class MarkFiles {
  #flock

  constructor(place, { flock }) {
    this.place = place
    this.identity = fs.realpathSync(place)
    this.#flock = flock
  }

  path(name) {
    return path.join(this.place, name)
  }

  async read(name) {
    return this.#tried('read', name, () => {
      try {
        return fs.readFileSync(this.path(name))
      } catch (error) {
        if (error.code === 'ENOENT') return null
        throw error
      }
    })
  }

  async update(name, change) {
    const file = this.path(name)
    if (this.#tried('make', name, () => !fs.existsSync(file) && this.#create(file, change(null)))) return
    const lock = await this.#lock(name)
    try {
      this.#tried('write', name, () => this.#write(file, lock, change))
    } finally {
      lock.close()
    }
  }

  #create(file, bytes) {
    const isMade = create(file, bytes, MODE)
    if (isMade) syncDirectories(this.place)
    return isMade
  }

  /** Others hold the lock for one write. */
  async #lock(name) {
    for (const end = elapsed() + LOCK_TIMEOUT_MS; ; await sleep(POLL_MS)) {
      const lock = this.#tried('lock', name, () => this.#flock(this.path(name)))
      if (lock !== null) return lock
      if (elapsed() < end) continue
      const message =
        `${this.path(name)} was locked by others for ${LOCK_TIMEOUT_MS} ms; try again, and see what holds it that ` +
        'long'
      throw fault('segment_unavailable', message)
    }
  }

  #write(file, lock, change) {
    const opened = new LockedFile(file)
    try {
      if (!opened.isInPlace(lock.id)) throw new Error('it was deleted, moved or replaced meanwhile')
      const found = opened.read()
      const bytes = change(found)
      // Whoever made it may have been killed before its name was durable.
      syncDirectories(this.place)
      const slot = [0, 1].find(slot => !same(part(found, slot), part(bytes, slot)))
      if (slot !== undefined) opened.write(slot, part(bytes, slot), () => {})
    } finally {
      opened.close()
    }
  }

  async list(prefix) {
    const names = this.#tried('read', '', () => fs.readdirSync(this.place))
    return names.filter(name => name.startsWith(prefix)).map(name => [name, fs.readFileSync(this.path(name))])
  }

  #tried(doing, name, call) {
    try {
      return call()
    } catch (error) {
      if (error?.code?.startsWith?.('ERR_LEAFID')) throw error
      throw failed(doing, this.path(name), error)
    }
  }
}

const part = (bytes, slot) => bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)
const same = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at])
