// What these tests share: the runtimes, a web server, and Chromium.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createReadStream, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { chromium } from 'playwright-core'
import { HANG } from './node/support.mjs'

export const here = import.meta.dirname
const bin = join(here, '../node_modules/.bin')

/** How each runtime runs a file. */
export const RUNTIMES = {
  node: [process.execPath],
  bun: [join(bin, 'bun')],
  deno: [join(bin, 'deno'), 'run', '--quiet', '-A', '--node-modules-dir=manual'],
}

/** Runs issue.mjs in a runtime: `ids` so far, `opened` and `ended` as promises of what it says, `kill`. */
export function issue(t, runtime, given, env = {}) {
  const [file, ...args] = RUNTIMES[runtime]
  const child = spawn(file, [...args, join(here, 'issue.mjs'), JSON.stringify(given)], {
    cwd: here,
    env: { ...process.env, NODE_TEST_CONTEXT: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const ids = []
  const said = []
  let [rest, err] = ['', '']
  let opens
  const opened = new Promise(done => (opens = done))
  child.stderr.setEncoding('utf8').on('data', text => (err += text))
  child.stdout.setEncoding('utf8').on('data', text => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      if (!line.startsWith('{')) ids.push(...line.split(' ').map(BigInt))
      else {
        said.push(JSON.parse(line))
        opens(said[0])
      }
    }
  })
  const ended = new Promise((done, failed) => {
    child.on('error', failed)
    child.on('close', (code, signal) => {
      opens(said[0] ?? { code: `it ended with ${code ?? signal}: ${err}` })
      done({ code, signal, said: said.at(-1), err })
    })
  })
  return { ids, opened, ended, kill: () => child.kill('SIGKILL') }
}

export function assertDistinct(...runs) {
  const ids = runs.flat()
  assert.ok(ids.length > 0, 'no ids')
  assert.equal(new Set(ids.map(String)).size, ids.length, 'an id came twice')
}

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
}

/** Serves a folder, with an empty page for what is not there; `/api/` is that of `target`, a server's URL. */
export async function site(t, folder, target) {
  const server = createServer((asked, answer) => {
    const { pathname } = new URL(asked.url, 'http://localhost')
    if (target && pathname.startsWith('/api/')) return void proxy(asked, answer, target)
    const file = join(folder, pathname)
    if (!existsSync(file) || statSync(file).isDirectory()) {
      answer.setHeader('Content-Type', 'text/html')
      return void answer.end('<!doctype html><title>leafid</title>')
    }
    answer.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream')
    createReadStream(file).pipe(answer)
  })
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://localhost:${server.address().port}`
}

function proxy(asked, answer, target) {
  const to = request(target + asked.url, { method: asked.method, headers: { ...asked.headers, host: new URL(target).host } }, from => {
    answer.writeHead(from.statusCode, from.headers)
    from.pipe(answer)
  })
  to.on('error', () => answer.destroy())
  asked.pipe(to)
}

const ARGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync']

const CHROMIUM = { executablePath: '/usr/bin/chromium', args: [...ARGS, ...QUIET], timeout: HANG }

export async function launch() {
  const browser = await chromium.launch(CHROMIUM)
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async options => patient(await newContext(options))
  return browser
}

/** Else what a page waits for has 30 seconds. */
function patient(context) {
  context.setDefaultTimeout(HANG)
  return context
}

/** Runs a module's code in a page or frame; what fails in it fails here. */
export const load = (page, code) => page.evaluate(`(async () => {${code}})()`)

/** A profile in which frames of other sites have storage: by default some browsers, and private windows, give them none. */
export async function launchProfile() {
  const folder = mkdtempSync(join(tmpdir(), 'leafid-profile-'))
  mkdirSync(join(folder, 'Default'))
  const preferences = { profile: { cookie_controls_mode: 0, block_third_party_cookies: false } }
  writeFileSync(join(folder, 'Default/Preferences'), JSON.stringify(preferences))
  // Its processes still write when it is closed.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return patient(await chromium.launchPersistentContext(folder, CHROMIUM))
}
