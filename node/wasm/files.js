// Records as files, in the format and with the locks of the native package: both may share a directory. On Linux.

import fs from 'node:fs'
import path from 'node:path'
import { fault } from './errors.js'
import { random128, wasm } from './module.js'
import { SLOT_BYTES, Unrecorded, failed, newFile } from './record.js'

const FILE_BYTES = 2 * SLOT_BYTES
/** Where units of one host share lock files. hier(7) */
const LOCK_DIR = '/run/lock'
const TRIES = 8
const NO_FILE = 'NO_FILE'
const NO_LOCKS = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'ELOOP', 'ERR_ACCESS_DENIED', NO_FILE]
/** What a restart of the machine or of the container may empty, and what other hosts write. */
const EPHEMERAL = /^(overlay|aufs|tmpfs|ramfs|fuse\.fuse-overlayfs)$/
const NETWORKS =
  'nfs cifs smb 9p ceph lustre gpfs afs coda ncp ocfs2 gfs2 acfs beegfs orangefs panfs snfs vboxsf prl_fs vmhgfs ' +
  'fuse\\.'
const NETWORK = new RegExp(`^(${NETWORKS.replaceAll(' ', '|')})`)

/**
 * The store of these settings.
 *
 * @param {object} settings
 * @param {object} system `{ flock(path), variable, surroundings }`: `flock` opens and locks a file without a wait, and
 *   returns `{ close() }`, null if it is locked, and throws where it cannot
 */
export function fileStore(settings, system) {
  const { directory, named } = stateDir(settings, system)
  const place = path.join(directory, settings.name)
  if (!settings.persist) return new FileStore(settings, system, place, true)
  const kind = openDirectory(place, settings)
  if (settings.isRange && !settings.exclusiveRange) refuseRange(place, named, system)
  const store = new FileStore(settings, system, place, EPHEMERAL.test(kind))
  // In the layers of a container a copy of a file can have its identity; a network has a clock of its own.
  store.tellsCopies = kind === 'tmpfs' || !(EPHEMERAL.test(kind) || NETWORK.test(kind))
  return store
}

/** The sub-directory of an id space in the state directory, which is made if it is missing. */
export function idSpace(settings, system) {
  const place = path.join(stateDir(settings, system).directory, settings.name)
  openDirectory(place, settings)
  return place
}

/** Makes a directory; returns its file system. */
function openDirectory(place, { sharedFs }) {
  makeDirectory(place)
  const kind = fileSystem(place)
  if (!EPHEMERAL.test(kind) && NETWORK.test(kind) && !sharedFs) {
    const message =
      `${place} is on ${kind}, a network file system, where two hosts may both be given one lock; set sharedFs: true ` +
      'if its locks work between all hosts that use it, or set stateDir to a local disk'
    throw fault('state_io', message)
  }
  return kind
}

const CONTAINED = 'this process has a process namespace of its own, as in a container'

/** As in the native package: where others with the same range may not see which ids are held. */
function refuseRange(place, named, { variable, lockDir = LOCK_DIR }) {
  const around = ['KUBERNETES_SERVICE_HOST', 'AWS_LAMBDA_FUNCTION_NAME', 'K_SERVICE'].find(name => variable(name))
  const because =
    (around && `${around} is set`) ||
    (!named && `others may have another state directory than ${place}: name a stateDir (LEAFID_STATE_DIR)`) ||
    (!isHost() && CONTAINED) ||
    (!isWritable(lockDir) && `no lock file can be made in ${lockDir}`)
  if (!because) return
  const message =
    `worker is a range, and ${because}; if no other container or host has this range, set exclusiveRange ` +
    '(LEAFID_EXCLUSIVE_RANGE=1); else use one worker id, or a lease'
  throw fault('invalid_argument', message)
}

/** The process namespace of the machine itself has this number. */
function isHost() {
  try {
    return fs.readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]'
  } catch {
    return false
  }
}

