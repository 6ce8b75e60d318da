/** Waiting until all is done that is to be done, and looking at what is so then. */
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../rigs/poll.ts'
import type { SharedNode } from '../rigs/shared-node.ts'
import { faultsOfEnd } from './check-end.ts'
import type { EngineSide } from './engine-side.ts'
import type { FinalState, NodeEvent, SeenLease } from './history.ts'

export interface SettleOptions {
  readonly nodes: readonly SharedNode[]
  /** Absent: the only node has its leases to itself. */
  readonly engine?: EngineSide | undefined
  readonly events: readonly NodeEvent[]
  /** Whether it will be gone soon. Default: whatever is not bound. */
  readonly isResting?: (lease: SeenLease) => boolean
  /** What a node is called in the history, whatever it calls itself. */
  readonly nameOf?: (node: string) => string
  /** Milliseconds until nothing rests and nothing is wrong; what is so later is for the checker to tell. Default: 45 s. */
  readonly patience?: number
}

/** Waits until no daemon owes anything, nothing rests any more, and sweepers had their time; what is so then. */
export async function settled(options: SettleOptions): Promise<FinalState> {
  const { nodes, events, isResting = ({ state }) => state !== 'bound', patience = 45_000 } = options
  await until(
    'nothing is owed',
    async () => {
      for (const node of nodes) {
        const { store, deferredDels } = await node.status()
        const isReady = store.state === undefined || (store.state === 'ready' && store.owed === 0)
        if (!isReady || deferredDels.waiting > 0) return false
      }
      return true
    },
    60_000,
  )
  let state = await stateOf(options)
  const deadline = performance.now() + patience
  while (
    (state.engine.leases.some(isResting) || faultsOfEnd(events, state).length > 0) &&
    performance.now() < deadline
  ) {
    await delay(300)
    state = await stateOf(options)
  }
  return state
}

async function stateOf({ nodes, engine, nameOf = node => node }: SettleOptions): Promise<FinalState> {
  const listings = new Map<string, readonly SeenLease[]>()
  for (const node of nodes) {
    const leases = await node.leases()
    listings.set(
      node.name,
      leases.map(({ address, state, pod, containerId, node: of }) => ({
        ...{ address, state, holder: pod?.name ?? '', container: containerId, node: nameOf(of) },
      })),
    )
  }
  const [own = []] = listings.values()
  const { leases, holders } = engine ? await engine.read() : { leases: own, holders: [] }
  return {
    listings,
    engine: { holders, leases: leases.map(lease => ({ ...lease, node: nameOf(lease.node) })) },
  }
}
