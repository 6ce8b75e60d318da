/**
 * What becomes of addresses when the configuration changes: every row of the table, with each store, in each role.
 *
 *   EXTENT=all    every row with every store in every role, not only those that each run plays
 *   CHANGES=TEXT  those whose name has this text
 */
import t, { type Test } from 'tap'
import { isWhole } from '../rigs/extent.ts'
import { startLanEtcd } from '../rigs/lan-etcd.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { makeNodeInCluster } from '../rigs/wired-in-cluster.ts'
import { startWiredNode } from '../rigs/wired-node.ts'
import { changesFile, fileOf, play, rowOn, type PlayedNode } from './play.ts'
import type { Configuration, Role, Row, Store } from './row.ts'
import { rows } from './rows.ts'

const skips = {
  sqlite: missing('namespaces', 'nft', 'executables'),
  etcd: missing('namespaces', 'nft', 'executables', 'etcd'),
  kubernetes: missing('namespaces', 'nft', 'executables', 'cluster'),
} as const
const wanted = process.env['CHANGES']

// They wait for processes most of the time.
t.jobs = 3
t.setTimeout(isWhole ? 1_800_000 : 300_000)

async function makeNode(t: Test, before: Configuration, store: Store): Promise<PlayedNode> {
  if (store === 'kubernetes') return await makeNodeInCluster(t, fileOf(before))
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const outside = { ...host, ipv4: '127.0.0.1' }
  return await startWiredNode(host, {
    ...{ folder, ipam: {}, configuration: fileOf(before) },
    ...(store === 'etcd' && { store: `etcd:${await startLanEtcd({ outside }, folder)}` }),
  })
}

/** "stopped": the file is changed while no daemon runs. How a pod is wired has no part in that. */
const ways: readonly (readonly [role: Role, stopped: '' | ', stopped'])[] = [
  ['ipam', ''],
  ['ipam', ', stopped'],
  ['main', ''],
]

function test(row: Row, store: Store, [role, stopped]: (typeof ways)[number]): void {
  const needsStop = row.layout !== undefined && role === 'ipam'
  if ((stopped === '' ? needsStop : !changesFile(row) && !needsStop) || row.without?.[role] !== undefined)
    return
  const way = `${store} ${role}${stopped}` as const
  const name = `${way}: ${row.where}: ${row.what}`
  const played = wanted === undefined ? isWhole || row.always?.includes(way) : name.includes(wanted)
  if (played !== true) return
  t.test(name, { skip: skips[store], timeout: 240_000 }, async t => {
    const node = await makeNode(t, row.before, store)
    await play(t, node, rowOn(row, store), { role, meanwhile: stopped !== '' })
  })
}

for (const store of ['sqlite', 'etcd', 'kubernetes'] as const)
  for (const way of ways) for (const row of rows) test(row, store, way)
