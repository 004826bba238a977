// Prints what a source or leases of each of these URLs says: secrets.mjs MODULE URLS. No server is there.
import { inspect } from 'node:util'

const [module, urls] = [process.argv[2], JSON.parse(process.argv[3])]
const { source, leases } = await import(`leafid/${module.replace('.', '/')}`)
const said = error => console.log(inspect(error, { depth: 9 }).replaceAll('\n', ' '))

for (const url of urls) {
  try {
    await (source ?? leases)(url).check()
    throw new Error('it found a server')
  } catch (error) {
    said(error)
  }
}
process.exit()
