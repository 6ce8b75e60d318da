import { field, type JsonObject } from '../../../shared/json/fold.ts'
import { usesIpkeeper } from '../lint/uses-ipkeeper.ts'
import { declares, type TriedNetwork } from './read-network.ts'
import type { TriedVerb } from './report.ts'

/** Capability by which containerd and CRI-O hand the annotations of a pod on. */
export const annotationsCapability = 'io.kubernetes.cri.pod-annotations'

/** What is the same for every plugin of one try: libcni's RuntimeConf. */
export interface Attachment {
  readonly containerId: string
  /** Path of the namespace. */
  readonly netns: string
  readonly ifname: string
  /** CNI_ARGS. */
  readonly args: string
  /** What a plugin gets of in runtimeConfig where it declares the capability. */
  readonly capabilities: JsonObject
  /** CNI_PATH. */
  readonly binDirs: readonly string[]
}

/**
 * stdin of a plugin: its own configuration with name and version of the list, the Result before it, and of what the runtime
 * has to say the parts that it declares (cni:libcni/api.go buildOneConfig; cni-protocol H1, I6).
 */
export function pluginInput(
  network: TriedNetwork,
  plugin: JsonObject,
  { capabilities }: Attachment,
  prevResult: JsonObject | undefined,
): JsonObject {
  const given = Object.entries(capabilities).filter(([name]) => declares(plugin, name))
  return {
    ...plugin,
    name: network.name,
    cniVersion: network.cniVersion,
    ...(prevResult !== undefined && { prevResult }),
    ...(given.length > 0 && { runtimeConfig: Object.fromEntries(given) }),
  }
}

/** The CNI_* variables of a run, in the order in which libcni sets them. */
export function pluginEnvironment(verb: TriedVerb, attachment: Attachment): Record<string, string> {
  const { containerId, netns, args, ifname, binDirs } = attachment
  return {
    CNI_COMMAND: verb,
    CNI_CONTAINERID: containerId,
    CNI_NETNS: netns,
    CNI_ARGS: args,
    CNI_IFNAME: ifname,
    CNI_PATH: binDirs.join(':'),
  }
}

export interface Wishes {
  readonly podNamespace: string
  readonly podName: string
  readonly podUid: string
  readonly containerId: string
  /** Addresses that the pod asks for. */
  readonly ips: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
}

export interface CallWords {
  readonly args: string
  readonly capabilities: JsonObject
  /** By what the addresses are asked for; undefined where none are. */
  readonly channel: string | undefined
}

/**
 * How a pod's wishes reach the plugins, as from containerd: annotations where somebody takes them. Addresses go by
 * annotation to ipkeeper, else by `ips`, else by CNI_ARGS, whichever the list has an ear for.
 */
export function askFor(network: TriedNetwork, wishes: Wishes): CallWords {
  const { ips } = wishes
  const takesAnnotations = network.plugins.some(
    plugin => usesIpkeeper(plugin) && declares(plugin, annotationsCapability),
  )
  const takesIps = network.plugins.some(plugin => declares(plugin, 'ips'))
  const channel =
    ips.length === 0
      ? undefined
      : takesAnnotations
        ? 'annotation ipkeeper.io/ip'
        : takesIps
          ? 'runtimeConfig.ips'
          : 'CNI_ARGS IP='
  const asked = ips.join(',')
  const args = [
    'IgnoreUnknown=1',
    `K8S_POD_NAMESPACE=${wishes.podNamespace}`,
    `K8S_POD_NAME=${wishes.podName}`,
    `K8S_POD_INFRA_CONTAINER_ID=${wishes.containerId}`,
    `K8S_POD_UID=${wishes.podUid}`,
    ...(channel === 'CNI_ARGS IP=' ? [`IP=${asked}`] : []),
  ]
  return {
    args: args.join(';'),
    capabilities: {
      [annotationsCapability]: {
        ...wishes.annotations,
        ...(channel === 'annotation ipkeeper.io/ip' && { 'ipkeeper.io/ip': asked }),
      },
      ...(channel === 'runtimeConfig.ips' && { ips }),
    },
    channel,
  }
}

/** The daemon's socket that ipkeeper's sections of a list name; undefined where they leave it to the default. */
export function namedSocket(network: TriedNetwork): string | undefined {
  for (const plugin of network.plugins.filter(usesIpkeeper)) {
    const ipam = field(plugin, 'ipam')
    for (const owner of [ipam, plugin]) {
      const socket =
        typeof owner === 'object' && owner !== null ? field(owner as JsonObject, 'socket') : undefined
      if (typeof socket === 'string' && socket !== '') return socket
    }
  }
  return undefined
}
