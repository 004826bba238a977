// leafid/wasm/public-ids in workerd (Cloudflare Workers).

import compiled from './leafid-public-ids.wasm'
import { begin } from './public_ids_core.js'

begin(compiled, {
  // With the flag nodejs_compat it has the variables and secrets of the worker.
  variable: name => globalThis.process?.env?.[name],
  file() {
    throw new Error('workerd has no files')
  },
})

export { LeafidError } from './errors.js'
export { PublicIds } from './public_ids.js'
