// leafid/wasm in Chromium: tabs and workers of one origin, and what happens to them.

import assert from 'node:assert/strict'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { assertDistinct, here, launch, launchProfile, load, site } from './support.mjs'
import { HANG, PATIENT, vectors } from './node/support.mjs'

const package_ = join(here, 'node_modules/leafid')
const [IN_USE, LOST, WOULD_BLOCK] = ['WORKER_IN_USE', 'WORKER_LOST', 'WOULD_BLOCK'].map(name => `ERR_LEAFID_${name}`)

/** These profiles are the only ones that have it. */
const SEVEN = { worker: 7, exclusiveRange: true }

/** Code of every page: opens, and issues ids for a time, one at least. */
const IN_PAGE = `
  globalThis.leafid = await import('/wasm/browser.js')
  const sleep = ms => new Promise(done => setTimeout(done, ms))
  const failed = ({ code, message }) => ({ code, message })
  const realNow = performance.now.bind(performance)
  globalThis.open = async options => {
    try {
      globalThis.flake = await leafid.Snowflake.open({ timeoutMs: ${PATIENT}, ...options })
      return { workerId: flake.workerId }
    } catch (error) {
      return failed(error)
    }
  }
  globalThis.issue = async (ms, last = () => false) => {
    const ids = []
    for (const end = realNow() + ms; realNow() < end || ids.length === 0; ) {
      try {
        ids.push(...[...flake.take(10)].map(String))
      } catch (error) {
        if (error.code !== '${WOULD_BLOCK}' || last(error)) return { ids, ...failed(error) }
      }
      await sleep(1)
    }
    return { ids }
  }`

/** The same in a worker, and in a shared one. A message that comes before the module is loaded waits. */
const WORKER = `
  const early = []
  let answer = (...given) => void early.push(given)
  const listen = port => (port.onmessage = ({ data }) => answer(port, data))
  listen(globalThis)
  globalThis.onconnect = ({ ports: [port] }) => listen(port)
  const load = async () => {${IN_PAGE}}
  await load()
  answer = async (port, [name, ...given]) => port.postMessage(await globalThis[name](...given))
  early.forEach(given => answer(...given))`

let browser
before(async () => {
  copyFileSync(join(here, 'node/vectors.mjs'), join(package_, 'vectors.mjs'))
  writeFileSync(join(package_, 'worker.mjs'), WORKER)
  browser = await launch()
})
after(() => browser.close())

/** A profile with pages of one origin. */
async function profile(t, newContext = () => browser.newContext()) {
  const url = await site(t, package_)
  const context = await newContext()
  t.after(() => context.close())
  const made = { url, context, page }
  /** A page; `clockMs` shifts its clock. */
  async function page(clockMs = 0) {
    const page = await context.newPage()
    page.on('pageerror', error => console.log(`in the page: ${error}`))
    await page.addInitScript(ms => {
      // The library keeps the clock that it finds when it is loaded.
      const now = Date.now.bind(Date)
      globalThis.setClock = shift => (ms = shift)
      Date.now = () => now() + ms
    }, clockMs)
    await page.goto(url)
    await load(page, IN_PAGE)
    return page
  }
  return made
}

const open = (page, options) => page.evaluate(options => globalThis.open(options), options)
const issue = (page, ms) => page.evaluate(ms => globalThis.issue(ms), ms)
const devtools = page => page.context().newCDPSession(page)

/** Ends a page's process in the middle of what it does. */
async function crash(page) {
  const crashed = new Promise(done => page.on('crash', done))
  const tools = await devtools(page)
  tools.send('Page.crash').catch(() => {})
  await crashed
}

test('the vectors of all languages', async t => {
  const page = await (await profile(t)).page()
  const given = vectors('snowflake.json')
  const checked = await page.evaluate(async given => (await import('/vectors.mjs')).checkVectors(globalThis.leafid, given), given)
  assert.ok(checked > given.valid.length)
})

