import { Snowflake, decode } from 'leafid'

const flake = new Snowflake({ worker: { first: 0, last: 31 } })

const id = flake.next()
const parts = decode(id)
console.log(`${id} made at ${parts.time.toISOString()} by worker ${parts.workerId}`)

const ids = flake.take(1000)
console.log(`${ids.length} more, ${ids[0]} to ${ids[999]}`)
flake.close()
