import { noDaemon, ok, skip, warn, type Check } from '../check.ts'

export const severalNodesCheck: Check = {
  id: 'several-nodes',
  title: 'one store for all nodes that give its addresses',
  why: 'The embedded store knows its own node only: another node could give the same address.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const nodes = status.kubernetes?.counts.nodes
    if (nodes === undefined) return skip('no Kubernetes API is configured that could tell of other nodes')
    if (nodes > 1 && ['sqlite', 'memory'].includes(status.store.kind))
      return warn(
        `the cluster has ${nodes} nodes, and the store (${status.store.kind}) is this one's`,
        ...['ipkeeperctl', 'pools'],
      )
    return ok(`${nodes} ${nodes === 1 ? 'node' : 'nodes'}, store ${status.store.kind}`)
  },
}
