// What docs/JAVASCRIPT.md says of each library, and its recipes. The ids are fixed: that some are rounded is certain.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import express from 'express'
import fastify from 'fastify'
import knex from 'knex'
import mysql from 'mysql2'
import pg from 'pg'
import { DataSource, EntitySchema } from 'typeorm'

const id = 2061234567890123457n
const rounded = 2061234567890123500
const ids = [0n, 9007199254740993n, id, 9223372036854775807n]

async function answerOf(app, path) {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const answer = await fetch(`http://127.0.0.1:${server.address().port}${path}`)
    return [answer.status, await answer.text()]
  } finally {
    server.close()
  }
}

function table() {
  const database = new Database(':memory:')
  database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY)')
  database.prepare('INSERT INTO orders VALUES (?)').run(id)
  return database
}

test('JSON rounds digits and throws for a BigInt', () => {
  assert.equal(JSON.parse(`{"id":${id}}`).id, rounded)
  assert.notEqual(BigInt(rounded), id)
  assert.throws(() => JSON.stringify({ id }), TypeError)
})

test('express answers 500 for a BigInt', async () => {
  const app = express()
  app.get('/', (request, response) => response.json({ id }))
  app.use((error, request, response, next) => response.status(500).send(error.message))
  const [status, text] = await answerOf(app, '/')
  assert.equal(status, 500)
  assert.match(text, /BigInt/)
})

test('the recipe of express', async () => {
  const { app } = await import('./express_ids.mjs')
  for (const id of ids) assert.deepEqual(await answerOf(app, `/orders/${id}`), [200, `{"id":"${id}"}`])
  assert.equal((await answerOf(app, '/orders/x'))[0], 500)
})

test('fastify goes by the schema', async () => {
  const app = fastify()
  app.get('/none', async () => ({ id }))
  for (const type of ['integer', 'string']) {
    const schema = { response: { 200: { type: 'object', properties: { id: { type } } } } }
    app.get(`/${type}`, { schema }, async () => ({ id }))
  }
  assert.equal((await app.inject('/none')).statusCode, 500)
  assert.equal((await app.inject('/integer')).body, `{"id":${id}}`)
  assert.equal((await app.inject('/string')).body, `{"id":"${id}"}`)
})

test('the recipe of fastify', async () => {
  const { app } = await import('./fastify_ids.mjs')
  for (const id of ids) assert.equal((await app.inject(`/orders/${id}`)).body, `{"id":"${id}"}`)
})

test('better-sqlite3 rounds what it reads by default', () => {
  const database = table()
  const read = () => database.prepare('SELECT id FROM orders WHERE id = ?')
  assert.equal(read().get(id).id, rounded)
  assert.equal(read().safeIntegers().get(id).id, id)
  database.defaultSafeIntegers()
  assert.equal(read().get(id).id, id)
})

test('knex has what its driver gives', async () => {
  const connection = { filename: ':memory:' }
  const pool = { min: 1, max: 1 }
  const plain = knex({ client: 'better-sqlite3', connection, pool, useNullAsDefault: true })
  assert.equal(await storedBy(plain, id), rounded)
  await plain.destroy()
})

async function storedBy(database, id) {
  await database.schema.dropTableIfExists('orders')
  await database.schema.createTable('orders', (orders) => orders.bigInteger('id').primary())
  await database('orders').insert({ id })
  return (await database('orders').where({ id }).first()).id
}

test('the recipe of knex', async () => {
  const { database } = await import('./knex_ids.mjs')
  for (const id of ids) assert.equal(await storedBy(database, id), id)
  await database.destroy()
})

test('TypeORM has what its driver gives', async () => {
  const columns = { id: { type: 'bigint', primary: true } }
  const Plain = new EntitySchema({ name: 'Plain', columns })
  const options = { type: 'better-sqlite3', database: ':memory:', synchronize: true, entities: [Plain] }
  const source = await new DataSource(options).initialize()
  await source.query('INSERT INTO plain VALUES (?)', [id])
  assert.equal((await source.getRepository('Plain').find())[0].id, rounded)
  await source.destroy()
})

test('the recipe of TypeORM', async () => {
  const { Order, source } = await import('./typeorm_ids.mjs')
  await source.initialize()
  const orders = source.getRepository(Order)
  for (const id of ids) {
    await orders.insert({ id, item: 'tea' })
    await orders.save({ id, item: 'coffee' })
    assert.deepEqual(await orders.findOneBy({ id }), { id, item: 'coffee' })
    assert.equal((await orders.delete({ id })).affected, 1)
  }
  await source.destroy()
})

test('pg reads int8 as a text, and BigInt where it is set', async () => {
  const int8 = 20
  const { default: utils } = await import('pg/lib/utils.js')
  assert.equal(pg.types.getTypeParser(int8)(String(id)), String(id))
  assert.equal(utils.prepareValue(id), String(id))
  pg.types.setTypeParser(int8, BigInt)
  assert.equal(pg.types.getTypeParser(int8)(String(id)), id)
})

test('mysql2 writes a BigInt exactly', () => {
  assert.equal(mysql.format('SELECT ?', [id]), `SELECT ${id}`)
})
