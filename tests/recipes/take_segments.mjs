// As take_segments.py: take_segments.mjs RECIPE IDS END SECONDS.
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Segments } from 'leafid'
import { made } from './made.mjs'

const [recipe, ids, end, seconds] = process.argv.slice(2)
const fetch = await made(recipe)
const deadline = performance.now() + Number(seconds) * 1000

const segments = new Segments({ fetch, persist: false, step: 10, adaptive: false })
const order = segments.tag('order')
while (!existsSync(end) && performance.now() < deadline) {
  try {
    const taken = await order.take(10)
    appendFileSync(ids, `${[...taken].join('\n')}\n`)
  } catch (error) {
    if (!error.retry) throw error
    console.error(error.message)
    await sleep(50)
  }
}
process.exit(0)
