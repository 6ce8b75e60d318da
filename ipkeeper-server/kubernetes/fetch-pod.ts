import { metadataOnly, type ApiClient } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { resourcePath } from './api-path.ts'
import type { PodView } from './cluster-view.ts'
import { projectPod } from './object-projection.ts'
import type { OwnerResolver } from './owner-resolver.ts'
import { viewOf } from './pod-directory.ts'

/**
 * See ClusterView.fetchPod.
 *
 * @param patience milliseconds: a person waits, and ipkeeperctl gives up after ten seconds
 */
export async function fetchPod(
  client: Pick<ApiClient, 'get'>,
  owners: Pick<OwnerResolver, 'resolve'>,
  namespace: string,
  name: string,
  patience = 5_000,
): Promise<PodView | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ApiError(`pod ${namespace}/${name}: no answer within ${patience} ms`))
    }, patience)
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
  return viewOf(pod, pod.controller ? await owners.resolve(namespace, pod.controller) : null)
}