function isWritable(directory) {
  try {
    fs.accessSync(directory, fs.constants.W_OK | fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** As in the native package: the option, the environment, /var/lib/leafid if writable, else the user's own. */
function stateDir({ stateDir: given, persist }, { variable }) {
  if (!persist) return { directory: '', named: true }
  if (given === '' || given?.includes('\0')) wasm().refuse('stateDir', given)
  const named = given ?? variable('LEAFID_STATE_DIR') ?? variable('STATE_DIRECTORY')?.split(':')[0]
  if (named !== undefined) return { directory: path.resolve(named), named: true }
  const shared = '/var/lib/leafid'
  if (isWritable(shared) || (!fs.existsSync(shared) && isWritable(path.dirname(shared)))) {
    return { directory: shared, named: false }
  }
  const home = variable('XDG_STATE_HOME') ?? (variable('HOME') && path.join(variable('HOME'), '.local/state'))
  if (home) return { directory: path.join(home, 'leafid'), named: false }
  throw fault('state_io', `${shared} is not writable and the user has no home directory; set stateDir`)
}

function makeDirectory(place) {
  try {
    fs.mkdirSync(place, { recursive: true, mode: 0o750 })
  } catch (error) {
    throw failed('make', place, error)
  }
}

/** The type of the mount of a directory: of the mount points above it the longest one, and of those the last. */
function fileSystem(directory) {
  const real = fs.realpathSync(directory)
  let [best, longest] = ['', -1]
  for (const line of fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [before, after] = line.split(' - ')
    const point = before.split(' ')[4]?.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)))
    if (!after || point === undefined || point.length < longest) continue
    if (real === point || real.startsWith(point.endsWith('/') ? point : `${point}/`)) {
      [best, longest] = [after.split(' ')[0], point.length]
    }
  }
  return best
}

class FileStore {
  sync = true
  others = 'another process of this host'
  /** Whether a copy of a file in this directory is noticed. */
  tellsCopies = false
  #settings
  #system

  constructor(settings, system, place, forgets) {
    this.#settings = settings
    this.#system = system
    this.place = place
    this.label = `state directory ${place}`
    this.forgets = forgets
    this.key = settings.persist ? identity(fs.statSync(place)) : 'none'
  }

  path(workerId) {
    return path.join(this.place, `worker-${workerId}.state`)
  }

  peek(workerId) {
    const file = this.path(workerId)
    try {
      return fs.readFileSync(file)
    } catch (error) {
      if (error.code === 'ENOENT') return null
      throw failed('read', file, error)
    }
  }

  lock(workerId) {
    const { persist, name } = this.#settings
    const host = this.#hostLock(name, workerId, !persist)
    if (host === null) return null
    if (!persist) {
      return { lost: null, file: new Unrecorded(newFile(this.#settings, workerId)), release: () => host.release() }
    }
    let held = null
    try {
      held = this.#lockRecord(workerId)
    } finally {
      if (held === null) host.release()
    }
    if (held === null) return null
    const release = () => {
      held.release()
      host.release()
    }
    return { lost: null, file: held.file, release }
  }

  /** Locks the record, after its lock has been seen to lock. */
  #lockRecord(workerId) {
    const file = this.path(workerId)
    try {
      if (!fs.existsSync(file)) create(file, newFile(this.#settings, workerId), 0o640)
      // Also for one who was killed before its name was durable.
      syncDirectories(path.dirname(file))
      const lock = this.#system.flock(file)
      if (lock === null) return null
      const second = this.#system.flock(file)
      if (second !== null) {
        second.close()
        lock.close()
        throw new Error('its lock was granted twice: the locks of this file system do not work')
      }
      const opened = new LockedFile(file)
      const release = () => lock.close()
      if (opened.isInPlace(lock.id)) return { file: opened, release }
      opened.close()
      release()
      throw new Error('it was replaced while it was opened')
    } catch (error) {
      throw error.code?.startsWith?.('ERR_LEAFID') ? error : failed('open', file, error)
    }
  }

  /** The lock file of a worker id, for all state directories of this host. `needed`: there is no other lock. */
  #hostLock(name, workerId, needed) {
    const { lockDir = LOCK_DIR } = this.#system
    const file = path.join(lockDir, `leafid-${name}-${workerId}.lock`)
    let error = new Error('other processes make and remove it all the time')
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        const lock = this.#tryHostLock(file)
        if (lock !== undefined) return lock
      } catch (thrown) {
        if (thrown.code?.startsWith?.('ERR_LEAFID')) throw thrown
        // The last holder removed it meanwhile.
        if (thrown.code === 'ENOENT' && fs.existsSync(lockDir)) continue
        error = thrown
        break
      }
    }
    // On many systems only root may write there: the record's own lock is then the only one.
    if (!needed && hasNoLocks(error)) return { release() {} }
    const advice = needed ? '; use a record: persist: true' : ''
    throw fault('state_io', `worker id ${workerId} cannot be locked: no lock file ${file} (${error.message})${advice}`)
  }

  /** A lock, null if another process holds it, undefined if the file was removed meanwhile. */
  #tryHostLock(file) {
    if (!fs.existsSync(file)) create(file, new Uint8Array(), 0o444)
    if (!fs.lstatSync(file).isFile()) throw Object.assign(new Error('the path is not a file'), { code: NO_FILE })
    const lock = this.#system.flock(file)
    if (lock === null) return null
    if (!isAt(file, lock.id)) {
      lock.close()
      return undefined
    }
    const release = () => {
      try {
        if (isAt(file, lock.id)) fs.rmSync(file, { force: true })
      } catch {
        // A file of another user stays.
      }
      lock.close()
    }
    return { release }
  }
}