test('tabs, a worker and a shared worker share a range', async t => {
  const { page } = await profile(t)
  const options = { worker: '0-7', exclusiveRange: true, name: 'range' }
  const tabs = await Promise.all([page(), page(), page()])
  const inWorkers = tabs[0].evaluate(async options => {
    const ask = (port, ...given) =>
      new Promise(done => {
        port.onmessage = ({ data }) => done(data)
        port.postMessage(given)
      })
    const dedicated = new Worker('/worker.mjs', { type: 'module' })
    const { port } = new SharedWorker('/worker.mjs', { type: 'module' })
    const run = async each => ({ ...(await ask(each, 'open', options)), ...(await ask(each, 'issue', 1500)) })
    return Promise.all([dedicated, port].map(run))
  }, options)
  const opened = await Promise.all(tabs.map(tab => open(tab, options)))
  const issued = await Promise.all(tabs.map(tab => issue(tab, 1500)))
  const all = [...(await inWorkers), ...issued]
  assert.deepEqual(all.map(({ code }) => code), [undefined, undefined, undefined, undefined, undefined])
  const workers = [...(await inWorkers), ...opened].map(({ workerId }) => workerId)
  assert.equal(new Set(workers).size, 5, workers.join())
  assertDistinct(...all.map(({ ids }) => ids))
})

test('a record of another layout is reported at the first opening of a range', async t => {
  const { page } = await profile(t)
  const options = { exclusiveRange: true, name: 'layouts' }
  const [one, range] = [await page(), await page()]
  assert.deepEqual(await open(one, { ...options, worker: 3, layout: 'js-safe' }), { workerId: 3 })
  assert.equal((await open(range, { ...options, worker: '0-7' })).code, 'ERR_LEAFID_STATE_MISMATCH')
  assert.deepEqual(await open(range, { ...options, worker: '0-2' }), { workerId: 0 })
})

test('a worker id in use is refused; after a close, a reload or a kill the next ids are above', async t => {
  const { page } = await profile(t)
  const options = SEVEN
  const runs = []
  const first = await page()
  const second = await page()
  assert.deepEqual(await open(first, options), { workerId: 7 })
  runs.push((await issue(first, 200)).ids)
  const refused = await open(second, options)
  assert.equal(refused.code, IN_USE)
  assert.match(refused.message, /IndexedDB of http:.* is held by another tab or worker of this origin/)
  await first.evaluate(() => globalThis.flake.close())
  assert.deepEqual(await open(second, options), { workerId: 7 })
  runs.push((await issue(second, 200)).ids)
  await crash(second)
  for (const end of ['close', 'kill', 'none']) {
    const next = await page()
    assert.deepEqual(await open(next, options), { workerId: 7 })
    runs.push((await issue(next, 200)).ids)
    if (end === 'close') await next.close()
    // Killed in the middle of its writes.
    if (end === 'kill') {
      next.evaluate(() => globalThis.issue(10_000)).catch(() => {})
      await crash(next)
    }
  }
  assertDistinct(...runs)
  const bounds = runs.map(ids => ids.map(BigInt).sort((a, b) => (a < b ? -1 : 1)))
  bounds.slice(1).forEach((ids, at) => assert.ok(ids[0] > bounds[at].at(-1)))
})

test('a worker that is terminated in the middle of its writes', async t => {
  const { page } = await profile(t)
  const tab = await page()
  const runs = await tab.evaluate(async () => {
    const runs = []
    for (let round = 0; round < 3; round++) {
      const worker = new Worker('/worker.mjs', { type: 'module' })
      const ask = (...given) =>
        new Promise(done => {
          worker.onmessage = ({ data }) => done(data)
          worker.postMessage(given)
        })
      const opened = await ask('open', { worker: 7, exclusiveRange: true })
      runs.push({ ...opened, ...(await ask('issue', 150)) })
      // It writes spans meanwhile.
      ask('issue', 10_000)
      await new Promise(done => setTimeout(done, 50 + 100 * round))
      worker.terminate()
    }
    return runs
  })
  assert.deepEqual(runs.map(({ workerId, code }) => [workerId, code]), [[7, undefined], [7, undefined], [7, undefined]])
  const ids = runs.map(run => run.ids.map(BigInt))
  assertDistinct(...ids)
  ids.slice(1).forEach((run, at) => assert.ok(run[0] > ids[at].at(-1)))
})

