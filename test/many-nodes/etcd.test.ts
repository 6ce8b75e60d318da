import t from 'tap'
import { startLan } from '../rigs/lan.ts'
import { missing } from '../rigs/requirements.ts'
import { makeSharedNode } from '../rigs/shared-node.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { startEtcdSide } from './etcd-side.ts'
import { hastyConfig, play, playPool } from './play.ts'

t.test(
  'ten daemons, many pods, one pool on three members',
  { skip: missing('namespaces', 'nft', 'cluster', 'executables') },
  async t => {
    const folder = tempFolder(t)
    const lan = await startLan({ hosts: 13 })
    t.teardown(() => lan.close())
    const engine = await startEtcdSide(t, lan.hosts.slice(10), folder)
    const nodes = lan.hosts
      .slice(0, 10)
      .map(host =>
        makeSharedNode(t, { host, ledger: engine.ledger, folder, config: hastyConfig, ipam: playPool }),
      )
    for (const node of nodes) await node.start()
    await play(t, {
      ...{ nodes, engine, atOnce: 60, longest: Number(process.env['MANY_NODES_MS'] ?? 45_000) },
      pods: Number(process.env['MANY_NODES_PODS'] ?? 1500),
      mishaps: Number(process.env['MANY_NODES_MISHAPS'] ?? 3),
    })
  },
)
