// How messages show values.

/** What an existing id is given as. */
export const ID = 'a bigint from 0 to 9223372036854775807n, its decimal digits as a string, or a number below 2^53'

/** Without a call of the user's code. The module cuts it, and hides the password of a URL. */
export function shown(value) {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return '[Function]'
  if (typeof value === 'symbol') return '[Symbol]'
  if (Array.isArray(value)) return `[Array of ${value.length}]`
  if (typeof value === 'object' && value !== null) return '[Object]'
  return Object.is(value, -0) ? '-0' : String(value)
}

/** As `shown`, of a record with its fields, of a text in it its kind: it may be a secret. */
export function inspected(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return shown(value)
  const properties = Object.entries(Object.getOwnPropertyDescriptors(value))
  const fields = properties.map(([name, { value }]) => `${name}: ${typeof value === 'string' ? '[string]' : shown(value)}`)
  return `{ ${fields.slice(0, 8).join(', ')} }`
}