test('storage that is cleared while a tab runs: a new one has other locks, and no id comes twice', async t => {
  const { page, url } = await profile(t)
  const tab = await page()
  await open(tab, SEVEN)
  const run = issue(tab, HANG)
  await new Promise(done => setTimeout(done, 3500))
  await (await devtools(tab)).send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'all' })
  const other = await page()
  assert.deepEqual(await open(other, SEVEN), { workerId: 7 })
  const next = await issue(other, 1000)
  const { ids, code, message } = await run
  assert.equal(code, LOST, message)
  assert.match(message, /was (deleted, moved or replaced|overwritten) while worker id 7 was in use/)
  assertDistinct(ids, next.ids)
})

test('storage that is full: no id without a durable span', async t => {
  const { page, url } = await profile(t)
  const tab = await page()
  const tools = await devtools(tab)
  await tools.send('Storage.overrideQuotaForOrigin', { origin: url, quotaSize: 1 })
  const refused = await open(tab, SEVEN)
  assert.equal(refused.code, 'ERR_LEAFID_STATE_IO', refused.message)
  await tools.send('Storage.overrideQuotaForOrigin', { origin: url })
  assert.deepEqual(await open(tab, SEVEN), { workerId: 7 })
  const { ids } = await issue(tab, 300)
  assertDistinct(ids)
})

test('a clock that was set back', async t => {
  const { page } = await profile(t)
  const runs = []
  for (const clockMs of [0, -500, -2000]) {
    const tab = await page(clockMs)
    const opened = await open(tab, SEVEN)
    assert.deepEqual(opened, { workerId: 7 })
    runs.push((await issue(tab, 300)).ids)
    await tab.evaluate(() => globalThis.flake.close())
    await tab.close()
  }
  assertDistinct(...runs)
  const refused = await open(await page(-60_000), SEVEN)
  assert.equal(refused.code, 'ERR_LEAFID_CLOCK_BACKWARDS', refused.message)
})

test('a clock that is set back while a tab runs', async t => {
  const { page } = await profile(t)
  const tab = await page()
  await open(tab, SEVEN)
  const runs = [(await issue(tab, 1500)).ids]
  await tab.evaluate(() => globalThis.setClock(-1000))
  runs.push((await issue(tab, 2500)).ids)
  assertDistinct(...runs)
})

test('a lock that another script steals: the tab writes no more, and no id comes twice', async t => {
  const { page } = await profile(t)
  const [tab, thief] = [await page(), await page()]
  await open(tab, SEVEN)
  const run = issue(tab, HANG)
  await thief.evaluate(() => new Promise(done => navigator.locks.request('leafid/default/7', { steal: true }, done)))
  assert.deepEqual(await open(thief, SEVEN), { workerId: 7 })
  const stolen = await issue(thief, 1000)
  const { ids, code } = await run
  assert.equal(code, LOST)
  assert.equal(stolen.code, undefined)
  assertDistinct(ids, stolen.ids)
})

test('a frozen tab that wakes after its lock was stolen', async t => {
  const { page } = await profile(t)
  const [tab, thief] = [await page(), await page()]
  await open(tab, SEVEN)
  const before = await issue(tab, 200)
  const tools = await devtools(tab)
  await tools.send('Page.setWebLifecycleState', { state: 'frozen' })
  await thief.evaluate(() => new Promise(done => navigator.locks.request('leafid/default/7', { steal: true }, done)))
  assert.deepEqual(await open(thief, SEVEN), { workerId: 7 })
  const stolen = issue(thief, 1500)
  await new Promise(done => setTimeout(done, 300))
  await tools.send('Page.setWebLifecycleState', { state: 'active' })
  const after = await issue(tab, HANG)
  assert.equal(after.code, LOST)
  assertDistinct(before.ids, after.ids, (await stolen).ids)
})

