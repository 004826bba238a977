// A program that issues ids of a tag until it is killed or its time is over, in Node, Bun and Deno. It prints lines of
// ids; an error is `error CODE`, and it goes on.
//
//   issue_segments.mjs {"servers", "options", "ms", "package"}

import { writeSync } from 'node:fs'

const { servers, options, ms, package: name = 'leafid/wasm' } = JSON.parse(process.argv[2])
const { Segments } = await import(name)
const ids = new Segments(servers, options)
const order = ids.tag('order')
const end = Date.now() + ms
while (Date.now() < end) {
  const line = await order.take(7).then(
    taken => taken.join(' '),
    error => `error ${error.code}`,
  )
  writeSync(1, `${line}\n`)
  await new Promise(done => setTimeout(done, 2))
}
ids.close()
