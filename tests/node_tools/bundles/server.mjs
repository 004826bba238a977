// A server that is bundled: ids of both kinds, as text.

import { Segments, Snowflake, decode } from 'leafid'

const flake = new Snowflake({ worker: { first: 0, last: 31 }, name: `bundle-${process.pid}`, exclusiveRange: true })
const segments = new Segments({ fetch: async (tag, step) => ({ start: 1, end: 1 + step }), persist: false })

segments.tag('order').next().then(number => {
  const id = flake.next()
  console.log(JSON.stringify({ id: String(id), workerId: decode(id).workerId, number: Number(number) }))
  flake.close()
  segments.close()
})
