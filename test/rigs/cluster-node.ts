/**
 * A node of a real cluster as ipkeeper sees it: the packaged daemon with the rights that deploy/rbac/rbac.yaml grants it, and
 * the packaged plugin called as a runtime would call it. There are no network namespaces: in the role of an IPAM plugin
 * one that does not exist is no fault.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseAllDocuments, stringify } from 'yaml'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { RefusedError, type ApiObject } from './cluster-client.ts'
import type { Cluster } from './cluster.ts'
import { startDaemon, type Daemon } from './daemon.ts'
import { testedPlugin } from './requirements.ts'
import { runPlugin } from './run-plugin.ts'
import type { Finished } from './run-program.ts'
import { tempFolder, type TempFolder } from './temp-folder.ts'
import { hangMs } from './poll.ts'
import type { Scope } from './teardown.ts'

type StringMap = Readonly<Record<string, string>>

/** A pod as the runtime names it. */
export interface RuntimePod {
  readonly name: string
  /** "" stands for a runtime that tells none. */
  readonly uid: string
  /** Default: shop. */
  readonly namespace?: string
  /** Annotations that the runtime passes on; without them the conflist does not have the capability. */
  readonly passedOn?: StringMap
  /** Default: one of its own for each call. */
  readonly container?: string
}

/** What the runtime got. */
export type Answer =
  | { readonly ips: readonly string[]; readonly container: string; readonly ms: number }
  | {
      readonly code: number
      readonly msg: string
      readonly details: string
      readonly container: string
      readonly ms: number
    }

export interface ClusterNode {
  /** The one that runs; after `restart` another one. */
  readonly daemon: Daemon
  readonly folder: TempFolder
  /** A conflist as it would stand in /etc/cni/net.d, without the capability. */
  readonly conflist: string
  add(pod: RuntimePod): Promise<Answer>
  del(pod: RuntimePod, container: string): Promise<void>
  status(): Promise<StatusReply>
  /** Ends the daemon, does what is to happen meanwhile, and starts it anew as it was. */
  restart(meanwhile?: () => Promise<unknown>): Promise<void>
  /** The status once it is as wanted; fails after `hangMs`. */
  untilStatus(wanted: (kubernetes: NonNullable<StatusReply['kubernetes']>) => boolean): Promise<StatusReply>
  /** Replaces the configuration file. What was given at the start and is not given now falls away, but the access. */
  configure(config: object): void
  /** `ipkeeperctl explain WORDS -o json`, for this node's conflist; parsed. */
  explain(...words: readonly string[]): Promise<readonly ApiObject[]>
}

export interface ClusterNodeOptions {
  /** Name of this node. Default: worker-1. */
  readonly name?: string
  /** Of the daemon's configuration, beside node and kubernetes. */
  readonly config?: object
  /** Default: one for the service account of deploy/rbac/rbac.yaml. */
  readonly kubeconfig?: string
  /** Of the network configuration. Default: one range set, 10.22.0.0/24. */
  readonly ipam?: object
  /** Further arguments of `serve`, such as `--store kubernetes:`. */
  readonly args?: readonly string[]
  /** Do not wait until all watches are open. */
  readonly unwatched?: boolean
  /** How long the daemon may take to be ready, in milliseconds. Default: that of startDaemon. */
  readonly readyMs?: number
}

const rbac = join(import.meta.dirname, '..', '..', 'deploy', 'rbac', 'rbac.yaml')

/** The objects of deploy/rbac/rbac.yaml. */
export function rbacObjects(): readonly ApiObject[] {
  return parseAllDocuments(readFileSync(rbac, 'utf8')).map(document => document.toJS() as ApiObject)
}

/** Creates the objects, by default those of deploy/rbac/rbac.yaml, and waits for a namespace that the server makes itself. */
export async function grantRights(cluster: Cluster, objects = rbacObjects()): Promise<void> {
  await cluster.until('/api/v1/namespaces/kube-system', () => true)
  for (const object of objects) {
    await cluster.create(object).catch((error: unknown) => {
      if (!(error instanceof RefusedError && error.status === 409)) throw error
    })
  }
}

/** A token of the service account of deploy/rbac/rbac.yaml. */
export async function ipkeeperToken(cluster: Cluster): Promise<string> {
  await grantRights(cluster)
  return await cluster.serviceAccountToken('kube-system', 'ipkeeper')
}

