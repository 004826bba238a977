// The worker of workerd.test.mjs.

import { DurableObject } from 'cloudflare:workers'
import * as leafid from 'leafid/wasm'
import * as publicIds from 'leafid/wasm/public-ids'
import { checkPublicIds, checkVectors } from './node/vectors.mjs'
import { withoutSync } from './without_sync.mjs'

const sleep = ms => new Promise(done => setTimeout(done, ms))

/** An id, or none where the span ended since the clock went on last. */
function tried(flake) {
  try {
    return flake.nextString()
  } catch (error) {
    if (error.code !== 'ERR_LEAFID_WOULD_BLOCK') throw error
  }
}

/** The first `count` ids, or more for a time; the error that ended them. */
async function issue(flake, { count, ms = 0 }) {
  const ids = []
  try {
    for (const end = Date.now() + ms; ids.length < count || Date.now() < end; ) {
      await flake.ready()
      const id = tried(flake)
      if (id) ids.push(id)
      // The clock stands still in between.
      if (!id || ids.length % 20 === 0) await sleep(1)
    }
  } catch ({ code, message }) {
    return { ids, code, message }
  }
  return { ids }
}

const failed = ({ code, message }) => ({ ids: [], code, message })

export class Ids extends DurableObject {
  #open = new Map()

  async fetch(request) {
    const { options, deletes, unsynced, ...given } = await request.json()
    const storage = unsynced ? withoutSync(this.ctx.storage) : this.ctx.storage
    const key = JSON.stringify(options)
    const worker = options.worker === 'function' ? () => 7 : options.worker
    const opening = this.#open.get(key) ?? leafid.Snowflake.open({ ...options, worker, storage })
    this.#open.set(key, opening)
    try {
      const flake = await opening
      if (deletes) await this.ctx.storage.deleteAll()
      return Response.json(await issue(flake, given))
    } catch (error) {
      this.#open.delete(key)
      return Response.json(failed(error))
    }
  }
}

let isolate = null
let released = 0

/** Leases worker id 5 for a second each time. */
const leases = {
  claim: async () => ({ workerId: 5, fromMs: Date.now(), untilMs: Date.now() + 1000, leaseMs: 1000, token: 'a' }),
  renew: async () => Date.now() + 1000,
  release: () => void released++,
}

export default {
  async fetch(request, env) {
    const [, what, name] = new URL(request.url).pathname.split('/')
    if (what === 'object') return env.IDS.get(env.IDS.idFromName(name)).fetch(request)
    const given = await request.json()
    if (what === 'vectors') return Response.json({ checked: checkVectors(leafid, given) })
    if (what === 'public-ids') return Response.json({ checked: checkPublicIds(publicIds, given) })
    try {
      if (what === 'key') return Response.json({ publicId: String(new publicIds.PublicIds(given.source, 0).encrypt(1)) })
      if (what === 'leases') {
        const flake = await leafid.Snowflake.open({ worker: leases })
        const found = await issue(flake, given)
        flake.close()
        return Response.json({ ...found, released })
      }
      if (what === 'function') given.options.worker = () => 5
      isolate ??= await leafid.Snowflake.open(given.options)
      return Response.json(await issue(isolate, given))
    } catch (error) {
      return Response.json(failed(error))
    }
  },
}
