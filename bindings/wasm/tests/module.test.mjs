// What the module is: its imports, exports and sizes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { Module, bytes, document, vectors } from './module.mjs'

const names = ['leafid', 'leafid-run', 'leafid-snowflake', 'leafid-public-ids']

test('it imports nothing', () => {
  for (const name of names) assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes(name))), [])
})

test('its exports are those of the document, and the memory', () => {
  const rows = [...document.matchAll(/^\| `([a-z_]+)\(.*?\)` \| ([LRSP]+) \|/gm)]
  for (const [at, name] of names.entries()) {
    const documented = rows.filter(([, , modules]) => modules.includes('LRSP'[at])).map(row => row[1])
    const found = WebAssembly.Module.exports(new WebAssembly.Module(bytes(name)))
    const functions = found.filter(each => each.kind === 'function').map(each => each.name)
    assert.deepEqual(functions.sort(), documented.sort())
    // The linker adds globals, whose names begin so.
    const others = found.filter(({ kind, name }) => kind !== 'function' && !name.startsWith('__'))
    assert.deepEqual(others.map(each => each.name), ['memory'])
  }
})

test('it has the version of the document', () => {
  assert.equal(new Module().exports.abi_version(), Number(/^# .*, version (\d+)$/m.exec(document)[1]))
})

test('it is small', () => {
  const memory = name => new Module(name).exports.memory.buffer.byteLength
  const sizes = names.map(name => [bytes(name).length, brotliCompressSync(bytes(name)).length, memory(name)])
  console.log(`bytes, after brotli, and of memory: ${names.map((name, at) => `${name} ${sizes[at].join(', ')}`).join('; ')}`)
  const rows = [...document.matchAll(/^\| `([a-z-]+)\.wasm` \| (\d+) \| (\d+) \| (\d+) \|$/gm)]
  assert.deepEqual(rows.map(row => row[1]), names)
  rows.forEach(([, name, ...most], at) =>
    sizes[at].forEach((size, kind) => assert.ok(size <= most[kind], `${name}: ${size}, at most ${most[kind]}`)))
})

test('its errors are those of all languages', () => {
  const module = new Module()
  for (const { number, code, retry } of vectors('errors.json').errors) {
    assert.equal(module.ok(module.exports.error_name(number)), Number(retry))
    assert.equal(module.text(), code)
  }
  assert.throws(() => module.ok(module.exports.error_name(17)), { code: 'invalid_argument' })
})

test('an error says what was wrong with a value of the host’s', () => {
  const module = new Module()
  const refuse = (...texts) => module.ok(module.exports.refuse(...module.input(...texts)))
  assert.throws(() => refuse('worker', '1024', '0 to 7'), { code: 'invalid_argument', message: 'worker is 1024; allowed: 0 to 7' })
  assert.throws(() => refuse('n', '-1', ''), { message: 'n is -1; allowed: 0 to 16777216 ids a call' })
  const unknown = (...texts) => module.ok(module.exports.refuse_unknown(...module.input(...texts)))
  const message = '"nodeId" is an unknown option; here it is worker; allowed: name, worker'
  assert.throws(() => unknown('nodeId', 'name, worker'), { code: 'invalid_argument', message })
})

test('a handle of another kind, and one that was freed, is an error', () => {
  const module = new Module()
  const { decode, free, layout_fields, snowflake_next } = module.exports
  const layout = module.layout('leaf')
  for (const call of [() => snowflake_next(layout, 0), () => snowflake_next(0, 0), () => snowflake_next(-1, 0), () => decode(layout + 1, 0n)]) {
    assert.throws(() => module.ok(call()), { code: 'closed' })
  }
  free(layout)
  assert.throws(() => module.ok(layout_fields(layout)), { code: 'closed' })
  assert.equal(module.layout('leaf'), layout, 'its number is used again')
  free(99)
})

test('input that is not there, or is not text, is an error', () => {
  const module = new Module()
  module.input('leaf')
  for (const length of [5, -1]) {
    assert.throws(() => module.ok(module.exports.layout_parse(length)), { code: 'invalid_argument' })
  }
  const lengths = module.input(new Uint8Array([0xff]))
  assert.throws(() => module.ok(module.exports.layout_parse(...lengths)), { message: 'text is not UTF-8; allowed: UTF-8' })
})

test('memory is used again', () => {
  const module = new Module()
  const once = () => {
    module.input('x'.repeat(100_000))
    const layout = module.layout('leaf')
    assert.throws(() => module.layout('y'.repeat(1_000)))
    module.exports.free(layout)
  }
  for (let n = 0; n < 100; n++) once()
  const before = module.exports.memory.buffer.byteLength
  for (let n = 0; n < 10_000; n++) once()
  assert.equal(module.exports.memory.buffer.byteLength, before)
})
