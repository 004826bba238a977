// Segments of leafid/wasm in Chromium: tabs of one origin share the marks of their tags.

import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { assertDistinct, here, launch, load, site } from './support.mjs'
import { fakeServer } from './node/fake-server.mjs'
import { PATIENT } from './node/support.mjs'

const package_ = join(here, 'node_modules/leafid')
const REGRESSED = 'ERR_LEAFID_SEGMENT_REGRESSED'

/** Code of every page. */
const IN_PAGE = `
  const leafid = await import('/wasm/browser.js')
  const { taken } = await import('/taken.mjs')
  globalThis.segments = (...given) => (globalThis.ids = new leafid.Segments(...given))
  globalThis.taken = n => taken(ids.tag('order'), n)`

let browser
before(async () => {
  copyFileSync(join(here, 'taken.mjs'), join(package_, 'taken.mjs'))
  browser = await launch()
})
after(() => browser.close())

/** Pages of one profile: `page()` makes one. `target` is a server below /api/. */
async function profile(t, target) {
  const url = await site(t, package_, target)
  const context = await browser.newContext()
  t.after(() => context.close())
  const page = async () => {
    const page = await context.newPage()
    await page.goto(url)
    await load(page, IN_PAGE)
    return page
  }
  return { url, page }
}

/** Opens segments from a server in a page. */
const open = (page, url, options) => page.evaluate(given => void globalThis.segments(...given), [url, options])
/** Opens segments whose function gives these ranges, the last one again and again. */
const giving = (page, ...ranges) =>
  page.evaluate(ranges => {
    const fetch = () => {
      const [start, end] = ranges.length > 1 ? ranges.shift() : ranges[0]
      return { start, end }
    }
    globalThis.segments({ step: 10, fetch })
  }, ranges)
const taken = (page, n) => page.evaluate(n => globalThis.taken(n), n)
const numbers = ids => ids.map(BigInt)

test('tabs with one tag of a server: no id twice, in each protocol', async t => {
  const { url: target } = await fakeServer(t)
  for (const protocol of ['range', 'leaf', 'leaf-snowflake']) {
    const { url, page } = await profile(t, target)
    const pages = await Promise.all([page(), page(), page()])
    await Promise.all(pages.map(page => open(page, url, { protocol, name: protocol, step: 20, requestTimeoutMs: PATIENT })))
    const runs = []
    for (let round = 0; round < 3; round++) runs.push(...(await Promise.all(pages.map(page => taken(page, 60)))))
    assert.deepEqual(runs.filter(({ code }) => code), [])
    assertDistinct(runs.flatMap(({ ids }) => numbers(ids)))
  }
})

test('a range that another tab was given is refused, also at the same moment, after a reload, and after a crash', async t => {
  const { page } = await profile(t)
  const [one, other] = await Promise.all([page(), page()])
  await Promise.all([giving(one, [1, 11]), giving(other, [1, 11])])
  const both = await Promise.all([taken(one, 5), taken(other, 5)])
  assert.deepEqual(both.map(({ code }) => code ?? null).sort(), [REGRESSED, null].sort())
  await Promise.all([one.reload(), other.close()])
  for (const [range, code] of [[[5, 15], REGRESSED], [[11, 21], undefined], [[20, 30], REGRESSED]]) {
    const fresh = await page()
    await giving(fresh, range)
    assert.equal((await taken(fresh, 5)).code, code, range.join())
    await fresh.close({ runBeforeUnload: false })
  }
  const crashed = await page()
  await giving(crashed, [21, 31])
  assert.deepEqual((await taken(crashed, 2)).ids, ['21', '22'])
  const session = await crashed.context().newCDPSession(crashed)
  await Promise.race([session.send('Page.crash').catch(() => {}), crashed.waitForEvent('crash')])
  const last = await page()
  await giving(last, [21, 31])
  assert.equal((await taken(last, 2)).code, REGRESSED)
})

test('storage that is cleared while a page is open: the page still knows what it was given', async t => {
  const { url, page } = await profile(t)
  const one = await page()
  await giving(one, [1, 11], [11, 21], [1, 11])
  const texts = (first, last) => Array.from({ length: last - first + 1 }, (_, at) => `${first + at}`)
  assert.deepEqual((await taken(one, 12)).ids, texts(1, 12))
  const session = await one.context().newCDPSession(one)
  await session.send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'all' })
  assert.deepEqual((await taken(one, 8)).ids, texts(13, 20))
  const codes = []
  for (let n = 0; n < 3; n++) codes.push((await taken(one, 1)).code)
  assert.ok(codes.every(Boolean) && codes.at(-1) === REGRESSED, codes.join())
})

test('a mark that cannot be stored is an error, and no id', async t => {
  const { page } = await profile(t)
  const one = await page()
  await one.evaluate(() => {
    const { put } = IDBObjectStore.prototype
    globalThis.repair = () => (IDBObjectStore.prototype.put = put)
    IDBObjectStore.prototype.put = function () {
      throw new DOMException('as if it were full', 'QuotaExceededError')
    }
  })
  await giving(one, [1, 11])
  const { code, message } = await taken(one, 1)
  assert.equal(code, 'ERR_LEAFID_STATE_IO')
  assert.match(message, /free some space/)
  await one.evaluate(() => globalThis.repair())
  await giving(one, [1, 11])
  assert.deepEqual((await taken(one, 1)).ids, ['1'])
})

test('an origin that a server does not allow is an error that says so', async t => {
  const { url: target } = await fakeServer(t)
  const { page } = await profile(t)
  const one = await page()
  await open(one, target, { protocol: 'range' })
  const { code, message } = await taken(one, 1)
  assert.equal(code, 'ERR_LEAFID_SEGMENT_UNAVAILABLE')
  assert.match(message, /whether it allows this origin \(CORS\)/)
})
