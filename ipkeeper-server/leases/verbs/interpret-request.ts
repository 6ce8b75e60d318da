import { isMarkName } from '../../../shared/answered-mark.ts'
import type { CniRequest } from '../../../shared/api/cni.schema.ts'
import { parseCniArgs } from '../../../shared/cni/cni-args.ts'
import { readFallback } from '../../../shared/cni/fallback.ts'
import { containerIdFault, interfaceNameFault } from '../../../shared/cni/identifiers.ts'
import type { ResultDns } from '../../../shared/cni/result.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { AddRequest } from '../../ipam/request/add-request.ts'
import { requestedMac } from '../../ipam/request/mac-request.ts'
import { mergeRequests } from '../../ipam/request/merge-requests.ts'
import {
  checkHasRanges,
  rangesComeWithAdd,
  readIdentity,
  readIpamConfig,
  readPreviousAddresses,
  readPreviousInterface,
  type PreviousInterface,
  type IpamConfig,
} from '../../ipam/request/network-config.ts'
import type { NetnsState } from '../../ipam/records/standing.ts'
import type { PodFacts, StringMap } from '../../ipam/records/pod-facts.ts'
import type { PoolBook } from '../../ipam/pools/pool-settings.ts'
import type { AttachmentKey, Began, Holder } from '../../ipam/records/records.ts'
import type { MacRequest, PodRequest } from '../../ipam/request/request.ts'
import type { MainConfig } from '../../ipam/records/main-config.ts'
import { podInterfaceFault } from '../../network/plan/interface-name.ts'
import { readMacForParent, readMacRequest } from '../../network/plan/read-mac.ts'
import { readMainConfig } from '../../network/plan/read-main-config.ts'
import { firstInterface } from '../../kubernetes/annotations/own-keys.ts'
import { readPodRequest } from '../../kubernetes/annotations/read-pod-request.ts'
import type { DialectName } from '../../kubernetes/dialects/dialects.ts'
import type { FactsWanted } from './pod-facts.ts'
import type { StatusRequest } from './status.ts'

/** What this node adds to a request. */
export interface NodeFacts {
  readonly node: string
  readonly bootId: string
  /** What stands at a path that was reached. */
  readonly namespaceAt: (path: string) => NetnsState
  /** Resolves when a path can be looked at at once. Throws IPK_FILE_HANGS. */
  readonly reachNetns: (path: string) => Promise<void>
  /** Reads a resolv.conf; throws IPK_CONFIG_INVALID, IPK_FILE_HANGS. */
  readonly readResolvConf: (path: string) => ResultDns | Promise<ResultDns>
  /** undefined where nobody could tell. */
  readonly nodeLabels: () => StringMap | undefined
  /** Whether other nodes of the cluster may give the same addresses, without the store knowing. */
  readonly sharedWithOtherNodes: () => boolean
}

/** The attachment a request speaks of; its parts reach keys and texts, so they are checked here too. */
export function interpretKey(request: CniRequest): AttachmentKey {
  const fault = containerIdFault(request.containerId) ?? interfaceNameFault(request.ifname)
  if (fault) throw new Problem('IPK_ENVIRONMENT', fault.message, { details: fault.details })
  const { name } = readIdentity(request.config)
  return { network: name, containerId: request.containerId, ifname: request.ifname }
}

/** Where the links of the attachment are, if it was us who made them. */
export function interpretRemains({ config, netns }: CniRequest): { readonly netns: string } | undefined {
  return readIdentity(config).mainRole ? { netns } : undefined
}

/** When the caller's run began, where it says so. `bootId`: the present one, or for a queued request that in its file. */
export function interpretBegan(
  { startedAt }: Pick<CniRequest, 'startedAt'>,
  bootId: string | undefined,
): Began | undefined {
  return bootId === undefined || startedAt === undefined ? undefined : { bootId, startedAt }
}

/** Who the address is to belong to: the pod the runtime names, else the container. */
function holderOf(key: AttachmentKey, podNamespace: string | undefined, podName: string | undefined): Holder {
  const { network, containerId, ifname } = key
  return podName === undefined || podName === '' || podNamespace === undefined || podNamespace === ''
    ? { kind: 'container', network, containerId, ifname }
    : { kind: 'pod', network, namespace: podNamespace, name: podName, ifname }
}

/** What files that the configuration names say. Throws what reading them throws. */
export async function readDns({ resolvConf }: IpamConfig, facts: NodeFacts): Promise<ResultDns> {
  return resolvConf === undefined ? {} : await facts.readResolvConf(resolvConf)
}

/** What a CHECK is about. `expected`: the addresses of prevResult, undefined where the runtime sent none. */
export interface CheckRequest {
  readonly key: AttachmentKey
  readonly expected: readonly string[] | undefined
  /** In the main role: where the pod is, and what prevResult says of its interface. */
  readonly wired?: { readonly netns: string; readonly previous: PreviousInterface | undefined }
}

/** A CHECK as the plugin sent it. What an ADD would not take for a configuration is refused here too, as by host-local. */
export function interpretCheck(request: CniRequest, book: PoolBook): CheckRequest {
  const key = interpretKey(request)
  checkHasRanges(
    readIpamConfig(request.config, readIdentity(request.config), request.args),
    book.pools.length > 0,
  )
  const expected = readPreviousAddresses(request.config)
  if (!readRole(request)) return { key, expected }
  // As of the reference's main plugins (catalogue G7).
  if (expected === undefined) throw new Problem('IPK_CONFIG_INVALID', 'Required prevResult missing')
  const previous = readPreviousInterface(request.config, key.ifname)
  return { key, expected, wired: { netns: request.netns, previous } }
}

