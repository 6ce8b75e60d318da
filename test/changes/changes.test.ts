/**
 * What becomes of addresses when the configuration changes: every row of the table, with each store, in each role.
 *
 *   CHANGES=all   every row with every store in every role, not only those that each run plays
 *   CHANGES=TEXT  those whose name has this text
 */
import t, { type Test } from 'tap'
import { startLanEtcd } from '../rigs/lan-etcd.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { missing } from '../rigs/requirements.ts'
import { makeTempFolder } from '../rigs/temp-folder.ts'
import { startWiredNode, type WiredNode } from '../rigs/wired-node.ts'
import { fileOf, play, rowOn } from './play.ts'
import type { Configuration, Store } from './row.ts'
import { rows } from './rows.ts'

const skips = {
  sqlite: missing('namespaces', 'nft', 'executables'),
  etcd: missing('namespaces', 'nft', 'executables', 'etcd'),
} as const
const wanted = process.env['CHANGES']

// They wait for processes most of the time.
t.jobs = 3
t.setTimeout(wanted === undefined ? 300_000 : 1_800_000)

async function makeNode(t: Test, before: Configuration, store: Store): Promise<WiredNode> {
  const folder = makeTempFolder()
  const host = await startPrivateHost()
  t.teardown(async () => {
    await host.close()
    folder.remove()
  })
  const outside = { ...host, ipv4: '127.0.0.1' }
  return await startWiredNode(host, {
    ...{ folder, ipam: {}, configuration: fileOf(before) },
    ...(store === 'etcd' && { store: `etcd:${await startLanEtcd({ outside }, folder)}` }),
  })
}

for (const store of ['sqlite', 'etcd'] as const)
  for (const role of ['ipam', 'main'] as const)
    for (const row of rows) {
      const name = `${store} ${role}: ${row.where}: ${row.what}`
      const played =
        wanted === undefined
          ? row.always?.includes(`${store} ${role}`)
          : wanted === 'all' || name.includes(wanted)
      if (played !== true) continue
      const options = {
        skip: row.without?.[role] ?? skips[store],
        timeout: 240_000,
      }
      t.test(name, options, async t => {
        await play(t, await makeNode(t, row.before, store), rowOn(row, store), role)
      })
    }
