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
  /** What its container runs, of the toolbox; default: a program that only waits. */
  readonly command?: readonly string[]
}

const spec = ({ node, command }: PodOptions): object => ({
  // Neither program takes notice of a signal.
  terminationGracePeriodSeconds: 1,
  // kubelet asks the API for a token before it starts a pod, and some stories take the API away.
  automountServiceAccountToken: false,
  containers: [
    command === undefined
      ? { name: 'main', image: toolboxName('pause') }
      : { name: 'main', image: toolboxName('toolbox'), command },
  ],
  ...(node !== undefined && { nodeSelector: { 'kubernetes.io/hostname': node } }),
})

/** A pod of app NAME. */
export const podOf = (name: string, options: PodOptions = {}): ApiObject => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name, namespace: shop, labels: { app: name }, annotations: options.annotations ?? {} },
  spec: spec(options),
})

/** The template of app NAME in a workload. */
const template = (name: string, options: PodOptions): ApiObject => ({
  selector: { matchLabels: { app: name } },
  template: {
    metadata: { labels: { app: name }, annotations: options.annotations ?? {} },
    spec: spec(options),
  },
})

/** A StatefulSet of app NAME, whose pods may start all at once. */
export const statefulSetOf = (name: string, replicas: number, options: PodOptions): ApiObject => ({
  ...{ apiVersion: 'apps/v1', kind: 'StatefulSet' },
  metadata: { name, namespace: shop },
  spec: { serviceName: name, replicas, podManagementPolicy: 'Parallel', ...template(name, options) },
})

/** A Deployment of app NAME, with one pod. */
export const deploymentOf = (name: string, options: PodOptions): ApiObject => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
  metadata: { name, namespace: shop },
  spec: { replicas: 1, ...template(name, options) },
})

export async function podsOfApp({ api }: KubeletCluster, app: string): Promise<readonly ApiObject[]> {
  const path = `/api/v1/namespaces/${shop}/pods?labelSelector=app=${app}`
  return (await api.request('GET', path))['items'] as ApiObject[]
}

/**
 * Waits until exactly these pods of an app run, each with its address, and none ends.
 *
 * @param addresses by name of the pod; or the addresses alone, where names are made up
 */
export async function untilPodsRun(
  cluster: KubeletCluster,
  app: string,
  addresses: StringMap | readonly string[],
): Promise<void> {
  const byName = !Array.isArray(addresses)
  const wanted = JSON.stringify((byName ? Object.entries(addresses) : addresses).toSorted())
  let seen = ''
  await untilHolds(`pods of ${app} run as ${wanted}`, async () => {
    const pods = await podsOfApp(cluster, app)
    const running = pods.filter(isRunning)
    const shown = running.map(({ metadata, status }) =>
      byName ? [metadata['name'], status['podIP']] : status['podIP'],
    )
    seen = JSON.stringify(shown.sort())
    return seen === wanted && running.length === pods.length
  }).catch(async (error: unknown) => {
    const { stdout } = await cluster.kubectl(['--namespace', shop, 'get', 'pods,events', '--output', 'wide'])
    throw new Error(`seen last: ${seen}\n${stdout}`, { cause: error })
  })
}

const isRunning = ({ metadata, status }: ApiObject): boolean =>
  metadata['deletionTimestamp'] === undefined &&
  (status['containerStatuses'] as ApiObject[] | undefined)?.every(({ ready }) => ready === true) === true

export async function untilGone(cluster: KubeletCluster, app: string): Promise<void> {
  await untilHolds(`no pod of ${app}`, async () => (await podsOfApp(cluster, app)).length === 0)
}

/** `kubectl -n shop WORDS`, which must succeed. */
export const inShop = (cluster: KubeletCluster, ...words: readonly string[]): Promise<string> =>
  cluster.mustKubectl(['--namespace', shop, ...words])
