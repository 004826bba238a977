// The monitor page in Chromium: live, hostile names, a server that stops and comes back, phone, light and dark, 10,000
// tags, tokens.

import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { chromium } from 'playwright-core'

const binary = process.env.LEAFID_SERVER_BINARY
const HOSTILE = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>'

let browser
before(async () => {
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args, timeout: 900_000 })
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
  return serverOf(t, join(mkdtempSync(join(tmpdir(), 'leafid-monitor-')), 'ids.db'), ...options)
}

async function serverOf(t, store, ...options) {
  const url = `http://127.0.0.1:${await freePort()}`
  let child
  const start = async () => {
    const words = ['--store', store, '--listen', url.slice(7), ...options]
    // No tag is held before a test asks for its ids.
    child = spawn(binary, words, { stdio: 'ignore', env: { ...process.env, LEAFID_SERVER_WARM_TAGS: '0' } })
    while (!(await fetch(`${url}/ready`).catch(() => null))?.ok) await new Promise(done => setTimeout(done, 50))
  }
  const stop = () =>
    new Promise(done => {
      child.once('exit', done)
      child.kill('SIGKILL')
    })
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) await stop()
    rmSync(dirname(store), { recursive: true, force: true })
  })
  const tag = (name, step = 1000) => execFileSync(binary, ['--store', store, 'tag', name, '--step', String(step)], { stdio: 'ignore' })
  const take = async (name, n) => (await fetch(`${url}/api/segment/get/${encodeURIComponent(name)}?n=${n}`)).text()
  const claim = async instance => {
    const now = Date.now()
    const body = JSON.stringify({ name: 'default', instance, now, until: now + 3000 })
    const headers = { 'Content-Type': 'application/json' }
    return (await fetch(`${url}/api/worker/claim`, { method: 'POST', headers, body })).json()
  }
  tag('order')
  await start()
  return { url, store, start, stop, tag, take, claim }
}

async function open(t, url, options) {
  const context = await browser.newContext(options)
  t.after(() => context.close())
  context.setDefaultTimeout(900_000)
  const page = await context.newPage()
  const failures = []
  page.on('pageerror', error => failures.push(String(error)))
  page.on('console', message => message.type() === 'error' && failures.push(message.text()))
  page.on('request', request => request.url().startsWith(url) || failures.push(`asked for ${request.url()}`))
  await page.goto(`${url}/monitor`)
  return { context, page, failures }
}

async function checkFits(page, width) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.ok(wide <= width, `${wide} pixels wide`)
  const fields = page.locator('button:visible, select:visible, input:visible')
  const low = await fields.evaluateAll(all => all.filter(each => each.getBoundingClientRect().height < 40).length)
  assert.equal(low, 0, 'too small for a finger')
}

const used = page => page.evaluate(() => parseFloat(document.querySelector('#tags .current i')?.style.width ?? '0'))

test('bars and rates move while ids are taken, and hostile names are text', async t => {
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
  // That of the last seconds.
  while (!(await page.evaluate(() => parseFloat(document.getElementById('rate').textContent) > 0))) {
    await take('order', 1)
    await new Promise(done => setTimeout(done, 50))
  }
  tag(HOSTILE)
  await take(HOSTILE, 1)
  // The server's own is below it.
  await page.waitForFunction(() => document.querySelectorAll('#workers .who').length > 0)
  await claim('<img src=x>')
  await page.waitForFunction(text => [...document.querySelectorAll('#tags .name')].some(each => each.textContent === text), HOSTILE)
  await page.waitForFunction(() => [...document.querySelectorAll('#workers code')].some(each => each.textContent === '<img src=x>'))
  assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script').length), 0)
  assert.equal(await page.evaluate(() => window.broken), undefined)
  await page.focus('#map')
  await page.keyboard.press('End')
  assert.match(await page.locator('#chosen').textContent(), /^worker id \d+, holder <img src=x>/)
  await page.fill('#search', 'ORD')
  await page.waitForFunction(() => document.querySelectorAll('#tags .row').length === 1)
  assert.deepEqual(failures, [])
})

test('it names its server, and links the others of the store', async t => {
  const one = await server(t)
  const other = await serverOf(t, one.store)
  const { page, failures } = await open(t, one.url)
  await page.waitForSelector('#servers:not([hidden])')
  assert.match(await page.locator('#about').textContent(), new RegExp(`^${one.url}, \\S+ pid \\d+, version `))
  await page.waitForFunction(() => document.querySelectorAll('#workers .who').length === 2)
  assert.match(await page.locator('#workers .who').first().textContent(), /^\S+ pid \d+, leafid-server\//)
  const link = page.locator('#siblings a')
  assert.equal(await link.getAttribute('href'), `${other.url}/monitor`)
  await other.stop()
  assert.deepEqual(failures, [])
})

test('a server that stops is said, and the page recovers', async t => {
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

test('it fits a phone, in light and dark', async t => {
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
    await checkFits(page, 360)
    grounds.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor))
    assert.deepEqual(failures, [])
  }
  assert.equal(grounds.size, 2)
})

