// The types of leafid/sources and leafid/leases.

import { Segments, Snowflake } from 'leafid'
import { leases as ofEtcd } from 'leafid/leases/etcd'
import { leases, type Leases } from 'leafid/leases/postgres'
import { leases as ofRedis } from 'leafid/leases/redis'
import { leases as ofZooKeeper } from 'leafid/leases/zookeeper'
import { source as ofMysql } from 'leafid/sources/mysql'
import { source, type Source } from 'leafid/sources/postgres'
import { source as redis } from 'leafid/sources/redis'
import { source as ofSqlite } from 'leafid/sources/sqlite'

const sources: Source[] = [
  source('postgres://ids', { table: 'counters' }), source({ host: 'ids' }), ofMysql('mysql://ids'), ofSqlite('ids.db'),
  redis('redis://ids', { prefix: 'of:' }),
]
export const segments = sources.map(fetch => new Segments({ fetch, name: 'orders' }))
const workers: Leases[] = [
  leases('postgres://ids', { table: 'workers' }), ofRedis('redis://ids'), ofEtcd('http://etcd:2379', { prefix: '/ids/' }),
  ofZooKeeper('zk:2181'),
]
export const flakes: Promise<Snowflake>[] = workers.map(worker => Snowflake.open({ worker, name: 'orders' }))

export async function prepare(source: Source, leases: Leases): Promise<string[]> {
  await source.createTables({ tags: ['order'] })
  await leases.createTables({ workers: { first: 0, last: 31 } })
  return [...(await source.check()), ...(await leases.check())]
}

// @ts-expect-error no such option
source('postgres://ids', { prefix: 'of:' })
// @ts-expect-error a list
source('postgres://ids').createTables({ tags: 'order' })
