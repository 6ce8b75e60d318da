import { randomBytes } from 'node:crypto'
import { formatAddress, parseAddress } from '../shared/net/address.ts'

/** Room for every level of the plan and what cools down beside it. */
const wideSubnet = '10.16.0.0/12'
const network = 'bench'

/** Where a plugin keeps what; keys of another plugin than the one that is asked are ignored by it. */
export interface NetworkPlaces {
  readonly socket: string
  readonly stateDir: string
  /** Of host-local. */
  readonly dataDir: string
}

/** The same conflist entry for both: the reference bridge with this delegate for addresses. */
export function networkConfig(
  ipam: 'ipkeeper' | 'host-local',
  places: NetworkPlaces,
  subnet = wideSubnet,
): object {
  return {
    cniVersion: '1.0.0',
    name: network,
    type: 'bridge',
    bridge: 'cni0',
    isGateway: true,
    ipam: { type: ipam, ranges: [[{ subnet }]], routes: [{ dst: '0.0.0.0/0' }], ...places },
  }
}

/** Of both. */
export const benchBridge = 'cni0'

/** What wires pods: ipkeeper by itself, or the reference bridge with host-local. */
export type MainPlugin = 'ipkeeper' | 'bridge'

/** The conflist entry of each with the same features; each has a node of its own, so both may have the same names. */
export function mainPluginConfig(
  plugin: MainPlugin,
  { socket, stateDir, dataDir }: NetworkPlaces,
): { readonly type: string } & Readonly<Record<string, unknown>> {
  const addresses = { ranges: [[{ subnet: wideSubnet }]], routes: [{ dst: '0.0.0.0/0' }] }
  const ipam =
    plugin === 'ipkeeper'
      ? { type: 'ipkeeper', socket, stateDir, ...addresses }
      : { type: 'host-local', dataDir, ...addresses }
  return { type: plugin, bridge: benchBridge, isGateway: true, hairpinMode: true, ipam }
}

/** The folder in which host-local keeps one file for each address of this network. */
export const hostLocalFolder = network

/** The nth address of the subnet; the first that is given is number 2, after network and gateway. */
export function nthAddress(index: number): string {
  return formatAddress({ family: 4, value: firstValue + BigInt(index) })
}
const firstValue = parseAddress(wideSubnet.split('/')[0] ?? '')?.value ?? 0n

let namedAddresses = 0

/** An address that nobody asked for before, from the far end: dynamic choice begins at the other. */
export function freshAddress(): string {
  return nthAddress(2 ** 20 - 2 - ++namedAddresses)
}

/** One pod in one sandbox, as a runtime names them. */
export interface FreshPod {
  readonly containerId: string
  readonly netns: string
  readonly ifname: string
  /** CNI_ARGS. */
  readonly args: string
}

let pods = 0

/**
 * A pod that never was before. Its namespace does not exist: the IPAM role takes that (making 60,000 would measure the
 * kernel), and a look at a missing path costs no less than one at a real one.
 */
export function freshPod(): FreshPod {
  const containerId = randomBytes(32).toString('hex')
  const name = `web-${++pods}`
  return {
    containerId,
    netns: `/run/netns/bench-${containerId.slice(0, 12)}`,
    ifname: 'eth0',
    args:
      `IgnoreUnknown=1;K8S_POD_NAMESPACE=bench;K8S_POD_NAME=${name};` +
      `K8S_POD_INFRA_CONTAINER_ID=${containerId};K8S_POD_UID=${crypto.randomUUID()}`,
  }
}

/** Adds what a runtime hands on from the pod's annotations. */
export function withAnnotation(config: object, address: string): object {
  return {
    ...config,
    runtimeConfig: { 'io.kubernetes.cri.pod-annotations': { 'ipkeeper.io/ip': address } },
  }
}

/**
 * What a runtime sets for a plugin.
 *
 * @param path where it looks for plugins that it delegates to
 */
export function pluginEnvironment(
  verb: 'ADD' | 'DEL',
  pod: FreshPod,
  path = '/opt/cni/bin',
): Readonly<Record<string, string>> {
  return {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    CNI_COMMAND: verb,
    CNI_CONTAINERID: pod.containerId,
    CNI_NETNS: pod.netns,
    CNI_IFNAME: pod.ifname,
    CNI_ARGS: pod.args,
    CNI_PATH: path,
  }
}