test('an id waits until its span is durable', async t => {
  const { page } = await profile(t)
  const tab = await page()
  const found = await tab.evaluate(async hang => {
    await globalThis.open({ worker: 7, exclusiveRange: true })
    const { reservedUntilMs } = globalThis.flake.stats()
    // From now on no write is reported as done.
    const own = Object.getOwnPropertyDescriptor(IDBTransaction.prototype, 'oncomplete')
    const late = []
    Object.defineProperty(IDBTransaction.prototype, 'oncomplete', {
      set(call) {
        own.set.call(this, this.mode === 'readwrite' ? event => late.push([call, this, event]) : call)
      },
    })
    const ended = () => Date.now() > reservedUntilMs
    const { ids, code } = await globalThis.issue(hang, ended)
    const last = Math.max(...ids.map(id => globalThis.leafid.decode(id).timestampMs))
    while (late.length === 0) await new Promise(done => setTimeout(done, 1))
    Object.defineProperty(IDBTransaction.prototype, 'oncomplete', own)
    for (const [call, transaction, event] of late) call.call(transaction, event)
    await globalThis.flake.ready()
    return { reservedUntilMs, last, code, ids: [...ids, String(globalThis.flake.next())] }
  }, HANG)
  assert.equal(found.code, WOULD_BLOCK, 'the first span was used up')
  assert.ok(found.last < found.reservedUntilMs, `an id of ${found.last}, durable until ${found.reservedUntilMs}`)
  assertDistinct(found.ids)
})

test('a page that is left and comes back', async t => {
  const { page, url } = await profile(t)
  const tab = await page()
  await open(tab, SEVEN)
  const runs = [(await issue(tab, 200)).ids]
  await tab.goto(`${url}/elsewhere`)
  const other = await page()
  await open(other, SEVEN)
  runs.push((await issue(other, 200)).ids)
  await other.evaluate(() => globalThis.flake.close())
  await tab.goBack()
  const restored = await tab.evaluate(() => typeof globalThis.flake === 'object')
  if (!restored) {
    await load(tab, IN_PAGE)
    await open(tab, SEVEN)
  }
  runs.push((await issue(tab, 500)).ids)
  assertDistinct(...runs)
})

test('after a pause, ready says when ids are there; a lazy one needs it first', async t => {
  const { page } = await profile(t)
  const tab = await page()
  const found = await tab.evaluate(async () => {
    const { Snowflake } = globalThis.leafid
    const codes = []
    const thrown = call => {
      try {
        call()
      } catch ({ code }) {
        codes.push(code)
      }
    }
    thrown(() => new Snowflake({ worker: 7, exclusiveRange: true }))
    const lazy = new Snowflake({ worker: 7, exclusiveRange: true, lazy: true })
    thrown(lazy.next)
    await lazy.ready()
    const ids = [lazy.next()]
    // Its span is over by then.
    await new Promise(done => setTimeout(done, 4000))
    await lazy.ready()
    ids.push(lazy.next())
    lazy.close()
    thrown(lazy.next)
    return { codes, ids: ids.map(String) }
  })
  assert.deepEqual(found.codes, [WOULD_BLOCK, WOULD_BLOCK, 'ERR_LEAFID_CLOSED'])
  assertDistinct(found.ids)
})

test('what cannot be promised is refused, and says why', async t => {
  const { page } = await profile(t)
  const tab = await page()
  const refused = async options => (await open(tab, options)).message
  for (const worker of [7, '7', '0-3', { first: 0, last: 3 }]) {
    const stated = /worker is a (number|range), and this is a browser, where each visitor would get the same: lease .* set exclusiveRange: true/
    assert.match(await refused({ worker }), stated)
  }
  const made = await tab.evaluate(async () => {
    const worker = () => (globalThis.asked = true) && 7
    return [(await globalThis.open({ worker })).message, globalThis.asked]
  })
  assert.match(made[0], /worker is a function, and this is a browser, where each visitor may get the same: lease .* set exclusiveRange: true/)
  assert.equal(made[1], undefined, 'it was asked')
  assert.match(await refused({ ...SEVEN, stateDir: 'x' }), /stateDir is 'x'; allowed: nothing in a browser/)
  assert.match(await refused({ ...SEVEN, persist: false }), /persist is false; allowed: true in a browser/)
  assert.match(await refused({ ...SEVEN, sharedFs: true }), /it keeps no files/)
  await tab.evaluate(() => Object.defineProperty(navigator, 'locks', { value: undefined }))
  assert.match(await refused(SEVEN), /there are no Web Locks here; lease the worker id/)
})

