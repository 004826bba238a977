// Refusals of values.

import { wasm } from './module.js'

export { inspected } from './shown.js'

/** Throws `invalid_argument` for a value; `allowed` is by default the module's text for the option. */
export const refuse = (name, value, allowed) => wasm().refuse(name, value, allowed)

/** As `refuse`, with the name and the value as the message shows them. */
export const refuseText = (name, text, allowed) => wasm().refuseText(name, text, allowed)

/** Refuses an option that is none of those known, a text of names. */
export const refuseUnknown = (name, known) => wasm().call('refuse_unknown', name, known)
