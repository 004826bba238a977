import { Snowflake, decode } from 'leafid'

const flake = new Snowflake()

const id = flake.next()
const parts = decode(id)
console.log(`${id} made at ${parts.time.toISOString()} by worker ${parts.workerId}`)

const ids = flake.take(1000)
console.log(`${ids.length} more, ${ids[0]} to ${ids[999]}`)
flake.close()
