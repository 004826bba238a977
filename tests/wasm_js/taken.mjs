// Takes ids in Node, in pages and in workerd.

const UNAVAILABLE = 'ERR_LEAFID_SEGMENT_UNAVAILABLE'

/** So many ids of a tag, however late; or the error of its source, once that has failed. */
export async function taken(order, count) {
  for (;;) {
    try {
      return { ids: [...(await order.take(count, { timeoutMs: 300 }))].map(String) }
    } catch ({ code, message }) {
      if (code !== UNAVAILABLE || order.stats().failures > 0) return { ids: [], code, message }
    }
  }
}
