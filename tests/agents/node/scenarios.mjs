// The agent in Node of ../../scenarios/play.py, which lists its commands. LEAFID_PROJECT has leafid in its node_modules.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const require = createRequire(join(process.env.LEAFID_PROJECT, 'agent.js'))
const { LeafidError, Segments, Snowflake, setLogger } = await import(pathToFileURL(require.resolve(process.env.LEAFID_ENTRY ?? 'leafid')))

const [opened, asked, aborts] = [new Map(), new Map(), new Map()]
let calls = 0

const shown = (_, value) => (typeof value === 'bigint' ? String(value) : value)
const say = (is, message) => process.stdout.write(`${JSON.stringify({ is, ...message }, shown)}\n`)
const camel = name => name.replace(/_./g, at => at[1].toUpperCase())
const snake = name => name.replace(/[A-Z]/g, at => `_${at.toLowerCase()}`)
const named = (fields, name) => fields && Object.fromEntries(Object.entries(fields).map(([key, value]) => [name(key), value]))

/** Answered by the player. */
const ask = (handle, asks, sent) =>
  new Promise((give, refuse) => {
    asked.set(++calls, { give, refuse })
    say('asks', { call: calls, handle, asks, sent: named(sent, snake) })
  })

/** The functions of the options. */
const functions = handle => ({
  async fetch(tag, step, after) {
    const gives = await ask(handle, 'fetch', { tag, step, after: Number(after) })
    return named(gives, name => name) && Object.fromEntries(Object.entries(gives).map(([name, value]) => [name, BigInt(value)]))
  },
  worker: (name, previous) => ask(handle, 'claim', { name, previous }),
  peerTimes: () => ask(handle, 'peer_times', {}),
})

const leases = handle => ({
  claim: async request => named(await ask(handle, 'claim', request), camel),
  renew: async ({ workerId, token }, untilMs) => named(await ask(handle, 'renew', { workerId, token, untilMs }), camel),
  release: ({ workerId, token }, untilMs) => ask(handle, 'release', { workerId, token, untilMs }),
})

function chosen(handle, options) {
  const value = (name, said) => (said === '<function>' ? functions(handle)[name] : said === '<leases>' ? leases(handle) : said)
  return Object.fromEntries(Object.entries(options).map(([name, said]) => [camel(name), value(camel(name), said)]))
}

const told = error => {
  if (!(error instanceof LeafidError)) throw error
  return { code: error.code.replace('ERR_LEAFID_', '').toLowerCase(), text: error.message }
}

async function open({ handle, of, options }) {
  const { servers, ...given } = chosen(handle, options)
  const made = of === 'snowflake' ? Snowflake.open(given) : servers ? Segments.open(servers, given) : Segments.open(given)
  opened.set(handle, await made)
  return { worker_id: opened.get(handle).workerId }
}

async function take({ by, handle, count, tag, timeout_ms: timeoutMs }) {
  const its = opened.get(handle)
  if (tag === null) return { ids: await patiently(() => its.take(count)) }
  const [from, abort] = [its.tag(tag), new AbortController()]
  aborts.set(by, abort)
  const waiting = () => its.stats().tags.find(each => each.tag === tag)?.waiting ?? 0
  const before = waiting()
  let ended = false
  const call = from.take(count, { timeoutMs, signal: abort.signal }).finally(() => (ended = true))
  call.catch(() => {})
  while (!ended && waiting() <= before) await new Promise(done => setTimeout(done, 1))
  say('begun', { by })
  return { ids: Array.from(await call) }
}

/** The JavaScript thread may not wait: it asks again. */
async function patiently(call) {
  for (;;) {
    try {
      return Array.from(call())
    } catch (error) {
      if (error.code !== 'ERR_LEAFID_WOULD_BLOCK') throw error
      await new Promise(done => setTimeout(done, 5))
    }
  }
}

function tryIt({ handle, tag }) {
  const id = opened.get(handle).tag(tag).tryNext()
  return id === undefined ? { code: 'would_block' } : { ids: [id] }
}

function stats({ handle, tag }) {
  const its = opened.get(handle).stats()
  const fields = named(tag ? its.tags.find(each => each.tag === tag) : its, snake)
  return { ...fields, last_error: fields.last_error?.message ?? fields.last_error }
}

function answer({ call, gives, fails, code, text }) {
  const { give, refuse } = asked.get(call)
  asked.delete(call)
  if (code) refuse(new LeafidError(`ERR_LEAFID_${code.toUpperCase()}`, text))
  else if (fails) refuse(new Error(fails))
  else give(gives)
}

async function obey(words) {
  const { by, handle } = words
  const ends = async (is, call) => {
    const end = await Promise.resolve().then(call).catch(told)
    if (!aborts.get(by)?.signal.aborted) say(is, { ...(by ? { by } : { handle }), ...end })
  }
  switch (words.do) {
    case 'open': return ends('opened', () => open(words))
    case 'take': return ends('got', () => take(words))
    case 'try': return ends('got', () => tryIt(words))
    case 'close': return ends('closed', () => opened.get(handle).close())
    case 'leave': return aborts.get(by)?.abort(new LeafidError('ERR_LEAFID_CLOSED', 'it left'))
    case 'stats': return say('stats', { handle, fields: stats(words) })
    case 'answer': return answer(words)
    case 'sync': return say('synced', {})
  }
}

process.on('warning', ({ message }) => say('log', { level: 'warn', text: message }))
setLogger(({ level, message }) => say('log', { level, text: message }), 'info')
// What a number of JavaScript's cannot hold.
const big = line => JSON.parse(line.replace(/(?<=[[ ,:])\d{16,}(?=[\],}])/g, '"$&"'))
for await (const line of createInterface({ input: process.stdin })) void obey(big(line))