/** Whether nobody can lock a file there, or this user may not. Deno's error has a name. */
const hasNoLocks = ({ code, name }) => NO_LOCKS.includes(code) || name === 'NotCapable'

const identity = ({ dev, ino }) => `${dev}:${ino}`

function isAt(file, id) {
  const found = fs.lstatSync(file, { throwIfNoEntry: false, bigint: true })
  return found !== undefined && identity(found) === id
}

/** Opens a file for a lock: its descriptor, and which file it is. */
export function openFor(file) {
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)
  return { fd, id: identity(fs.fstatSync(fd, { bigint: true })) }
}

/** Makes a file that is whole before it has its name. Whoever links it first has made it: returns whether this did. */
export function create(file, bytes, mode) {
  const fresh = path.join(path.dirname(file), `.new-${random128()}`)
  const fd = fs.openSync(fresh, 'wx', mode)
  try {
    writeAll(fd, bytes, 0)
    fs.fchmodSync(fd, mode)
    fs.fsyncSync(fd)
    fs.linkSync(fresh, file)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  } finally {
    fs.closeSync(fd)
    fs.rmSync(fresh, { force: true })
  }
}

function writeAll(fd, bytes, at) {
  for (let written = 0; written < bytes.length; ) {
    written += fs.writeSync(fd, bytes, written, bytes.length - written, at + written)
  }
}

/** Makes the names in a directory, and in those above, survive a power cut. */
export function syncDirectories(directory) {
  for (let [each, left] = [directory, 4]; left > 0; [each, left] = [path.dirname(each), left - 1]) {
    try {
      const fd = fs.openSync(each, 'r')
      try {
        fs.fsyncSync(fd)
      } finally {
        fs.closeSync(fd)
      }
    } catch (error) {
      if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error
    }
  }
}

export class LockedFile {
  #path
  #fd

  constructor(file) {
    this.#path = file
    this.#fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_NOFOLLOW)
  }

  /** Whether this file is still at its path, and is the one that was locked. */
  isInPlace(locked) {
    const id = identity(fs.fstatSync(this.#fd, { bigint: true }))
    return (locked === undefined || locked === id) && isAt(this.#path, id)
  }

  read() {
    const bytes = new Uint8Array(FILE_BYTES + 1)
    let filled = 0
    while (filled < bytes.length) {
      const more = fs.readSync(this.#fd, bytes, filled, bytes.length - filled, filled)
      if (more === 0) break
      filled += more
    }
    return bytes.subarray(0, filled)
  }

  /** Which file it is, when the kernel changed it last, and what other users may do with it. */
  facts() {
    const found = fs.fstatSync(this.#fd, { bigint: true })
    const [device, inode] = [found.dev, found.ino].map(number => BigInt.asIntN(64, number))
    return { id: identity(found), device, inode, changedMs: Number(found.ctimeMs), others: Number(found.mode) & 0o077 }
  }

  write(slot, bytes, check) {
    check(this.isInPlace() ? this.read() : null)
    writeAll(this.#fd, bytes, slot * SLOT_BYTES)
    fs.fdatasyncSync(this.#fd)
  }

  close() {
    fs.closeSync(this.#fd)
  }
}
