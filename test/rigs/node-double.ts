import { setTimeout as delay } from 'node:timers/promises'
import { RefusedError, type ApiObject, type ClusterClient, type WatchEvent } from './cluster-client.ts'

/**
 * Plays scheduler and kubelets in a cluster that has neither: a pod gets a node, runs and is ready at once, and ends as
 * soon as it is deleted. Controllers need that to go on. No container is started, and no plugin called.
 *
 * @param nodes names; the nodes are created, and pods get them in turn, unless they ask for one as a DaemonSet's do
 */
export async function startNodeDouble(
  t: { teardown(clean: () => unknown): unknown },
  cluster: ClusterClient,
  nodes: readonly [string, ...string[]],
): Promise<void> {
  for (const name of nodes) await cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
  let turn = 0
  const nextNode = (): string => nodes[turn++ % nodes.length] ?? nodes[0]
  const stopped = new AbortController()
  const ended = (async () => {
    while (!stopped.signal.aborted) {
      try {
        // Without a version it begins with all that there is.
        for await (const event of cluster.watch('/api/v1/pods', stopped.signal)) {
          await care(cluster, event, nextNode)
        }
      } catch (error) {
        // The server is away, as some tests want it; that is no TypeError.
        if (error instanceof TypeError) throw error
        await delay(50)
      }
    }
  })()
  t.teardown(() => {
    stopped.abort()
    return ended
  })
}

async function care(cluster: ClusterClient, event: WatchEvent, nextNode: () => string): Promise<void> {
  if (event.type !== 'ADDED' && event.type !== 'MODIFIED') return
  const { metadata, spec, status } = event.object
  const path = `/api/v1/namespaces/${String(metadata.namespace)}/pods/${String(metadata.name)}`
  try {
    if (metadata.deletionTimestamp !== undefined) {
      await cluster.request('DELETE', path, {
        gracePeriodSeconds: 0,
        preconditions: { uid: metadata.uid as string },
      })
    } else if (spec.nodeName === undefined) {
      await cluster.request('POST', `${path}/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: metadata.name as string },
        target: { kind: 'Node', name: askedNode(spec) ?? nextNode() },
      })
    } else if (status.phase === 'Pending') {
      const conditions = [{ type: 'Ready', status: 'True' }]
      await cluster.request('PATCH', `${path}/status`, { status: { phase: 'Running', conditions } })
    }
  } catch (error) {
    // Somebody was faster; another event says what came of it.
    if (!(error instanceof RefusedError)) throw error
  }
}

/** Where the controller of a DaemonSet wants its pod. */
function askedNode(spec: ApiObject): string | undefined {
  const required = spec['affinity']?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values?.[0] as string | undefined
}
