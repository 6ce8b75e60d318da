/**
 * The daemon's part that keeps routes to other nodes' pods, alone in a host: each line of stdin is what it is to go by from
 * now on. It ends with its stdin, and leaves the routes.
 */
import { statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { AttachmentRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import { forgetNeighbours } from '../../ipkeeper-server/network/pod/pod-links.ts'
import { NodeRoutes } from '../../ipkeeper-server/network/node/node-routes.ts'
import type { BoundAddress, NodeRoutesView } from '../../ipkeeper-server/network/plan/plan-node-routes.ts'
import { runTool } from '../../ipkeeper-server/network/run-tool.ts'

/** One line; null: routes are switched off. */
export type RoutesOrder = {
  readonly node: string
  readonly bound: readonly BoundAddress[]
  readonly nodes: Readonly<Record<string, readonly string[]>>
  readonly podBridges: readonly string[]
  readonly ranges: NodeRoutesView['ranges']
  /** Namespaces of own pods on the bridge. */
  readonly pods: readonly string[]
} | null

let order: RoutesOrder = null

const routes = new NodeRoutes({
  run: runTool,
  view: () =>
    order
      ? { ...order, nodes: new Map(Object.entries(order.nodes)), podBridges: new Set(order.podBridges) }
      : 'off',
  forgetNeighbours: (bridge, addresses) => {
    const pods = (order?.pods ?? []).map(netns => ({
      ...{ netns, netnsInode: statSync(netns).ino.toString(), ifname: 'eth0' },
      wiring: { master: bridge },
    }))
    return forgetNeighbours(runTool, pods as unknown as AttachmentRecord[], bridge, addresses)
  },
  onUnreached: unreached => {
    process.stdout.write(`unreached ${JSON.stringify(unreached)}\n`)
  },
  onProblem: error => {
    process.stdout.write(`problem ${String(error)}\n`)
  },
})

for await (const line of createInterface({ input: process.stdin })) {
  order = JSON.parse(line) as RoutesOrder
  routes.wake()
}
await routes.stop()
