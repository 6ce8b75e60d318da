import t from 'tap'
import { startLan } from '../rigs/lan.ts'
import { missing } from '../rigs/requirements.ts'
import { makeSharedNode } from '../rigs/shared-node.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { startKubernetesSide } from './kubernetes-side.ts'
import { hastyConfig, play, playPool } from './play.ts'

t.test(
  'four daemons, 300 pods, one pool in the Kubernetes API',
  { skip: missing('namespaces', 'nft', 'cluster', 'executables') },
  async t => {
    const folder = tempFolder(t)
    const lan = await startLan({ hosts: 4 })
    t.teardown(() => lan.close())
    const engine = await startKubernetesSide(t, lan.hosts)
    const nodes = lan.hosts.map(host =>
      makeSharedNode(t, { host, ledger: engine.ledger, folder, config: hastyConfig, ipam: playPool }),
    )
    for (const node of nodes) await node.start()
    await play(t, {
      ...{ nodes, engine, atOnce: 12, longest: Number(process.env['MANY_NODES_MS'] ?? 45_000) },
      pods: Number(process.env['MANY_NODES_PODS'] ?? 300),
      mishaps: Number(process.env['MANY_NODES_MISHAPS'] ?? 2),
      // A server that has just been started does not know its roles yet, and says that it forbids it.
      refusals: ['IPK_STORE_FAILED'],
    })
  },
)
