// The worker of segments-workerd.test.mjs.

import { DurableObject } from 'cloudflare:workers'
import { Segments } from 'leafid/wasm'
import { taken } from './taken.mjs'
import { withoutSync } from './without_sync.mjs'

/** Takes ids of segments: from servers, or from ranges, the last one again and again. */
async function given({ servers, ranges, options, counts }) {
  const fetch = () => {
    const [start, end] = ranges.length > 1 ? ranges.shift() : ranges[0]
    return { start, end }
  }
  const all = []
  try {
    const segments = servers ? new Segments(servers, options) : new Segments({ ...options, fetch })
    for (const count of counts) {
      const { ids, ...error } = await taken(segments.tag('order'), count)
      all.push(...ids)
      if (error.code) return { ids: all, ...error }
    }
    segments.close()
    return { ids: all }
  } catch ({ code, message }) {
    return { ids: all, code, message }
  }
}

export class Ids extends DurableObject {
  async fetch(request) {
    const { concurrent = 1, options, unsynced, ...asked } = await request.json()
    const storage = unsynced ? withoutSync(this.ctx.storage) : this.ctx.storage
    const one = () => given({ ...structuredClone(asked), options: { ...options, storage } })
    return Response.json(await Promise.all(Array.from({ length: concurrent }, one)))
  }
}

export default {
  async fetch(request, env) {
    const [, what, name] = new URL(request.url).pathname.split('/')
    if (what === 'object') return env.IDS.get(env.IDS.idFromName(name)).fetch(request)
    return Response.json([await given(await request.json())])
  },
}
