import { isMarkName } from '../../../shared/mark-name.ts'
import { readFallback } from '../../../shared/cni/fallback.ts'
import type { ResultDns } from '../../../shared/cni/result.ts'
import { type AddRequest, requestedMac } from '../../ipam/request/add-request.ts'
import { mergeRequests } from '../../ipam/request/merge-requests.ts'
import { checkHasRanges, readIpamConfig, type IpamConfig } from '../../ipam/request/network-config.ts'
import type { MacRequest, PodRequest } from '../../ipam/request/request.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import type { PodFacts } from '../../ipam/records/pod-facts.ts'
import { isAllocation } from '../../ipam/records/allocation.ts'
import { ordinalOf } from '../../ipam/records/workload.ts'
import type { PoolBook } from '../../ipam/pools/pool-settings.ts'
import { firstInterface } from '../../kubernetes/annotations/own-keys.ts'
import { readPodRequest } from '../../kubernetes/annotations/read-pod-request.ts'
import type { ClusterView } from '../../kubernetes/cluster-view.ts'
import type { DialectName } from '../../kubernetes/dialects/dialects.ts'
import { readMacForParent } from '../../network/plan/read-mac.ts'
import { readDns, readMainRole, type Invocation, type NodeFacts } from './invocation.ts'
import { findOwner, gatherPodFacts, type FactsWanted } from './pod-facts.ts'

/** How the daemon reads requests; from its configuration. */
export interface RequestRules {
  /** Dialects of other projects whose annotations count. */
  readonly dialects: ReadonlySet<DialectName>
  readonly namespaceDefaults: boolean
  /** Whether a pod whose annotations nobody can tell is refused. `declared`: where the configuration asks for them. */
  readonly requireAnnotations: boolean | 'declared'
}

/** What requests are read with. One per daemon; `rules` and `pools` are those of the present configuration. */
export interface ReaderOptions {
  /** undefined when no API is configured. */
  readonly cluster: ClusterView | undefined
  readonly rules: () => RequestRules
  readonly pools: () => PoolBook
  readonly facts: NodeFacts
}

/** One configuration and one node, for the whole of an ADD. */
export interface ReadingContext {
  readonly rules: RequestRules
  readonly pools: PoolBook
  readonly facts: NodeFacts
}

/** An ADD as far as it can be read without the cluster. */
export interface AddInvocation extends Invocation {
  readonly ipam: IpamConfig
  /** The MAC that CNI's own channels ask for. */
  readonly cniMac: MacRequest | undefined
  /** undefined in the IPAM role. */
  readonly main: MainConfig | undefined
  /** What the annotations ask for that the runtime passes on; undefined where it passes none. */
  readonly askedByRuntime: PodRequest | undefined
}

/** Turns what the plugin sent into what planning needs; the one place where an ADD may wait for the cluster. */
export class RequestReader {
  readonly #options: ReaderOptions

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /**
   * Reads one ADD.
   *
   * @param known what is known of the pod, where it is not to be asked for: of a manifest, say
   * @throws Problem that the runtime is to show
   */
  async read(invocation: Invocation, known?: PodFacts): Promise<AddRequest> {
    const { cluster, facts, rules, pools } = this.#options
    // One configuration from here on, also when it is reloaded while the cluster is asked.
    const context = { facts, rules: rules(), pools: pools() }
    const add = readAddInvocation(invocation, context.rules)
    const wanted = factsWanted(add, context)
    const pod = known ?? (await gatherPodFacts(cluster, wanted))
    await facts.reachNetns(invocation.request.netns)
    const request = addRequestOf(add, pod, await readDns(add.ipam, facts), context)
    if (known || !cluster || !wanted.pod || !dependsOnOwner(request)) return request
    return { ...request, owner: await findOwner(cluster, wanted.pod) }
  }
}

/** Whether the place of a pod in its list depends on what only its StatefulSet says: `spec.ordinals.start`. */
function dependsOnOwner({ holder, owner, pod }: AddRequest): boolean {
  return owner === undefined && pod.candidates.length > 0 && ordinalOf(holder, owner) !== undefined
}