/** Starts the daemon of a node, and has it ended with the test. The cluster need not have that node. */
export async function startClusterNode(
  t: Scope,
  cluster: Cluster,
  options: ClusterNodeOptions = {},
): Promise<ClusterNode> {
  const { name = 'worker-1', config = {}, ipam = { ranges: [[{ subnet: '10.22.0.0/24' }]] } } = options
  const kubeconfig = options.kubeconfig ?? cluster.kubeconfigFor({ token: await ipkeeperToken(cluster) })
  const folder = tempFolder(t)
  const socket = folder.file('s')
  const stateDir = folder.file('state')
  const configFile = folder.file('config.yaml')
  const configure = (own: object): void => {
    writeFileSync(configFile, stringify({ node: name, kubernetes: { kubeconfig }, ...own }))
  }
  configure(config)
  const plugin = { type: 'bridge', ipam: { type: 'ipkeeper', socket, stateDir, ...ipam } }
  const network = { cniVersion: '1.0.0', name: 'fixed' }
  const conflist = folder.file('10-fixed.conflist')
  writeFileSync(conflist, JSON.stringify({ ...network, plugins: [plugin] }))

  const { args = [], readyMs } = options
  const start = (): Promise<Daemon> =>
    startDaemon({
      ...{ socket, stateDir, config: configFile, args },
      ...(readyMs !== undefined && { readyMs }),
    })
  let daemon = await start()
  t.teardown(() => daemon.stop('SIGKILL'))

  const call = (command: string, pod: RuntimePod, container: string): Promise<Finished> =>
    runPlugin({
      plugin: testedPlugin,
      command,
      containerId: container,
      netns: `/run/netns/${container}`,
      ifname: 'eth0',
      args: [
        'IgnoreUnknown=1',
        `K8S_POD_NAMESPACE=${pod.namespace ?? 'shop'}`,
        `K8S_POD_NAME=${pod.name}`,
        `K8S_POD_INFRA_CONTAINER_ID=${container}`,
        `K8S_POD_UID=${pod.uid}`,
      ].join(';'),
      path: '/opt/cni/bin',
      config: {
        ...network,
        ...plugin,
        ...(pod.passedOn && { runtimeConfig: { 'io.kubernetes.cri.pod-annotations': pod.passedOn } }),
      },
    })
  const status = async (): Promise<StatusReply> =>
    JSON.parse((await daemon.ask('GET', '/v1/status')).body) as StatusReply
  const untilStatus: ClusterNode['untilStatus'] = async wanted => {
    const deadline = performance.now() + hangMs
    for (;;) {
      const got = await status()
      if (got.kubernetes && wanted(got.kubernetes)) return got
      if (performance.now() > deadline)
        throw new Error(`the status is not as wanted in time: ${JSON.stringify(got.kubernetes)}`)
      await delay(20)
    }
  }
  if (options.unwatched !== true) await untilStatus(isComplete)

  return {
    get daemon() {
      return daemon
    },
    folder,
    conflist,
    add: async pod => {
      const container = pod.container ?? randomBytes(8).toString('hex')
      const { exit, stdout, stderr, ms } = await call('ADD', pod, container)
      if (stderr !== '') throw new Error(stderr)
      const document = JSON.parse(stdout) as ApiObject
      if (exit === 0) {
        const ips = (document['ips'] as { address: string }[]).map(({ address }) => address)
        return { ips, container, ms }
      }
      return {
        code: document['code'] as number,
        msg: String(document['msg']),
        details: String(document['details'] ?? ''),
        container,
        ms,
      }
    },
    del: async (pod, container) => {
      const { exit, stdout } = await call('DEL', pod, container)
      if (exit !== 0) throw new Error(stdout)
    },
    status,
    restart: async (meanwhile = () => Promise.resolve()) => {
      await daemon.stop()
      await meanwhile()
      daemon = await start()
      if (options.unwatched !== true) await untilStatus(isComplete)
    },
    untilStatus,
    configure,
    explain: async (...words) => {
      const { stdout, stderr } = await daemon.control(
        ...['explain', ...words, '--conflist', conflist, '-o', 'json'],
      )
      if (stderr !== '') throw new Error(stderr)
      return (JSON.parse(stdout) as { explanations: ApiObject[] }).explanations
    },
  }
}

/** A pod in the API with an address of this node; resolves to what ends it, there and here. */
export async function runPod(
  cluster: Cluster,
  node: ClusterNode,
  name: string,
  annotations: StringMap,
): Promise<() => Promise<void>> {
  const pod = await createPod(cluster, name, annotations)
  const answer = await node.add(pod)
  if (!('ips' in answer)) throw new Error(`${name}: ${answer.msg}`)
  return async () => {
    await node.del(pod, answer.container)
    await cluster.request('DELETE', `/api/v1/namespaces/shop/pods/${name}?gracePeriodSeconds=0`)
  }
}

/** Whether all that the daemon asks of the API at its start was answered. */
function isComplete({ connected, missingRights }: NonNullable<StatusReply['kubernetes']>): boolean {
  return connected && missingRights !== null
}

/** A bare pod of namespace shop on a node, as the API has it once it is scheduled. */
export function podManifest(
  name: string,
  annotations: StringMap = {},
  more: { readonly node?: string; readonly namespace?: string } = {},
): ApiObject {
  const { node = 'worker-1', namespace = 'shop' } = more
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, annotations },
    spec: { nodeName: node, containers: [{ name: 'main', image: 'localhost/none' }] },
  }
}

/** A StatefulSet of namespace shop; `annotations` are its own, which no pod sees, and `spec` goes over what it has. */
export function statefulSet(
  name: string,
  { annotations = {}, spec = {} }: { readonly annotations?: StringMap; readonly spec?: object } = {},
): ApiObject {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'shop', annotations },
    spec: {
      serviceName: name,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'localhost/none' }] } },
      ...spec,
    },
  }
}

/** Creates a namespace of the API. */
export async function createNamespace(cluster: Cluster, name: string, metadata: object = {}): Promise<void> {
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } })
}

/** Creates a Node that no kubelet stands behind. */
export async function createNode(cluster: Cluster, name: string, labels: StringMap = {}): Promise<void> {
  await cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })
}

/** Creates a bare pod and gives it as the runtime would name it. */
export async function createPod(
  cluster: Cluster,
  name: string,
  annotations: StringMap = {},
  more: { readonly node?: string; readonly namespace?: string } = {},
): Promise<RuntimePod> {
  const { metadata } = (await cluster.create(podManifest(name, annotations, more))) as { metadata: ApiObject }
  return {
    name,
    uid: metadata['uid'] as string,
    ...(more.namespace !== undefined && { namespace: more.namespace }),
  }
}
