import type { CniRequest } from '../../../shared/api/cni.schema.ts'
import { parseCniArgs, type CniArgs, type ParsedCniArgs } from '../../../shared/cni/cni-args.ts'
import { containerIdFault, interfaceNameFault } from '../../../shared/cni/identifiers.ts'
import type { ResultDns } from '../../../shared/cni/result.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { readIdentity, type IpamConfig, type NetworkIdentity } from '../../ipam/request/network-config.ts'
import type { NetnsState } from '../../ipam/records/standing.ts'
import { allocationName } from '../../ipam/records/allocation.ts'
import type { StringMap } from '../../ipam/records/pod-facts.ts'
import type { AttachmentKey, Began, Holder } from '../../ipam/records/records.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import { podInterfaceFault } from '../../network/plan/interface-name.ts'
import { readMainConfig } from '../../network/plan/read-main-config.ts'

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
  /** undefined where they are not known. */
  readonly nodeLabels: () => StringMap | undefined
  /** Whether other nodes of the cluster may give the same addresses, without the store knowing. */
  readonly sharedWithOtherNodes: () => boolean
}

/** A request about one attachment, as the plugin sent it; what every verb reads of it is read here, once. */
export interface Invocation {
  readonly request: CniRequest
  /** Sound where the verb asks for it: a DEL works whatever CNI_ARGS says. */
  readonly args: ParsedCniArgs
  readonly network: NetworkIdentity
  readonly key: AttachmentKey
  /** Who the address is to belong to. */
  readonly holder: Holder
  readonly podUid: string | null
}

/**
 * Reads what every request about an attachment has. Container and interface reach keys and texts, so they are checked
 * again: the socket is open to other clients than the plugin.
 *
 * @param parsed CNI_ARGS of the request, where they have been parsed already
 * @throws Problem IPK_ENVIRONMENT, IPK_CONFIG_INVALID, IPK_VERSION_INCOMPATIBLE; never for what CNI_ARGS says
 */
export function parseInvocation(
  request: CniRequest,
  parsed: ParsedCniArgs = parseCniArgs(request.args),
): Invocation {
  const { containerId, ifname, config } = request
  const fault = containerIdFault(containerId) ?? interfaceNameFault(ifname)
  if (fault) throw new Problem('IPK_ENVIRONMENT', fault.message, { details: fault.details })
  const network = readIdentity(config)
  const args = believedArgs(parsed, containerId)
  const key = { network: network.name, containerId, ifname }
  return { request, args, network, key, holder: holderOf(key, args.args), podUid: args.args.podUid ?? null }
}

/**
 * Nomad calls the container by the ID of its allocation. Where the two differ, it was not Nomad that named one, but the job of
 * a Nomad that sets no such key (before 1.9.4).
 */
function believedArgs(parsed: ParsedCniArgs, containerId: string): ParsedCniArgs {
  const { nomad, ...args } = parsed.args
  if (nomad === undefined || nomad.id === containerId) return parsed
  const message = `ARGS: NOMAD_ALLOC_ID=${nomad.id} is not the container, which is ${containerId}`
  const hint = 'take NOMAD_ALLOC_ID out of the "args" of the job: Nomad sets it itself from 1.9.4 on'
  return { args, fault: parsed.fault ?? new Problem('IPK_ARGS_INVALID', message, { hint }) }
}

/** The pod that the runtime names, or the allocation, else the container. */
function holderOf({ network, containerId, ifname }: AttachmentKey, args: CniArgs): Holder {
  const { podNamespace: namespace, podName: name, nomad } = args
  if (nomad) return { kind: 'pod', network, namespace: nomad.namespace, name: allocationName(nomad), ifname }
  return name === undefined || namespace === undefined
    ? { kind: 'container', network, containerId, ifname }
    : { kind: 'pod', network, namespace, name, ifname }
}

/** When the run of the caller began, where it says so. `bootId`: the present one, or for a queued request that in its file. */
export function invocationStart(
  { startedAt }: Pick<CniRequest, 'startedAt'>,
  bootId: string | undefined,
): Began | undefined {
  return bootId === undefined || startedAt === undefined ? undefined : { bootId, startedAt }
}

/** How the pod is to be wired; undefined where a parent plugin does it. CNI_ARGS is sound. */
export function readMainRole({ request, network, args }: Invocation): MainConfig | undefined {
  if (!network.mainRole) return undefined
  const fault = podInterfaceFault(request.ifname)
  if (fault) throw new Problem('IPK_ENVIRONMENT', fault.message, { details: fault.details })
  return readMainConfig(request.config, args.args)
}

/** What files that the configuration names say. Throws what reading them throws. */
export async function readDns({ resolvConf }: IpamConfig, facts: NodeFacts): Promise<ResultDns> {
  return resolvConf === undefined ? {} : await facts.readResolvConf(resolvConf)
}