const TAGS = 10_000

test('with 10,000 tags it stays small, and each tag is found', async t => {
  const { url, store, start, stop } = await server(t, '--warm-tags', String(2 * TAGS))
  const rows = `WITH RECURSIVE n(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at < ${TAGS - 1})
    INSERT INTO leaf_alloc (biz_tag, max_id, step) SELECT printf('tag-%05d', at), 1, 1000 FROM n`
  await stop()
  execFileSync('python3', ['-c', 'import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])', store, rows])
  await start()
  const held = async () => (await (await fetch(`${url}/monitor/state`)).json()).tags_held
  while ((await held()) <= TAGS) await new Promise(done => setTimeout(done, 500))

  const grounds = new Set()
  for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['light', 360], ['dark', 360]]) {
    const { page, failures } = await open(t, url, { viewport: { width, height: 740 }, colorScheme, reducedMotion: 'reduce' })
    const sizes = []
    page.on('response', async answer => answer.url().includes('/monitor/state') && sizes.push((await answer.text().catch(() => '')).length))
    const first = text => page.waitForFunction(text => document.querySelector('#tags .name')?.textContent === text, text)
    await page.waitForFunction(held => document.getElementById('tags-held').textContent === held, (TAGS + 1).toLocaleString())
    await page.selectOption('#order', 'name')
    await first('order')
    await page.click('[aria-label="last page"]')
    await first(`tag-${String(TAGS - 1).padStart(5, '0')}`)
    // Twice, before an answer can come.
    await page.evaluate(() => [1, 2].forEach(() => document.querySelector('[aria-label="page before"]').click()))
    await first(`tag-${String(TAGS - 41).padStart(5, '0')}`)
    await page.click('[aria-label="first page"]')
    await page.click('[aria-label="next page"]')
    await first('tag-00019')
    await page.selectOption('#order', 'urgent')
    await checkFits(page, width)
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
    assert.ok(nodes < 2_000, `${nodes} elements`)
    await page.fill('#search', 'TAG-0777')
    await page.waitForFunction(() => document.querySelectorAll('#tags .row').length === 10)
    await first('tag-07770')
    await page.fill('#search', 'none of these')
    await page.waitForSelector('#no-tags:not([hidden])')
    // It is live.
    const seen = sizes.length
    while (sizes.length < seen + 2) await page.waitForResponse(/monitor.state/)
    assert.ok(Math.max(...sizes) < 32_768, `${Math.max(...sizes)} bytes`)
    grounds.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor))
    assert.deepEqual(failures, [])
  }
  assert.equal(grounds.size, 2)
})

test('a wrong token is refused, and the right one stays in its tab', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'leafid-monitor-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'tokens.toml')
  const make = scope => {
    const { stdout, stderr } = spawnSync(binary, ['token', scope, '--scope', scope], { encoding: 'utf8' })
    writeFileSync(file, stdout, { flag: 'a' })
    return /leafid_[0-9a-f]{64}/.exec(stderr)[0]
  }
  const [ids, metrics] = [make('ids'), make('metrics')]
  const { url } = await server(t, '--tokens', file)
  const { context, page } = await open(t, url)
  const asked = []
  page.on('request', request => asked.push(request))
  const use = async token => {
    await page.fill('#token', token)
    await page.click('#ask button')
  }
  const denied = text => page.waitForFunction(text => document.getElementById('denied').textContent.includes(text), text)
  await denied('no token')
  await use(`leafid_${'0'.repeat(64)}`)
  await denied('unknown')
  await use(ids)
  await denied('metrics')
  assert.ok(await page.isHidden('#figures'))
  await use(metrics)
  await page.waitForSelector('#figures:not([hidden])')
  assert.ok(await page.isHidden('#ask'))
  await page.reload()
  await page.waitForSelector('#figures:not([hidden])')

  const sent = asked.filter(request => request.headers().authorization)
  assert.ok(sent.length >= 4 && sent.every(request => new URL(request.url()).pathname === '/monitor/state'))
  const kept = await page.evaluate(() => [location.href, document.documentElement.outerHTML, document.getElementById('token').value, document.cookie, JSON.stringify(localStorage)])
  const shown = [...kept, JSON.stringify(await context.cookies()), ...asked.map(request => request.url())].join()
  for (const token of [ids, metrics]) assert.ok(!shown.includes(token.slice(7)), 'the token is seen')
  const other = await context.newPage()
  await other.goto(`${url}/monitor`)
  await other.waitForSelector('#ask:not([hidden])')
  await page.click('#forget')
  await denied('no token')
  assert.equal(await page.evaluate(() => sessionStorage.length), 0)
  await page.reload()
  await page.waitForSelector('#ask:not([hidden])')
})
