import { setTimeout as delay } from 'node:timers/promises'
import { RefusedError, type ApiObject, type ClusterClient } from './cluster-client.ts'
import type { Scope } from './teardown.ts'

/** Milliseconds until pods are listed again although no event asks for it, and while some still need something. */
const [resyncMs, retryMs] = [1000, 50]

const podsPath = '/api/v1/pods'

/**
 * Plays scheduler and kubelets in a cluster that has neither: a pod gets a node, runs and is ready at once, and ends as
 * soon as it is deleted. Controllers need that to go on. No container is started, and no plugin called. What a pod needs
 * follows from its present state alone: an event only says that it is time to look, and a refused request is retried.
 *
 * @param nodes names; the nodes are created, and pods get them in turn, unless they ask for one as a DaemonSet's do
 */
export async function startNodeDouble(
  t: Scope,
  cluster: ClusterClient,
  nodes: readonly [string, ...string[]],
): Promise<void> {
  for (const name of nodes) await cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
  const scheduler = createScheduler(nodes)
  const stopped = new AbortController()
  const wakeUp = createWakeUp()
  const watching = whileRunning(stopped.signal, async () => {
    // Without a version it begins with all that there is.
    for await (const { type } of cluster.watch(podsPath, stopped.signal))
      if (type !== 'BOOKMARK') wakeUp.wake()
  })
  const working = whileRunning(stopped.signal, async () => {
    const woken = wakeUp.next()
    const { items } = await cluster.request('GET', podsPath)
    const steps = (items as ApiObject[])
      .map(pod => nextStep(pod, scheduler))
      .filter(step => step !== undefined)
    await Promise.all(steps.map(step => take(cluster, step)))
    // What the steps came to is seen in the next list.
    await Promise.race([woken, delay(steps.length > 0 ? retryMs : resyncMs)])
  })
  t.teardown(async () => {
    stopped.abort()
    wakeUp.wake()
    await Promise.all([watching, working])
  })
}

type Step = Parameters<ClusterClient['request']>

/** The request that a pod needs as it is now; undefined: it is as it should be. */
function nextStep(pod: ApiObject, nodeOf: (pod: ApiObject) => string): Step | undefined {
  const { metadata, spec, status } = pod
  const path = `/api/v1/namespaces/${String(metadata.namespace)}/pods/${String(metadata.name)}`
  if (metadata.deletionTimestamp !== undefined) {
    // Already deleted for good, and kept by a finalizer of others.
    if (metadata.deletionGracePeriodSeconds === 0) return undefined
    const preconditions = { uid: metadata.uid as string }
    return ['DELETE', path, { gracePeriodSeconds: 0, preconditions }]
  }
  if (spec.nodeName === undefined) {
    const { name, uid } = metadata as { name: string; uid: string }
    const target = { kind: 'Node', name: nodeOf(pod) }
    return ['POST', `${path}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name, uid }, target }]
  }
  if (status.phase !== 'Pending') return undefined
  const conditions = [{ type: 'Ready', status: 'True' }]
  return ['PATCH', `${path}/status`, { status: { phase: 'Running', conditions } }]
}

/** A refusal says nothing that the next look at the pod does not say. */
async function take(cluster: ClusterClient, step: Step): Promise<void> {
  try {
    await cluster.request(...step)
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
  }
}

/** Decides on a node once for each pod: one whose binding is refused keeps its turn. */
function createScheduler(nodes: readonly [string, ...string[]]): (pod: ApiObject) => string {
  const chosen = new Map<string, string>()
  let turn = 0
  return ({ metadata, spec }) => {
    const uid = String(metadata.uid)
    const node = chosen.get(uid) ?? askedNode(spec) ?? nodes[turn++ % nodes.length] ?? nodes[0]
    chosen.set(uid, node)
    return node
  }
}

/** Where the controller of a DaemonSet wants its pod. */
function askedNode(spec: ApiObject): string | undefined {
  const required = spec['affinity']?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values?.[0] as string | undefined
}

/** Does it again and again; the server may be away, as some tests want it. */
async function whileRunning(stopped: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!stopped.aborted) {
    try {
      await work()
    } catch (error) {
      // A mistake of this file, and no server that is away.
      if (error instanceof TypeError) throw error
      await delay(retryMs)
    }
  }
}

/** `next()` is to be called before what is looked at: what happens after that wakes. */
function createWakeUp(): { readonly next: () => Promise<unknown>; readonly wake: () => void } {
  let wake = (): void => undefined
  return {
    next: () => new Promise<undefined>(resolve => (wake = resolve as () => void)),
    wake: () => {
      wake()
    },
  }
}
