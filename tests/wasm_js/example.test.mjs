// examples/browser in Chromium: its ids, its bits, its picture; offline, on a phone, light and dark.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { compose, decode } from 'leafid/wasm'
import { here, launch, site } from './support.mjs'

const folder = mkdtempSync(join(tmpdir(), 'leafid-example-'))

let browser
before(async () => {
  cpSync(join(process.env.LEAFID_ROOT, 'examples/browser'), folder, { recursive: true })
  cpSync(join(here, 'node_modules/leafid/wasm'), join(folder, 'leafid'), { recursive: true })
  browser = await launch()
})
after(async () => {
  await browser.close()
  rmSync(folder, { recursive: true })
})

/** Pages of one profile: `page()` makes one, which has issued an id; `asked` are all URLs. */
async function profile(t, options) {
  const url = `${await site(t, folder)}/index.html`
  const context = await browser.newContext(options)
  t.after(() => context.close())
  const [asked, failures] = [[], []]
  context.on('request', request => asked.push(request.url()))
  const page = async () => {
    const page = await context.newPage()
    page.on('pageerror', error => failures.push(String(error)))
    page.on('console', message => message.type() === 'error' && failures.push(message.text()))
    await page.goto(url)
    await page.waitForFunction(() => /^\d+$/.test(document.getElementById('id').textContent))
    return page
  }
  return { url, context, asked, failures, page }
}

const text = (page, id) => page.locator(`#${id}`).textContent()
const count = async page => Number((await text(page, 'count')).replaceAll(',', ''))

test('it makes ids, and asks no other server', async t => {
  const { url, page, asked, failures } = await profile(t)
  const one = await page()
  await one.uncheck('#steady')
  const [before, made] = [await text(one, 'id'), await count(one)]
  await one.click('#next')
  await one.waitForFunction(before => document.getElementById('id').textContent !== before, before)
  assert.ok(BigInt(await text(one, 'id')) > BigInt(before))
  await one.click('#many')
  await one.waitForFunction(() => / ms$/.test(document.getElementById('rate').textContent))
  assert.equal(await count(one), made + 100_001)
  const id = await text(one, 'id')
  assert.equal(decode(id).workerId, Number(await text(one, 'worker')))
  assert.ok(Math.abs(decode(id).timestampMs - Date.now()) < 60_000)
  const other = await page()
  assert.notEqual(await text(other, 'worker'), await text(one, 'worker'))
  const origin = new URL(url).origin
  assert.deepEqual(asked.filter(each => !each.startsWith(origin)), [])
  assert.deepEqual(failures, [])
})

test('it takes ids of every layout apart', async t => {
  const { page } = await profile(t)
  const one = await page()
  const layouts = await one.locator('#layout option').evaluateAll(all => all.map(({ value }) => value))
  assert.ok(layouts.length >= 5)
  const at = Date.UTC(2024, 1, 29, 12)
  for (const layout of layouts) {
    const id = String(compose(at, 5, 77 % 50, layout))
    await one.selectOption('#layout', layout)
    await one.fill('#typed', id)
    const cells = await one.locator('#bits i').evaluateAll(all => all.map(each => [each.textContent, each.classList[0]]))
    assert.equal(cells.length, 64)
    assert.equal(BigInt(`0b${cells.map(([bit]) => bit).join('')}`), BigInt(id), layout)
    const field = name => Number(`0b${cells.filter(([, field]) => field === name).map(([bit]) => bit).join('')}`)
    assert.deepEqual([field('worker'), field('sequence')], [5, 27], layout)
    assert.equal(await text(one, 'worker-id'), '5')
    assert.equal(await text(one, 'sequence'), '27')
    assert.match(await text(one, 'time'), /^2024-02-29 12:00:00\.000 UTC$/)
  }
  await one.fill('#typed', 'no id')
  assert.match(await text(one, 'wrong'), /^id is /)
  await one.fill('#typed', '')
  assert.equal(await one.locator('#wrong').isHidden(), true)
})

test('the picture has a row for each tab; an end and a new start are seen', async t => {
  const { page } = await profile(t)
  const [one, other] = [await page(), await page()]
  const names = page => page.locator('#spans .name').allTextContents()
  await one.waitForFunction(() => document.querySelectorAll('#spans .name').length === 2)
  await other.waitForFunction(() => document.querySelectorAll('#spans .name').length === 2)
  assert.deepEqual((await names(one)).filter(name => name.endsWith('this tab')), [`worker id ${await text(one, 'worker')}, this tab`])
  for (const kind of ['rect.span-used', 'rect.span-ahead', 'circle.ids']) await one.waitForFunction(kind => document.querySelector(`#spans ${kind}`), kind)
  await one.click('#toggle')
  await one.waitForFunction(() => document.querySelector('#spans rect.span-lost'))
  assert.equal(await text(one, 'worker'), 'none: it is closed')
  assert.equal(await one.locator('#next').isDisabled(), true)
  await one.click('#toggle')
  await one.waitForFunction(() => /^\d+$/.test(document.getElementById('worker').textContent))
  assert.notEqual(await text(one, 'worker'), await text(other, 'worker'))
})

test('it works offline', async t => {
  const { page, context } = await profile(t)
  const one = await page()
  await one.waitForFunction(() => !document.getElementById('offline').hidden)
  const before = BigInt(await text(one, 'id'))
  await context.setOffline(true)
  await one.reload()
  await one.waitForFunction(() => /^\d+$/.test(document.getElementById('id').textContent))
  assert.ok(BigInt(await text(one, 'id')) > before)
})

test('it fits a phone, in light and dark', async t => {
  const grounds = new Set()
  for (const colorScheme of ['light', 'dark']) {
    const { page } = await profile(t, { viewport: { width: 320, height: 640 }, colorScheme, hasTouch: true })
    const one = await page()
    const [width, ground] = await one.evaluate(() => [document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor])
    assert.ok(width <= 320, `${width} pixels wide`)
    grounds.add(ground)
    const low = await one.locator('button').evaluateAll(all => all.filter(each => each.getBoundingClientRect().height < 40).map(each => each.id))
    assert.deepEqual(low, [], 'too small for a finger')
  }
  assert.equal(grounds.size, 2)
})
