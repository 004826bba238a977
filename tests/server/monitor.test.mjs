// The monitor page in Chromium: live, hostile names, a server that stops and comes back, phone, light and dark.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chromium } from 'playwright-core'

const binary = process.env.LEAFID_SERVER_BINARY
const HOSTILE = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>'
const timeout = 60_000

let browser
before(async () => {
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args })
})
after(() => browser.close())

async function freePort() {
  const probe = createServer()
  await new Promise(done => probe.listen(0, '127.0.0.1', done))
  const { port } = probe.address()
  await new Promise(done => probe.close(done))
  return port
}

/** A server on one port; `start` and `stop` may be called again. */
async function server(t, ...options) {
  const folder = mkdtempSync(join(tmpdir(), 'leafid-monitor-'))
  const store = join(folder, 'ids.db')
  const url = `http://127.0.0.1:${await freePort()}`
  let child
  const start = async () => {
    // No tag is held before a test asks for its ids.
    const words = ['--store', store, '--listen', url.slice(7), '--warm-tags', '0', ...options]
    child = spawn(binary, words, { stdio: 'ignore' })
    while (!(await fetch(`${url}/health`).catch(() => null))?.ok) await new Promise(done => setTimeout(done, 50))
  }
  const stop = () =>
    new Promise(done => {
      child.once('exit', done)
      child.kill('SIGKILL')
    })
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) await stop()
    rmSync(folder, { recursive: true })
  })
  const tag = (name, step = 1000) => execFileSync(binary, ['--store', store, 'tag', name, '--step', String(step)], { stdio: 'ignore' })
  const take = async (name, n) => (await fetch(`${url}/api/segment/get/${encodeURIComponent(name)}?n=${n}`)).text()
  const claim = async instance => {
    const now = Date.now()
    const body = JSON.stringify({ name: 'default', instance, now, until: now + 3000 })
    return (await fetch(`${url}/api/worker/claim`, { method: 'POST', body })).json()
  }
  tag('order')
  await start()
  return { url, start, stop, tag, take, claim }
}

async function open(t, url, options) {
  const context = await browser.newContext(options)
  t.after(() => context.close())
  const page = await context.newPage()
  const failures = []
  page.on('pageerror', error => failures.push(String(error)))
  page.on('console', message => message.type() === 'error' && failures.push(message.text()))
  page.on('request', request => request.url().startsWith(url) || failures.push(`asked for ${request.url()}`))
  await page.goto(`${url}/monitor`)
  return { page, failures }
}

const used = page => page.evaluate(() => parseFloat(document.querySelector('#tags .current i')?.style.width ?? '0'))

test('bars and rates move while ids are taken, and hostile names are text', { timeout }, async t => {
  const { url, tag, take, claim } = await server(t)
  const { page, failures } = await open(t, url)
  await page.waitForSelector('#no-tags:not([hidden])')
  await take('order', 50)
  await page.waitForFunction(() => document.querySelector('#tags .name')?.textContent === 'order')
  const first = await used(page)
  await take('order', 100)
  await page.waitForFunction(first => parseFloat(document.querySelector('#tags .current i').style.width) > first, first)
  assert.ok(Math.abs((await used(page)) - 15) < 0.01, 'the width is what was used')
  await page.waitForFunction(() => !document.querySelector('#tags .next').classList.contains('none'))
  await page.waitForFunction(() => parseFloat(document.getElementById('rate').textContent) > 0)
  tag(HOSTILE)
  await take(HOSTILE, 1)
  await claim('<img src=x>')
  await page.waitForFunction(text => [...document.querySelectorAll('#tags .name')].some(each => each.textContent === text), HOSTILE)
  await page.waitForFunction(() => [...document.querySelectorAll('#workers code')].some(each => each.textContent === '<img src=x>'))
  assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script').length), 0)
  assert.equal(await page.evaluate(() => window.broken), undefined)
  await page.focus('#map')
  await page.keyboard.press('End')
  assert.match(await page.locator('#chosen').textContent(), /^worker id 1, holder <img src=x>/)
  await page.fill('#search', 'ORD')
  await page.waitForFunction(() => document.querySelectorAll('#tags .row').length === 1)
  assert.deepEqual(failures, [])
})

test('a server that stops is said, and the page recovers', { timeout }, async t => {
  const { url, start, stop, take } = await server(t)
  const { page } = await open(t, url)
  await page.waitForSelector('#figures:not([hidden])')
  await stop()
  await page.waitForSelector('#failure:not([hidden])')
  assert.match(await page.locator('#failure').textContent(), /cannot be reached/)
  assert.equal(await page.locator('#live').textContent(), 'not reached')
  await start()
  await take('order', 5)
  await page.waitForSelector('#failure', { state: 'hidden' })
  await page.waitForFunction(() => document.querySelector('#tags .name')?.textContent === 'order')
  assert.equal(await page.locator('#live').textContent(), 'live')
})

test('it fits a phone, in light and dark', { timeout }, async t => {
  const { url, tag, take } = await server(t)
  for (const name of ['x'.repeat(128), HOSTILE]) {
    tag(name, 2_000_000_000)
    await take(name, 100)
  }
  const grounds = new Set()
  for (const colorScheme of ['light', 'dark']) {
    const { page, failures } = await open(t, url, { viewport: { width: 360, height: 740 }, colorScheme, reducedMotion: 'reduce' })
    await page.waitForFunction(() => document.querySelectorAll('#tags .row').length === 2)
    await page.waitForFunction(() => document.querySelectorAll('#workers .row').length > 0)
    const [width, ground] = await page.evaluate(() => [document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor])
    assert.ok(width <= 360, `${width} pixels wide`)
    grounds.add(ground)
    const low = await page.locator('button:visible, select:visible, input:visible').evaluateAll(all => all.filter(each => each.getBoundingClientRect().height < 40).length)
    assert.equal(low, 0, 'too small for a finger')
    assert.deepEqual(failures, [])
  }
  assert.equal(grounds.size, 2)
})
