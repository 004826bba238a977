import { withLayout } from './layouts.js'
import { wasm } from './module.js'

export { existing } from './option_rules.js'

export function decoded(id, layout) {
  return withLayout(layout, handle => {
    wasm().call('decode', handle, id)
    const [timestampMs, workerId, sequence] = wasm().numbers(3)
    return { timestampMs, workerId, sequence }
  })
}

/** A call with a layout at its end. */
const called = name => (...given) => {
  const layout = given.pop()
  return withLayout(layout, handle => wasm().call(name, handle, ...given))
}

export const composed = called('compose')
export const firstAt = called('first_id_at')
export const lastAt = called('last_id_at')

export function formatted(id, form) {
  wasm().call('id_format', form, id)
  return wasm().text()
}

export const parsed = (text, form) => wasm().call('id_parse_form', form, text)
