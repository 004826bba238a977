// leafid/wasm/inline in browsers: the module is text in this program, for bundles of one file and for service workers.

import { useBrowser } from './browser_platform.js'
import { bytes } from './leafid.wasm.js'
import { begin } from './module.js'

useBrowser()
begin(new WebAssembly.Module(bytes()))

export * from './api.js'
