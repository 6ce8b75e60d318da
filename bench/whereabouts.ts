import { existsSync, writeFileSync } from 'node:fs'
import type { ApiObject, ClusterClient } from '../test/rigs/cluster-client.ts'
import type { Cluster } from '../test/rigs/cluster.ts'
import type { PluginRun } from './plugin-runner.ts'
import type { ApiResources } from './request-counts.ts'
import { whereaboutsExecutable, whereaboutsModule } from './whereabouts/module.ts'
import { pluginEnvironment, type FreshPod } from './workload.ts'

const group = 'whereabouts.cni.cncf.io'
const version = 'v1alpha1'

/** Where it keeps its objects unless the context of its kubeconfig says otherwise. */
const namespace = 'kube-system'

const text = { type: 'string' }

/** One object of a pool has all its allocations, by their offset from the first address. */
const poolSchema = {
  range: text,
  allocations: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: { id: text, podref: text, ifname: text },
    },
  },
}

const reservationSchema = { containerid: text, podref: text, ifname: text }

/** The resources as the types of its package api/v1alpha1 describe them; without what only other modes use. */
function resource(kind: string, properties: ApiObject): ApiObject {
  const singular = kind.toLowerCase()
  const plural = `${singular}s`
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, singular, plural, listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  }
}

const collection = (plural: string): string => `/apis/${group}/${version}/namespaces/${namespace}/${plural}`

/** The pool's object is named after its range. */
const poolName = (subnet: string): string => subnet.replace('/', '-')

/** What its ADD reads and writes; it elects a leader for each by a lease. */
export const whereaboutsResources: ApiResources = {
  [group]: ['ippools', 'overlappingrangeipreservations'],
  'coordination.k8s.io': ['leases'],
}

/** Whether it is built; `make bench` does so where Go is. */
export function hasWhereabouts(): boolean {
  return existsSync(whereaboutsModule.built)
}

/** Makes its resources known to the API server, and waits until they are served. */
export async function installWhereabouts(cluster: ClusterClient): Promise<void> {
  await cluster.create(resource('IPPool', poolSchema))
  await cluster.create(resource('OverlappingRangeIPReservation', reservationSchema))
  for (const plural of ['ippools', 'overlappingrangeipreservations'])
    await cluster.until(collection(plural), list => Array.isArray(list['items']))
}

/**
 * Gives its pool so many allocations, as so many ADDs would have left it: in the pool's one object. Their reservations,
 * one object each, are read by the name of the address alone, and so those of others are left out.
 */
export async function fillWhereabouts(cluster: ClusterClient, subnet: string, count: number): Promise<void> {
  const path = `${collection('ippools')}/${poolName(subnet)}`
  await cluster.request('DELETE', path).catch(() => undefined)
  // Offset 0 is the address of the network.
  const offsets = Array.from({ length: count }, (_, index) => index + 1)
  await cluster.request('POST', collection('ippools'), {
    apiVersion: `${group}/${version}`,
    kind: 'IPPool',
    metadata: { name: poolName(subnet), namespace },
    spec: {
      range: subnet,
      allocations: Object.fromEntries(
        offsets.map(offset => [
          String(offset),
          { id: offset.toString(16).padStart(64, '0'), podref: `bench/filled-${offset}`, ifname: 'eth0' },
        ]),
      ),
    },
  })
}

/** What its installer leaves on a node; it refuses to work without such a file. Everything else is as by default. */
export function writeWhereaboutsConfig(path: string, cluster: Pick<Cluster, 'kubeconfig'>): void {
  writeFileSync(path, JSON.stringify({ kubernetes: { kubeconfig: cluster.kubeconfig } }))
}

/** One run of it, for a pod. */
export function whereaboutsRun(
  configPath: string,
  subnet: string,
  verb: 'ADD' | 'DEL',
  pod: FreshPod,
): PluginRun {
  const config = {
    cniVersion: '1.0.0',
    name: 'bench',
    type: 'bridge',
    ipam: { type: 'whereabouts', range: subnet, configuration_path: configPath },
  }
  return { program: whereaboutsExecutable, env: pluginEnvironment(verb, pod), input: JSON.stringify(config) }
}
