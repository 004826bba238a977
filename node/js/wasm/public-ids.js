// leafid/wasm/public-ids in Node, Bun and Deno.

import fs from 'node:fs'
import { begin } from './public_ids_core.js'

/** More than the longest key and an end of line. */
const MOST_BYTES = 256

/** The beginning of a file. */
function file(path) {
  const opened = fs.openSync(path)
  try {
    const bytes = new Uint8Array(MOST_BYTES)
    return bytes.subarray(0, fs.readSync(opened, bytes))
  } finally {
    fs.closeSync(opened)
  }
}

const compiled = new WebAssembly.Module(fs.readFileSync(new URL('./leafid-public-ids.wasm', import.meta.url)))
begin(compiled, { variable: name => process.env[name], file })

export { LeafidError } from './errors.js'
export { PublicIds } from './public_ids.js'
