/**
 * Custom resources of other IPAMs as their own projects define them, as far as allocations go: the names and types of the
 * fields are theirs, the rest is left out.
 */
import type { ApiObject, ClusterClient } from '../rigs/cluster-client.ts'

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function definition(
  {
    group,
    version,
    kind,
    plural,
    scope,
  }: Readonly<Record<'group' | 'version' | 'kind' | 'plural' | 'scope', string>>,
  spec: ApiObject,
): ApiObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope },
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          ...{ name: version, served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  }
}

/** projectcalico/calico: libcalico-go/config/crd/crd.projectcalico.org_ipamblocks.yaml */
const ipamBlock = definition(
  {
    group: 'crd.projectcalico.org',
    version: 'v1',
    kind: 'IPAMBlock',
    plural: 'ipamblocks',
    scope: 'Cluster',
  },
  {
    type: 'object',
    required: ['allocations', 'attributes', 'cidr', 'strictAffinity', 'unallocated'],
    properties: {
      affinity: text,
      allocations: { type: 'array', items: { type: 'integer', nullable: true } },
      attributes: {
        type: 'array',
        items: {
          type: 'object',
          properties: { handle_id: text, secondary: { type: 'object', additionalProperties: text } },
        },
      },
      cidr: text,
      deleted: { type: 'boolean' },
      strictAffinity: { type: 'boolean' },
      unallocated: { type: 'array', items: { type: 'integer' } },
    },
  },
)

/** kubeovn/kube-ovn: pkg/apis/kubeovn/v1/ip.go */
const ip = definition(
  { group: 'kubeovn.io', version: 'v1', kind: 'IP', plural: 'ips', scope: 'Cluster' },
  {
    type: 'object',
    properties: {
      ...{ podName: text, namespace: text, subnet: text, nodeName: text, podType: text, containerID: text },
      ...{ ipAddress: text, v4IpAddress: text, v6IpAddress: text, macAddress: text },
      ...{ attachSubnets: texts, attachIps: texts, attachMacs: texts },
    },
  },
)

/** generals-space/crd-ipkeeper: pkg/apis/ipkeeper/v1/types.go; its definition has no schema, which the API asks for today. */
const staticIp = definition(
  {
    group: 'ipkeeper.generals.space',
    version: 'v1',
    kind: 'StaticIP',
    plural: 'staticips',
    scope: 'Namespaced',
  },
  anything,
)

export async function installForeignResources(cluster: ClusterClient): Promise<void> {
  for (const resource of [ipamBlock, ip, staticIp]) await cluster.create(resource)
  for (const path of [
    '/apis/crd.projectcalico.org/v1/ipamblocks',
    '/apis/kubeovn.io/v1/ips',
    '/apis/ipkeeper.generals.space/v1/staticips',
  ])
    await cluster.until(path, list => Array.isArray(list['items']))
}