/** How the daemon reads requests; from its configuration. */
export interface RequestRules {
  /** Dialects of other projects whose annotations count. */
  readonly dialects: ReadonlySet<DialectName>
  readonly namespaceDefaults: boolean
  readonly requireAnnotations: boolean
}

/** An ADD as far as it can be read without asking anybody. */
export interface AddCall {
  readonly request: CniRequest
  readonly key: AttachmentKey
  readonly holder: Holder
  readonly podUid: string | null
  readonly config: IpamConfig
  readonly cniMac: MacRequest | undefined
  /** undefined in the IPAM role. */
  readonly main: MainConfig | undefined
}

/** How the pod is to be wired; undefined where a parent plugin does it. */
function readRole({ config, args, ifname }: CniRequest): MainConfig | undefined {
  if (!readIdentity(config).mainRole) return undefined
  const fault = podInterfaceFault(ifname)
  if (fault) throw new Problem('IPK_ENVIRONMENT', fault.message, { details: fault.details })
  return readMainConfig(config, args)
}

/** Reads an ADD as the plugin sent it. Throws the problem that the runtime is to show. */
export function readAddCall(request: CniRequest): AddCall {
  const key = interpretKey(request)
  const config = readIpamConfig(request.config, readIdentity(request.config), request.args)
  const args = parseCniArgs(request.args)
  const main = readRole(request)
  const readMac = main ? readMacRequest : readMacForParent
  return {
    request,
    key,
    holder: holderOf(key, args.podNamespace, args.podName),
    podUid: args.podUid === undefined || args.podUid === '' ? null : args.podUid,
    config,
    cniMac: readMac(request.config, request.args),
    main,
  }
}

/** What has to be known of the pod before the call can be decided. */
export function factsWanted(
  { holder, podUid, config, key }: AddCall,
  rules: RequestRules,
  book: PoolBook,
): FactsWanted {
  const { podAnnotations } = config
  const asked = podAnnotations && readAsked(podAnnotations, undefined, key.ifname, rules)
  const names = [...(asked?.pools ?? []), ...config.pools].map(({ name }) => name)
  const considered = book.pools.filter(({ pool }) =>
    names.length > 0
      ? names.includes(pool.name)
      : config.inline === undefined || podAnnotations === undefined,
  )
  return {
    pod: holder.kind === 'pod' ? { namespace: holder.namespace, name: holder.name, uid: podUid } : undefined,
    runtimeAnnotations: podAnnotations,
    runtimeAsks:
      asked !== undefined && asked.addresses.length + asked.candidates.length + asked.pools.length > 0,
    namespaceDefaults: rules.namespaceDefaults,
    ownersAnnotations: key.ifname === firstInterface && rules.dialects.has('crd-ipkeeper'),
    namespaceLabels: considered.some(({ rules: { namespaceSelector } }) => namespaceSelector !== undefined),
    requireAnnotations: rules.requireAnnotations,
  }
}

function readAsked(
  podAnnotations: StringMap,
  namespace: { readonly name: string; readonly annotations: StringMap } | undefined,
  ifname: string,
  { dialects }: RequestRules,
): PodRequest {
  return readPodRequest({ podAnnotations, namespace, ifname, dialects })
}

/**
 * The call with what is known of its pod and what its files say, turned into what planning needs. Its namespace has been
 * reached. Throws the problem that the runtime is to show.
 */
export function interpretAdd(
  { request, key, holder, podUid, config, cniMac, main }: AddCall,
  known: PodFacts,
  dns: ResultDns,
  facts: NodeFacts,
  rules: RequestRules,
  book: PoolBook,
): AddRequest {
  checkHasRanges(config, book.pools.length > 0)
  const defaults =
    rules.namespaceDefaults && holder.kind === 'pod' && known.namespace
      ? { name: holder.namespace, annotations: known.namespace.annotations }
      : undefined
  const asked = readAsked(known.annotations ?? {}, defaults, key.ifname, rules)
  const namespace = facts.namespaceAt(request.netns)
  const pod = mergeRequests(asked, config.channels)
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
    inline: config.inline,
    networkPools: config.pools,
    place: {
      namespace: holder.kind === 'pod' ? holder.namespace : undefined,
      namespaceLabels: known.namespace?.labels,
      node: facts.node,
      nodeLabels: facts.nodeLabels(),
      sharedWithOtherNodes: facts.sharedWithOtherNodes(),
      asksForMac: requestedMac({ pod, main, cniMac })?.source,
    },
    routes: config.routes,
    dns,
    fallback: readFallback(request.config)?.type ?? null,
    given: request.given ?? [],
    pod,
    cniMac,
    main,
  }
}

/** A STATUS: the configuration read as for an ADD that names no pod. Throws the problem that such an ADD would get. */
export async function interpretStatus(
  { config }: CniRequest,
  facts: NodeFacts,
  book: PoolBook,
): Promise<StatusRequest> {
  const identity = readIdentity(config)
  const main = identity.mainRole ? readMainConfig(config, '') : undefined
  if (rangesComeWithAdd(config)) return { inline: undefined, pools: [], statusReportsExhaustion: false, main }
  const ipam = readIpamConfig(config, identity, '')
  checkHasRanges(ipam, book.pools.length > 0)
  await readDns(ipam, facts)
  // With a fallback a pod that asks for nothing does not mind full ranges.
  const statusReportsExhaustion = ipam.statusReportsExhaustion && readFallback(config) === undefined
  return { inline: ipam.inline, pools: ipam.pools, statusReportsExhaustion, main }
}
