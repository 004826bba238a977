// The packages that a Node program can pick instead, resolved from the folder this is started in.
import { createRequire } from 'node:module'
import { N, burst, single } from './harness.mjs'

const require = createRequire(process.cwd() + '/')

export async function peers() {
  // --- 64-bit
  const { Snowflake: Wasm } = require('nodejs-snowflake')
  const wasm = new Wasm({ custom_epoch: 1577836800000, instance_id: 1 })
  single('nodejs-snowflake', 'getUniqueID -> BigInt (wasm, 1024 ids/ms)', () => wasm.getUniqueID())
  burst('nodejs-snowflake', 'getUniqueID -> BigInt (wasm)', () => wasm.getUniqueID(), 512)

  const { Snowflake: Sapphire } = require('@sapphire/snowflake')
  const sapphire = new Sapphire(1577836800000)
  single('@sapphire/snowflake', 'generate -> BigInt', () => sapphire.generate())

  const { Snowyflake } = require('snowyflake')
  const snowy = new Snowyflake({ workerId: 1n })
  single('snowyflake', 'nextId -> BigInt', () => snowy.nextId())

  const SnowflakeId = require('snowflake-id').default
  const sid = new SnowflakeId({ mid: 1, offset: 1577836800000 })
  single('snowflake-id', 'generate -> string', () => sid.generate(), N / 5)

  const FlakeId = require('flakeid')
  const flakeid = new FlakeId({ mid: 1, timeOffset: 1577836800000 })
  single('flakeid', 'gen -> string', () => flakeid.gen(), N / 5)

  const Flake = require('flake-idgen')
  const flake = new Flake({ id: 1, epoch: 1577836800000 })
  const retry = () => { for (;;) try { return flake.next() } catch {} }
  single('flake-idgen', 'next -> Buffer, caught and retried when exhausted', retry, N, id => id.readBigUInt64BE())
  burst('flake-idgen', 'next -> Buffer', () => flake.next(), undefined, undefined, id => id.readBigUInt64BE())
  burst('flake-idgen', 'next -> Buffer -> BigInt', () => flake.next().readBigUInt64BE())

  const { SnowflakeIdv1 } = require('simple-flakeid') // the yitter drift algorithm
  const yitter = new SnowflakeIdv1({ workerId: 1, workerIdBitLength: 10, seqBitLength: 12, maxSeqNumber: 4095 })
  single('simple-flakeid', 'NextBigId 10+12 -> BigInt (drift)', () => yitter.NextBigId())
  const short = new SnowflakeIdv1({ workerId: 1 }) // 6+6 bits: fits a number
  single('simple-flakeid', 'NextNumber 6+6 -> number (drift)', () => short.NextNumber(), N / 20)

  const { simpleflake } = require('simpleflakes')
  single('simpleflakes', 'simpleflake -> BigNum (41 bits time, 23 random)', () => simpleflake(), N, String)

  // --- strings
  const hyperid = require('hyperid')()
  single('hyperid', 'hyperid() -> string', () => hyperid())
}
