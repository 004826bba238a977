// As made.py. `end` ends what is not the package's.
import { readFileSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { dirname } from 'node:path'

const require = createRequire(import.meta.url)
let own

export async function made(described) {
  const recipe = JSON.parse(described)
  const name = `leafid/${recipe.module.replace('.', '/')}`
  const module = recipe.changes.length > 0 ? changed(name, recipe.changes) : await import(name)
  if (recipe.own) own = await client(recipe.url, recipe.own)
  return (module.leases ?? module.source)(own ?? recipe.url, recipe.options)
}

/** Of ioredis, or a pool. */
async function client(url, kind) {
  if (kind === 'Pool') return new (await import('pg')).default.Pool({ connectionString: url })
  const { Redis } = await import('ioredis')
  return new Redis(url).on('error', () => {})
}

export const end = () => own?.disconnect?.()

function changed(name, changes) {
  const path = require.resolve(name)
  let code = readFileSync(path, 'utf8')
  for (const [old, better] of changes) {
    if (!code.includes(old)) throw new Error(`${name} has no ${old}`)
    code = code.replaceAll(old, () => better)
  }
  const module = new Module(path)
  module.filename = path
  module.paths = Module._nodeModulePaths(dirname(path))
  module._compile(code, path)
  return module.exports
}
