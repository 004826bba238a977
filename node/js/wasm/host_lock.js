// A worker id is locked on this host by an abstract Unix socket, with the name that the native package gives it. Linux
// has such sockets. Who has another network, as a container, does not see it.

import net from 'node:net'
import { random64 } from './module.js'

function bound(name) {
  if (process.platform !== 'linux') return null
  const server = net.createServer(connection => connection.destroy())
  // Whether it was bound is known before this says why not.
  server.on('error', () => {})
  try {
    server.listen({ path: `\0leafid/${name}`, exclusive: true })
  } catch {
    return null
  }
  server.unref()
  return server.listening ? server : null
}

/** Locks a worker id: `{ release() }`, null if it is held, undefined if nothing can be locked here. */
export function hostLock(name, workerId) {
  const held = bound(`${name}/${workerId}`)
  if (held) return { release: () => void held.close() }
  // An unused name tells both apart.
  const other = bound(`seen/${random64()}${random64()}`)
  other?.close()
  return other ? null : undefined
}
