/**
 * A node whose runtime calls Multus: a real API server with its definitions, containerd, the reference plugins, and the packaged
 * daemon and plugin. Pods are objects of the API and sandboxes of containerd; no kubelet stands between the two.
 */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { AttachmentsReply } from '../../shared/api/listing.schema.ts'
import { makeCallerSite, type CallerSite } from './caller-site.ts'
import { createPod, ipkeeperToken } from './cluster-node.ts'
import type { ApiObject } from './cluster-client.ts'
import type { Cluster } from './cluster.ts'
import { currentContainerd } from './containerd-release.ts'
import { startContainerd, type Containerd } from './containerd.ts'
import { multusExecutable } from './multus.ts'
import { startPreparedCluster } from './prepared-cluster.ts'
import { distFolder, testedPlugin } from './requirements.ts'
import type { Finished } from './run-program.ts'

type StringMap = Readonly<Record<string, string>>

/** Which networks a pod chooses: the value of the annotation, or its elements. */
export type Chosen = string | readonly object[]

export interface MultusPod {
  readonly id: string
  readonly name: string
}

export interface MultusSite {
  readonly site: CallerSite
  readonly containerd: Containerd
  /** Makes the pod, and a sandbox of it. Rejects with what kubelet would say; the pod stays. */
  run(name: string, chosen: Chosen, annotations?: StringMap): Promise<MultusPod>
  /** Ends the sandbox, and deletes the pod unless told otherwise. */
  end(pod: MultusPod, options?: { readonly keepObject: boolean }): Promise<void>
  /** Addresses of a pod as Multus wrote them down, by interface: `{ net1: ['10.9.0.5'] }`. */
  networkStatus(name: string): Promise<Readonly<Record<string, readonly string[]>>>
  /** ipkeeperctl on the node, which has folders of its own below /var/lib/cni. */
  control(...words: readonly string[]): Promise<Finished>
  /** A program in the pod's network. */
  inside(pod: MultusPod, program: string, ...args: readonly string[]): Promise<string>
  /** Leases in use of further interfaces, as "shop-lan net1 10.9.0.5", sorted; with "eth0" those of the first one, too. */
  leases(and?: 'eth0'): Promise<readonly string[]>
}

/** Its definition of the custom resource, without what no test asks for. */
const resource = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'network-attachment-definitions.k8s.cni.cncf.io' },
  spec: {
    group: 'k8s.cni.cncf.io',
    scope: 'Namespaced',
    names: {
      plural: 'network-attachment-definitions',
      singular: 'network-attachment-definition',
      kind: 'NetworkAttachmentDefinition',
    },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { config: { type: 'string' } } } },
          },
        },
      },
    ],
  },
}

/** A cluster that knows Multus' definitions, with a node and the namespace shop. */
export async function startMultusCluster(t: Test): Promise<Cluster> {
  const cluster = await startPreparedCluster(t)
  await cluster.create(resource)
  await cluster.until('/apis/k8s.cni.cncf.io/v1/network-attachment-definitions', () => true)
  return cluster
}

const collection = '/apis/k8s.cni.cncf.io/v1/namespaces/shop/network-attachment-definitions'

/** Gives a definition of namespace shop another config. */
export async function redefine(cluster: Cluster, name: string, config: object): Promise<void> {
  await cluster.request('PATCH', `${collection}/${name}`, { spec: { config: JSON.stringify(config) } })
}

/** Makes a definition of namespace shop. */
export async function define(cluster: Cluster, name: string, config: object): Promise<void> {
  await cluster.create({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace: 'shop' },
    spec: { config: JSON.stringify(config, undefined, 2) },
  })
}

export interface MultusSiteOptions {
  /** Of the daemon, beside node and access. */
  readonly config?: object
  /** Whether the daemon may read the API; Multus always does. */
  readonly hasApi: boolean
  /** Further plugins, by name. */
  readonly plugins?: StringMap
  /** A further path of containerd's socket, which the daemon's configuration may name before there is a node. */
  readonly runtime?: string
}

/** Starts a node, whose first network is a bridge with addresses of 10.22.0.0/16. */
export async function startMultusSite(
  t: Test,
  cluster: Cluster,
  { config = {}, hasApi, plugins = {}, runtime }: MultusSiteOptions,
): Promise<MultusSite> {
  const kubeconfig = cluster.kubeconfigFor({ token: await ipkeeperToken(cluster) })
  const site = await makeCallerSite(t, () => ({
    node: 'worker-1',
    kubernetes: hasApi ? { kubeconfig } : { mode: 'off' },
    ...config,
  }))
  await cluster.exposeIn(site.host)
  if (runtime !== undefined) symlinkSync(site.folder.file('containerd.sock'), runtime)
  const confDir = site.folder.file('multus-net.d')
  mkdirSync(confDir)
  const first = {
    ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge', bridge: 'cni0', isGateway: true },
    ipam: site.ipam(),
  }
  const containerd = await startContainerd({
    ...{ host: site.host, folder: site.folder, release: currentContainerd },
    conflist: {
      cniVersion: '1.0.0',
      name: 'multus-cni-network',
      plugins: [
        {
          ...{ type: 'multus', kubeconfig: cluster.kubeconfig, confDir },
          ...{ binDir: site.folder.file('cni-bin'), delegates: [first] },
        },
      ],
    },
    plugins: { ipkeeper: testedPlugin, multus: multusExecutable, ...plugins },
  })
  t.teardown(() => containerd.close())
  const path = (name: string): string => `/api/v1/namespaces/shop/pods/${name}`
  return {
    site,
    containerd,
    run: async (name, chosen, annotations = {}) => {
      const networks = typeof chosen === 'string' ? chosen : JSON.stringify(chosen)
      const all = { ...annotations, ...(networks !== '' && { 'k8s.v1.cni.cncf.io/networks': networks }) }
      const { uid } = await createPod(cluster, name, all)
      const id = await containerd.cri.run({ namespace: 'shop', name, uid, annotations: all })
      return { id, name }
    },
    end: async ({ id, name }, { keepObject } = { keepObject: false }) => {
      await containerd.cri.stop(id)
      await containerd.cri.remove(id)
      if (!keepObject) await cluster.request('DELETE', `${path(name)}?gracePeriodSeconds=0`)
    },
    networkStatus: async name => {
      const pod = await cluster.request('GET', path(name))
      const text = (pod['metadata'] as ApiObject)['annotations'][
        'k8s.v1.cni.cncf.io/network-status'
      ] as string
      const status = JSON.parse(text) as readonly {
        readonly interface: string
        readonly ips?: readonly string[]
      }[]
      return Object.fromEntries(status.map(({ interface: ifname, ips = [] }) => [ifname, ips]))
    },
    control: (...words) =>
      site.host.run(join(distFolder, 'ipkeeperctl'), [...words, '--socket', site.daemon().socket]),
    inside: async ({ id }, program, ...args) => {
      const { body } = await site.daemon().ask('GET', '/v1/attachments')
      const { attachments } = JSON.parse(body) as AttachmentsReply
      const netns = attachments.find(({ containerId }) => containerId === id)?.netns
      if (netns === undefined) throw new Error(`no attachment of ${id}`)
      return await site.host.must('nsenter', [`--net=${netns}`, program, ...args])
    },
    leases: async and =>
      (await site.daemon().boundLeases())
        .filter(({ ifname }) => and === 'eth0' || ifname !== 'eth0')
        .map(({ network, ifname, address }) => `${network} ${ifname} ${address}`)
        .sort(),
  }
}