/** Reads the configuration of an ADD. Throws the problem that the runtime is to show. */
export function readAddInvocation(
  invocation: Invocation,
  { dialects }: Pick<RequestRules, 'dialects'>,
): AddInvocation {
  const { request, network, args, key } = invocation
  const ipam = readIpamConfig(request.config, network, args)
  const main = readMainRole(invocation)
  const { podAnnotations } = ipam
  return {
    ...invocation,
    ipam,
    main,
    cniMac: main ? main.mac : readMacForParent(request.config, args.args),
    askedByRuntime:
      podAnnotations &&
      readPodRequest({ podAnnotations, namespace: undefined, ifname: key.ifname, dialects }),
  }
}

/** What has to be known of the pod before the ADD can be decided. */
export function factsWanted(
  { holder, podUid, ipam, key, askedByRuntime: asked }: AddInvocation,
  { rules, pools }: Pick<ReadingContext, 'rules' | 'pools'>,
): FactsWanted {
  const names = [...(asked?.pools ?? []), ...ipam.pools].map(({ name }) => name)
  // Who asks by CNI's own channels is heard without them.
  const unheard = ipam.annotationsWithheld && ipam.channels.every(({ addresses }) => addresses.length === 0)
  const considered = pools.pools.filter(({ pool }) =>
    names.length > 0 ? names.includes(pool.name) : ipam.inline === undefined || asked === undefined,
  )
  return {
    // The Kubernetes API, where there is one, knows no allocation of Nomad.
    pod:
      holder.kind === 'pod' && !isAllocation(holder)
        ? { namespace: holder.namespace, name: holder.name, uid: podUid }
        : undefined,
    runtimeAnnotations: ipam.podAnnotations,
    runtimeAsks:
      asked !== undefined && asked.addresses.length + asked.candidates.length + asked.pools.length > 0,
    namespaceDefaults: rules.namespaceDefaults,
    ownersAnnotations: key.ifname === firstInterface && rules.dialects.has('crd-ipkeeper'),
    namespaceLabels: considered.some(({ rules: { namespaceSelector } }) => namespaceSelector !== undefined),
    requireAnnotations: rules.requireAnnotations === 'declared' ? unheard : rules.requireAnnotations,
    annotationsWithheld: ipam.annotationsWithheld,
  }
}

/** What the pod asks for, with all that is known of it. */
function podRequestOf(
  { ipam, holder, key, askedByRuntime }: AddInvocation,
  known: PodFacts,
  { dialects, namespaceDefaults }: RequestRules,
): PodRequest {
  const namespace =
    namespaceDefaults && holder.kind === 'pod' && known.namespace
      ? { name: holder.namespace, annotations: known.namespace.annotations }
      : undefined
  if (askedByRuntime && !namespace && known.annotations === ipam.podAnnotations) return askedByRuntime
  return readPodRequest({ podAnnotations: known.annotations ?? {}, namespace, ifname: key.ifname, dialects })
}

/**
 * The ADD with what is known of its pod and what its files say, turned into what planning needs. Its namespace has been
 * reached. Throws the problem that the runtime is to show.
 */
export function addRequestOf(
  add: AddInvocation,
  known: PodFacts,
  dns: ResultDns,
  { facts, rules, pools }: ReadingContext,
): AddRequest {
  const { request, key, holder, podUid, ipam, cniMac, main } = add
  checkHasRanges(ipam, pools.pools.length > 0)
  const asked = podRequestOf(add, known, rules)
  const namespace = facts.namespaceAt(request.netns)
  const pod = mergeRequests(asked, ipam.channels)
  return {
    key,
    holder,
    podUid,
    owner: known.owner,
    node: facts.node,
    // Not the request's: who is here to ask runs in this boot, and a wrong one would count as proof of death.
    bootId: facts.bootId,
    netns: request.netns,
    netnsInode: namespace.kind === 'namespace' ? namespace.inode : null,
    invocationId: request.invocationId ?? null,
    startedAt: request.startedAt ?? null,
    confirms: request.confirms === true && isMarkName(request.invocationId ?? ''),
    inline: ipam.inline,
    networkPools: ipam.pools,
    place: {
      namespace: holder.kind === 'pod' ? holder.namespace : undefined,
      namespaceLabels: known.namespace?.labels,
      node: facts.node,
      nodeLabels: facts.nodeLabels(),
      sharedWithOtherNodes: facts.sharedWithOtherNodes(),
      asksForMac: requestedMac({ pod, main, cniMac })?.source,
    },
    routes: ipam.routes,
    dns,
    fallback: readFallback(request.config)?.type ?? null,
    given: request.given ?? [],
    pod,
    cniMac,
    main,
  }
}
