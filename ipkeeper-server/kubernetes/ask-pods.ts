import { metadataOnly, type ApiClient } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { resourcePath } from './api-path.ts'
import type { PodView } from './cluster-view.ts'
import { projectPod, at, readMeta } from './kube-object.ts'
import type { OwnerResolver } from './owner-resolver.ts'
import { podViewOf } from './pod-directory.ts'
import { isJsonObject, type JsonObject } from '../../shared/json/fold.ts'

/**
 * See ClusterView.fetchPod.
 *
 * @param timeout milliseconds: a person waits, and ipkeeperctl gives up after ten seconds
 */
export async function fetchPod(
  client: Pick<ApiClient, 'get'>,
  owners: Pick<OwnerResolver, 'resolve'>,
  namespace: string,
  name: string,
  timeout = 5_000,
): Promise<PodView | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ApiError(`pod ${namespace}/${name}: no answer within ${timeout} ms`))
    }, timeout)
  })
  try {
    return await Promise.race([ask(client, owners, namespace, name), late])
  } finally {
    clearTimeout(timer)
  }
}

async function ask(
  client: Pick<ApiClient, 'get'>,
  owners: Pick<OwnerResolver, 'resolve'>,
  namespace: string,
  name: string,
): Promise<PodView | undefined> {
  const path = resourcePath('v1', 'pods', { namespace, name })
  let pod
  try {
    pod = projectPod(await client.get(path, { accept: metadataOnly }))
  } catch (error) {
    // A 404 of something in between, or of a wrong path, says nothing of the pod.
    const absent = error instanceof ApiError && error.status === 404 && error.reason === 'NotFound'
    if (absent && error.about === name) return undefined
    throw error
  }
  if (pod?.name !== name || pod.namespace !== namespace) {
    throw new ApiError(`GET ${path}: the answer is not that pod`)
  }
  return podViewOf(pod, pod.controller ? await owners.resolve(namespace, pod.controller) : null)
}

/** A pod of this node as the API reports it. */
export interface NodePod {
  readonly namespace: string
  readonly name: string
  /** Its own, and those by which a runtime knows a static pod. */
  readonly uids: readonly string[]
  /** status.podIPs; empty for a pod of the host's network. */
  readonly addresses: readonly string[]
  readonly deleting: boolean
}

/** Annotations by which kubelet and the API name a static pod (see pod-directory.ts). */
const staticPodKeys = ['kubernetes.io/config.mirror', 'kubernetes.io/config.hash']

/** Phases of pods whose sandboxes may be gone though the pod is there. */
const ended = ['Succeeded', 'Failed']

/**
 * All pods of this node that have not ended, asked of the API now. Rejects with an Error that says why there is no whole
 * answer. From the cache of the server (resourceVersion 0): each node asks now and then, and a pod that
 * is some seconds old is old enough for what is asked.
 */
export async function listNodePods(
  client: Pick<ApiClient, 'get'>,
  node: string,
): Promise<readonly NodePod[]> {
  const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${node}`, resourceVersion: '0' })
  const list = await client.get(`/api/v1/pods?${query.toString()}`)
  const { items } = list
  if (list['kind'] !== 'PodList' || !Array.isArray(items))
    throw new ApiError('GET /api/v1/pods: no list of pods')
  if (at(list, 'metadata', 'continue') !== undefined && at(list, 'metadata', 'continue') !== '')
    throw new ApiError('GET /api/v1/pods: the list is not whole')
  return items.flatMap((item: unknown) => (isJsonObject(item) ? (readNodePod(item) ?? []) : []))
}

function readNodePod(object: JsonObject): NodePod | undefined {
  const meta = readMeta(object, key => staticPodKeys.includes(key))
  if (meta?.namespace === undefined || ended.includes(String(at(object, 'status', 'phase')))) return undefined
  const addresses = at(object, 'status', 'podIPs')
  const onHost = at(object, 'spec', 'hostNetwork') === true
  return {
    namespace: meta.namespace,
    name: meta.name,
    uids: [meta.uid, ...Object.values(meta.annotations)],
    addresses:
      onHost || !Array.isArray(addresses)
        ? []
        : addresses.flatMap((entry: unknown) => {
            const ip = isJsonObject(entry) ? entry['ip'] : undefined
            return typeof ip === 'string' ? [ip] : []
          }),
    deleting: meta.deleting,
  }
}
