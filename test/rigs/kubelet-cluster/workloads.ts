/** Pods and workloads of stories, and what is waited for of them. All are in one namespace, of one image that only waits. */
import type { ApiObject } from '../cluster-client.ts'
import { toolboxName } from './host-images.ts'
import { shop } from './installed-cluster.ts'
import { untilHolds, type KubeletCluster } from './kubelet-cluster.ts'

type StringMap = Readonly<Record<string, string>>

export interface PodOptions {
  readonly annotations?: StringMap
  /** The node that it has to be on. */
  readonly node?: string
}

/** For whom an end by a signal has to be quick: its program takes no notice of any. */
const spec = (node?: string): object => ({
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'main', image: toolboxName('pause') }],
  ...(node !== undefined && { nodeSelector: { 'kubernetes.io/hostname': node } }),
})

/** A pod of app NAME. */
export const podOf = (name: string, { annotations = {}, node }: PodOptions = {}): ApiObject => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name, namespace: shop, labels: { app: name }, annotations },
  spec: spec(node),
})

/** A StatefulSet of app NAME, whose pods may start all at once. */
export const statefulSetOf = (
  name: string,
  replicas: number,
  { annotations = {}, node }: PodOptions,
): ApiObject => ({
  ...{ apiVersion: 'apps/v1', kind: 'StatefulSet' },
  metadata: { name, namespace: shop },
  spec: {
    ...{ serviceName: name, replicas, podManagementPolicy: 'Parallel' },
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name }, annotations }, spec: spec(node) },
  },
})

export async function podsOfApp({ api }: KubeletCluster, app: string): Promise<readonly ApiObject[]> {
  const path = `/api/v1/namespaces/${shop}/pods?labelSelector=app=${app}`
  return (await api.request('GET', path))['items'] as ApiObject[]
}

/**
 * Waits until exactly these pods of an app run, each with its address, and none ends.
 *
 * @param addresses by name of the pod
 */
export async function untilPodsRun(
  cluster: KubeletCluster,
  app: string,
  addresses: StringMap,
): Promise<void> {
  const wanted = JSON.stringify(Object.entries(addresses).sort())
  let seen = ''
  await untilHolds(`pods of ${app} run as ${wanted}`, async () => {
    const pods = await podsOfApp(cluster, app)
    const running = pods.filter(
      ({ metadata, status }) =>
        metadata['deletionTimestamp'] === undefined &&
        (status['containerStatuses'] as ApiObject[] | undefined)?.every(({ ready }) => ready === true) ===
          true,
    )
    seen = JSON.stringify(running.map(({ metadata, status }) => [metadata['name'], status['podIP']]).sort())
    return seen === wanted && running.length === pods.length
  }).catch(async (error: unknown) => {
    const { stdout } = await cluster.kubectl(['--namespace', shop, 'get', 'pods,events', '--output', 'wide'])
    throw new Error(`seen last: ${seen}\n${stdout}`, { cause: error })
  })
}

export async function untilGone(cluster: KubeletCluster, app: string): Promise<void> {
  await untilHolds(`no pod of ${app}`, async () => (await podsOfApp(cluster, app)).length === 0)
}

/** `kubectl -n shop WORDS`, which must succeed. */
export const inShop = (cluster: KubeletCluster, ...words: readonly string[]): Promise<string> =>
  cluster.mustKubectl(['--namespace', shop, ...words])
