import { isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import type { ApiClient } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { at, readMeta } from './kube-object.ts'

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