test('two profiles with one number are refused, unless each states that it alone has it', async t => {
  const [one, other] = [await (await profile(t)).page(), await (await profile(t)).page()]
  for (const tab of [one, other]) assert.equal((await open(tab, { worker: 7 })).code, 'ERR_LEAFID_INVALID_ARGUMENT')
  const called = await one.evaluate(async () => {
    const { Snowflake } = globalThis.leafid
    return (await Snowflake.open({ worker: () => 8, exclusiveRange: true })).workerId
  })
  assert.equal(called, 8, 'a function may give each profile another one')
})

const ALL = {
  lease: { worker: 'lease' }, number: SEVEN, range: { worker: '0-3', exclusiveRange: true }, function: { worker: 'function', exclusiveRange: true },
}
const NOT_HERE = /no lease, and this page is in a frame of another origin, or in one that is credentialless or fenced/

/** A frame of a page with these attributes: `open` opens all kinds of worker ids in it, `issue` issues ids. */
async function frameOf(top, attributes) {
  const handle = await top.evaluateHandle(attributes => {
    const frame = document.createElement('iframe')
    for (const [name, value] of Object.entries(attributes)) frame.setAttribute(name, value)
    return new Promise(done => {
      frame.onload = () => done(frame)
      document.body.append(frame)
    })
  }, attributes)
  const frame = await handle.contentFrame()
  await load(frame, IN_PAGE)
  return frame
}

/** Opens each kind of worker id in a frame: the worker id, or why it was refused. */
const openAll = frame =>
  frame.evaluate(async all => {
    const untilMs = () => Date.now() + 60_000
    const claim = () => ({ workerId: 5, fromMs: Date.now(), untilMs: untilMs() })
    const sources = { lease: { claim, renew: untilMs, release() {} }, function: () => 6 }
    const found = {}
    for (const [kind, { worker, ...options }] of Object.entries(all)) {
      const { workerId, message } = await globalThis.open({ worker: sources[worker] ?? worker, name: crypto.randomUUID(), ...options })
      found[kind] = workerId ?? message
    }
    return found
  }, ALL)

async function refusesAllButLeases(frame) {
  const { lease, ...refused } = await openAll(frame)
  assert.equal(lease, 5)
  for (const kind of ['number', 'range', 'function']) assert.match(String(refused[kind]), NOT_HERE, kind)
}

test('in a frame of another site, whose storage is its own, a worker id needs a lease', async t => {
  const { page, url } = await profile(t, launchProfile)
  const top = await page()
  await top.goto(url.replace('localhost', '127.0.0.1'))
  await refusesAllButLeases(await frameOf(top, { src: url }))
})

test('in a credentialless frame of its own origin, and in frames below it, a worker id needs a lease', async t => {
  const { page, url } = await profile(t)
  const top = await page()
  const frame = await frameOf(top, { src: url, credentialless: '' })
  assert.equal(await frame.evaluate(() => globalThis.credentialless), true, 'this Chromium knows none')
  await refusesAllButLeases(frame)
  await refusesAllButLeases(await frameOf(frame, { src: `${url}/below` }))
  await refusesAllButLeases(await frameOf(top, { srcdoc: '<p>', credentialless: '' }))
})

test('in a fenced frame a worker id needs a lease', async t => {
  const { page, url } = await profile(t)
  const frame = await frameOf(await page(), { src: url })
  // As Chromium has it there: no page above is seen.
  await frame.evaluate(() => {
    globalThis.Fence ??= class Fence {}
    Object.defineProperty(globalThis, 'fence', { value: Object.create(globalThis.Fence.prototype) })
  })
  await refusesAllButLeases(frame)
})

test('frames of its own origin share the records and locks of the tab', async t => {
  const { page, url } = await profile(t)
  const top = await page()
  const range = { worker: '0-7', exclusiveRange: true }
  const frames = [top]
  // Elements with such names are none of the browser's.
  const body = '<p id=credentialless></p><p id=fence></p>'
  for (const attributes of [{ src: url }, { srcdoc: body }, {}]) frames.push(await frameOf(top, attributes))
  const workers = []
  for (const frame of frames) workers.push(await open(frame, range))
  assert.equal(new Set(workers.map(({ workerId }) => workerId)).size, frames.length, JSON.stringify(workers))
  const issued = await Promise.all(frames.map(frame => issue(frame, 500)))
  assertDistinct(...issued.map(({ ids }) => ids))
})
