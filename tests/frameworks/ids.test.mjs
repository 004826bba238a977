// What docs/JAVASCRIPT.md says of each library, and its recipes. The ids are fixed: that some are rounded is certain.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { decode, encode } from '@msgpack/msgpack'
import Database from 'better-sqlite3'
import { eq, relations } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { blob, integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import express from 'express'
import fastify from 'fastify'
import { buildSchema, graphql, GraphQLObjectType, GraphQLSchema } from 'graphql'
import * as graphql16 from 'graphql16'
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

test('Drizzle has what its driver gives', async () => {
  const plain = sqliteTable('plain', { id: integer().primaryKey(), bytes: blob({ mode: 'bigint' }) })
  const client = new Database(':memory:')
  const database = drizzle({ client })
  client.exec('CREATE TABLE plain (id INTEGER PRIMARY KEY, bytes BLOB)')
  await database.insert(plain).values({ id, bytes: id })
  const [found] = await database.select().from(plain)
  assert.deepEqual(found, { id: rounded, bytes: id })
  assert.equal(client.prepare('SELECT typeof(bytes) AS type FROM plain').get().type, 'blob')
  assert.equal(client.prepare('SELECT count(*) AS found FROM plain WHERE bytes = ?').get(id).found, 0)
})

test('the recipe of Drizzle', async () => {
  const { id: idColumn, database, orders } = await import('./drizzle_ids.mjs')
  const client = database.$client
  client.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)')
  client.exec('CREATE TABLE lines (id INTEGER PRIMARY KEY, "order" INTEGER, at INTEGER, done INTEGER)')
  for (const id of ids) {
    await database.insert(orders).values({ id, item: 'tea' })
    assert.deepEqual(await database.select().from(orders).where(eq(orders.id, id)), [{ id, item: 'tea' }])
  }
  const lines = sqliteTable('lines', {
    id: idColumn().primaryKey(),
    order: idColumn(),
    at: integer({ mode: 'timestamp' }),
    done: integer({ mode: 'boolean' }),
  })
  await database.insert(lines).values({ id, order: id, at: new Date(0), done: true })
  const joined = database.select({ line: lines.id, done: lines.done }).from(orders).innerJoin(lines, eq(lines.order, orders.id))
  assert.deepEqual(await joined, [{ line: id, done: true }])
  await assert.rejects(async () => database.select().from(lines), TypeError)

  const schema = {
    orders,
    lines,
    ofOrders: relations(orders, ({ many }) => ({ lines: many(lines) })),
    ofLines: relations(lines, ({ one }) => ({ of: one(orders, { fields: [lines.order], references: [orders.id] }) })),
  }
  const related = drizzle({ client, schema }).query.orders
  const found = await related.findFirst({ where: eq(orders.id, id), with: { lines: { columns: { id: true } } } })
  assert.deepEqual(found, { id, item: 'tea', lines: [{ id: BigInt(rounded) }] })
})

test('the recipe of Prisma', async () => {
  const client = new Database('prisma.db')
  client.exec('CREATE TABLE "Order" (id BIGINT PRIMARY KEY, item TEXT NOT NULL)')
  client.exec('CREATE TABLE "Line" (id BIGINT PRIMARY KEY, "orderId" BIGINT NOT NULL REFERENCES "Order")')
  const { prisma } = await import('./prisma_ids.mjs')
  for (const id of ids) {
    await prisma.order.create({ data: { id, item: 'tea', lines: { create: { id } } } })
    const found = await prisma.order.findUnique({ where: { id }, include: { lines: true } })
    assert.throws(() => JSON.stringify(found), TypeError)
    assert.deepEqual(found, { id, item: 'tea', lines: [{ id, orderId: id }] })
  }
  await prisma.$disconnect()
})

const asked = (schema, source, rootValue, variableValues) => graphql({ schema, source, rootValue, variableValues })

test('graphql refuses an Int, and takes a rounded ID', async () => {
  const schema = buildSchema('type Query { int: Int id: ID echo(id: ID): ID }')
  const root = { int: id, id, echo: ({ id }) => id }
  const { errors } = await asked(schema, '{ int }', root)
  assert.match(errors[0].message, /^Int cannot represent/)
  assert.equal((await asked(schema, '{ id }', root)).data.id, String(id))
  const before17 = graphql16.buildSchema('type Query { id: ID }')
  const answer = await graphql16.graphql({ schema: before17, source: '{ id }', rootValue: root })
  assert.match(answer.errors[0].message, /^ID cannot represent/)
  const source = 'query ($id: ID) { echo(id: $id) }'
  for (const [sent, read] of [[String(id), String(id)], [rounded, String(rounded)]]) {
    assert.equal((await asked(schema, source, root, { id: sent })).data.echo, read)
  }
})

test('the recipe of GraphQL', async () => {
  const { Id } = await import('./graphql_ids.mjs')
  const echo = { type: Id, args: { id: { type: Id } }, resolve: (root, { id }) => (typeof id === 'bigint' ? id : null) }
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { echo } }) })
  const source = 'query ($id: Id) { echo(id: $id) }'
  for (const id of ids) {
    assert.equal((await asked(schema, source, {}, { id: String(id) })).data.echo, String(id))
    for (const literal of [`"${id}"`, id]) {
      assert.equal((await asked(schema, `{ echo(id: ${literal}) }`, {})).data.echo, String(id))
    }
  }
  for (const wrong of [rounded, 5, 'x', '-1', true]) {
    assert.match((await asked(schema, source, {}, { id: wrong })).errors[0].message, /an id is a text of digits/)
  }
  assert.match((await asked(schema, '{ echo(id: 1.5) }', {})).errors[0].message, /an id is a text of digits/)
})

test('msgpack rounds without the option', async () => {
  const { pack, unpack } = await import('./msgpack_ids.mjs')
  assert.throws(() => encode({ id }), /Unrecognized object/)
  assert.equal(decode(pack({ id })).id, rounded)
  for (const id of ids) assert.deepEqual(unpack(pack({ id })), { id })
  // As Python packs them: test_ids.py.
  assert.equal(unpack(Uint8Array.of(0xcf, ...Buffer.from(id.toString(16), 'hex'))), id)
  assert.equal(unpack(Uint8Array.of(5)), 5)
})
