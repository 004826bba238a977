// A program that issues ids, once at least, until a command stops it or its time is over, in Node, Bun and Deno. It
// prints a line of JSON with its worker id or its error, then lines of ids, then the error that ended it.
//
//   issue.mjs {"options", "ms", "package", "shiftMs", "leapMs", "stopUntil", "patient", "leaseMs", "renewals"}
//
// With leaseMs an object leases worker id 7 for so long each time; it says in the end how often it was asked for what.
// With renewals it goes on until there were so many.
// The clock is shifted by shiftMs, and leaps by leapMs for the second third of the time. After the first ids the thread
// stops until there is the file stopUntil, as a machine does that sleeps.
// A patient one goes on after errors that pass.

import { existsSync, writeSync } from 'node:fs'

const { options, ms = 300, package: name = 'leafid/wasm', shiftMs = 0, leapMs = 0, ...more } = JSON.parse(process.argv[2])
const { stopUntil = '', patient = false, leaseMs = 0, renewals = 0 } = more
const say = line => void writeSync(1, `${line}\n`)
const { Date } = globalThis
const realNow = Date.now.bind(Date)
let leap = 0
if (shiftMs || leapMs) Date.now = () => realNow() + shiftMs + leap

const { Snowflake } = await import(name)
const sleep = time => new Promise(done => setTimeout(done, time))

const called = { claim: 0, renew: 0, release: 0 }
if (leaseMs) {
  const until = () => Date.now() + leaseMs
  options.worker = {
    claim: async () => (called.claim++, { workerId: 7, fromMs: Date.now(), untilMs: until(), leaseMs, token: 'a' }),
    renew: async ({ token }) => (called.renew++, { untilMs: until(), token: `${token}a` }),
    release: ({ token }) => void (called.release += Number(token === 'a'.repeat(called.renew + 1))),
  }
}

async function issue() {
  const flake = await Snowflake.open(options)
  say(JSON.stringify({ workerId: flake.workerId }))
  const begun = realNow()
  const end = begun + ms
  let [stops, issued] = [stopUntil !== '', false]
  while (realNow() < end || !issued || called.renew < renewals) {
    const third = Math.floor((3 * (realNow() - begun)) / ms)
    leap = third === 1 ? leapMs : 0
    try {
      say(flake.take(20).join(' '))
      issued = true
      while (stops && !existsSync(stopUntil)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
      stops = false
    } catch (error) {
      if (error.code !== 'ERR_LEAFID_WOULD_BLOCK' && !(patient && error.retry)) throw error
    }
    await sleep(1)
  }
  const { claims } = flake.stats()
  flake.close()
  say(JSON.stringify(leaseMs ? called : { claims }))
}

await issue().catch(({ code, message }) => say(JSON.stringify({ code, message })))
