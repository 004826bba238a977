// As take_leases.py: take_leases.mjs RECIPE IDS END SECONDS NUMBER.
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Snowflake } from 'leafid'
import { made } from './made.mjs'

const [recipe, ids, end, seconds, number] = process.argv.slice(2)
const leases = await made(recipe)
const deadline = performance.now() + Number(seconds) * 1000
const spanMs = 2000
const lengths = (process.env.TAKE_ROUNDS ?? '1,5,200').split(',')
const more = () => !existsSync(end) && performance.now() < deadline

// The calls of the recipe, with short spans: so there are many renewals.
const worker = { ...leases, claim: request => leases.claim({ ...request, untilMs: request.nowMs + spanMs }) }
while (more()) {
  let flake
  try {
    flake = await Snowflake.open({ worker, randomStart: 0, name: `host-${number}`, stateDir: `${ids}-state` })
    const rounds = Number(lengths[Math.floor(Math.random() * lengths.length)])
    for (let round = 0; round < rounds && more(); round++) {
      appendFileSync(ids, `${[...flake.take(100)].join('\n')}\n`)
      await sleep(10)
    }
  } catch (error) {
    if (!error.retry) throw error
    console.error(error.message)
    await sleep(50)
  } finally {
    flake?.close()
  }
}
process.exit(0)
