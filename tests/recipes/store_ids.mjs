// What docs/JAVASCRIPT.md says of a server and its drivers, and ORMs on them: store_ids.mjs KIND URL. It ends by itself.
import assert from 'node:assert/strict'
import { drizzle as drizzleOnMysql } from 'drizzle-orm/mysql2'
import * as mysqlTypes from 'drizzle-orm/mysql-core'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import * as pgTypes from 'drizzle-orm/pg-core'
import { eq, relations } from 'drizzle-orm'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { DataTypes, Sequelize } from 'sequelize'

const [kind, url] = process.argv.slice(2)
const id = 2061234567890123457n
const rounded = 2061234567890123500
const ids = [0n, 9007199254740993n, id, 9223372036854775807n]

/** Stores an id by the library, and answers what it reads. */
async function drizzled(database, orders, id) {
  await database.insert(orders).values({ id })
  return (await database.select().from(orders).where(eq(orders.id, id)))[0].id
}

async function sequelized(Order, id) {
  await Order.create({ id })
  return (await Order.findByPk(id)).id
}

const sequelize = new Sequelize(url, { logging: false })
const Order = sequelize.define('sequelized', { id: { type: DataTypes.BIGINT, primaryKey: true } }, { timestamps: false })
await sequelize.sync()
for (const id of ids) {
  const small = kind === 'mariadb' && id < 2n ** 53n
  assert.strictEqual(await sequelized(Order, id), small ? Number(id) : String(id))
}
await sequelize.close()

if (kind === 'postgresql') {
  const pool = new pg.Pool({ connectionString: url })
  await pool.query('CREATE TABLE plain (id BIGINT PRIMARY KEY); CREATE TABLE orders (id BIGINT PRIMARY KEY)')
  await pool.query('INSERT INTO plain VALUES ($1)', [id])
  assert.strictEqual((await pool.query('SELECT id FROM plain WHERE id = $1', [id])).rows[0].id, String(id))
  const table = (mode) => pgTypes.pgTable('orders', { id: pgTypes.bigint({ mode }).primaryKey() })
  const database = drizzleOnPg({ client: pool })
  for (const id of ids) assert.strictEqual(await drizzled(database, table('bigint'), id), id)
  assert.ok((await database.select().from(table('number'))).some((row) => row.id === rounded))
  const [of, row] = [table('bigint'), pgTypes.pgTable('plain', { id: pgTypes.bigint({ mode: 'bigint' }).primaryKey() })]
  const rows = relations(of, ({ many }) => ({ rows: many(row) }))
  const one = relations(row, ({ one }) => ({ of: one(of, { fields: [row.id], references: [of.id] }) }))
  const query = drizzleOnPg({ client: pool, schema: { of, row, rows, one } }).query.of
  const found = await query.findFirst({ where: eq(of.id, id), with: { rows: true } })
  assert.deepStrictEqual(found, { id, rows: [{ id: BigInt(rounded) }] })
  await pool.end()
} else {
  const options = { uri: url, supportBigNumbers: true, bigNumberStrings: true }
  const [plain, pool] = [mysql.createPool(url), mysql.createPool(options)]
  await plain.query('CREATE TABLE plain (id BIGINT PRIMARY KEY)')
  await plain.query('CREATE TABLE orders (id BIGINT PRIMARY KEY)')
  await plain.query('INSERT INTO plain VALUES (?)', [id])
  assert.strictEqual((await plain.query('SELECT id FROM plain WHERE id = ?', [id]))[0][0].id, rounded)
  assert.strictEqual((await pool.query('SELECT id FROM plain WHERE id = ?', [id]))[0][0].id, String(id))
  const orders = mysqlTypes.mysqlTable('orders', { id: mysqlTypes.bigint({ mode: 'bigint' }).primaryKey() })
  for (const id of ids) assert.strictEqual(await drizzled(drizzleOnMysql({ client: pool }), orders, id), id)
  const found = await drizzleOnMysql({ client: plain }).select().from(orders).where(eq(orders.id, id))
  assert.strictEqual(found[0].id, BigInt(rounded))
  await Promise.all([plain.end(), pool.end()])
}
