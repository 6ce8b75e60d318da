import type { NodeFacts } from '../../../../ipkeeper-server/leases/verbs/invocation.ts'
import type { CniRequest } from '../../../../shared/api/cni.schema.ts'

/** A node on which one path is a namespace, and of whose resolv.conf the path is known. */
export const sampleFacts: NodeFacts = {
  node: 'n1',
  bootId: 'boot-1',
  namespaceAt: path =>
    path === '/run/netns/there' ? { kind: 'namespace', inode: '4026531840' } : { kind: 'absent' },
  reachNetns: () => Promise.resolve(),
  readResolvConf: path => ({ search: [path] }),
  nodeLabels: () => undefined,
  sharedWithOtherNodes: () => false,
}

/** Of the IPAM role. */
export const sampleNetconf = {
  cniVersion: '1.0.0',
  name: 'net',
  type: 'bridge',
  ipam: { subnet: '10.22.0.0/24' },
}

/** What makes it one of the main role. */
export const mainRole = {
  type: 'ipkeeper',
  ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] },
}

/** A request of the plugin for pod shop/web-0. */
export const sampleRequest = (patch: Partial<CniRequest> = {}): CniRequest => ({
  ...{ containerId: 'c1', netns: '/run/netns/there', ifname: 'eth0', path: '/opt/cni/bin' },
  args: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=u1',
  config: sampleNetconf,
  ...patch,
})
