// No output shows a password, whatever option it was written into and of whatever type.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import * as leafid from 'leafid'
import { space, vectors } from './support.mjs'

const { marker, urls } = vectors('secrets.json')
const HOST = '127.0.0.1:1'
const SERVER = `http://${HOST}`
const all = ['http', 'HTTPS'].flatMap(scheme =>
  urls.map(url => url.replaceAll('SCHEME', scheme).replaceAll('HOST', HOST)))

/** A user's object with a secret. */
class Config {
  constructor(url) {
    this.url = url
  }
}

/** The URL in values of types that no option has, or few have. */
const wrong = url => [url, [url], [url, 7], [[url]], { url }, { [url]: 'x' }, new Config(url), [new Config(url)], new Set([url])]

function logged(t) {
  const lines = []
  leafid.setLogger(record => lines.push(inspect(record)))
  t.after(() => leafid.setLogger(null))
  return lines
}

/** What opening says, or the opened object. */
async function said(open) {
  try {
    const opened = await open()
    const texts = [inspect(opened, { depth: 5 }), inspect(opened.stats(), { depth: 5 }), leafid.metrics?.() ?? '']
    await opened.close()
    return texts
  } catch (error) {
    return [inspect(error, { depth: 5 }), String(error.cause)]
  }
}

test('no output shows a password', async t => {
  const lines = logged(t)
  const base = { ...space(), persist: false, lazy: true }
  const check = async (open, ...what) => {
    for (const text of [...(await said(open)), ...lines.splice(0)]) {
      assert.ok(!text.includes(marker), `${inspect(what)}: ${text}`)
    }
  }
  const flake = ['worker', 'headers', 'name', 'layout', 'epochMs', 'timeoutMs', 'lazy', 'clockSource', 'peerTimes', 'token']
  const segments = ['headers', 'protocol', 'step', 'tags', 'create', 'connections', 'blockSize', 'token', 'name']
  for (const url of all) {
    for (const value of wrong(url)) {
      for (const option of flake) {
        if (option === 'token' && value === url) continue
        await check(() => new leafid.Snowflake({ worker: SERVER, ...base, [option]: value }), option, value)
      }
      for (const option of segments) {
        if (option === 'token' && value === url) continue
        const { lazy, ...options } = base
        await check(() => new leafid.Segments(SERVER, { ...options, [option]: value }), option, value)
      }
      const { lazy, ...options } = base
      await check(() => new leafid.Segments(value, options), 'servers', value)
      await check(() => new leafid.Segments({ fetch: value, ...options }), 'fetch', value)
      await check(() => new leafid.Snowflake(value), 'options', value)
    }
    for (const headers of [{ 'x-key': `${url}\n` }, { [url]: 'x' }, { 'x-key': 7, x: url }]) {
      await check(() => new leafid.Snowflake({ worker: SERVER, ...base, headers }), headers)
    }
    await check(() => new leafid.Segments([SERVER, url], { name: base.name, persist: false }), url)
  }
})

test('a long password is hidden before a text is cut', async () => {
  const url = `https://user:${marker}${'1'.repeat(300)}@ids`
  for (const text of await said(() => new leafid.Snowflake({ worker: 7, timeoutMs: url }))) {
    assert.ok(!text.includes(marker), text)
  }
})

test('no answer of a callback shows a secret', async () => {
  const fetch = () => ({ start: 1, ende: 5, token: `${marker}T` })
  const segments = new leafid.Segments({ fetch, name: space().name, persist: false })
  const error = await segments.tag('order').next({ timeoutMs: 500 }).then(() => assert.fail('it gave an id'), error => error)
  assert.ok(!inspect(error, { depth: 5 }).includes(marker), inspect(error))
  segments.close()
})
