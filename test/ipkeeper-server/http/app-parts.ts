import { pino } from 'pino'
import type { AppOptions } from '../../../ipkeeper-server/http/build-app.ts'
import type { AddRequest } from '../../../ipkeeper-server/ipam/request/add-request.ts'
import { nothingKnown } from '../../../ipkeeper-server/ipam/records/pod-facts.ts'
import type { PoolBook } from '../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { parseInvocation, type NodeFacts } from '../../../ipkeeper-server/leases/verbs/invocation.ts'
import type { CniRequest } from '../../../shared/api/cni.schema.ts'
import type { ResultDns } from '../../../shared/cni/result.ts'
import {
  addRequestOf,
  readAddInvocation,
  RequestReader,
  type RequestRules,
} from '../../../ipkeeper-server/leases/verbs/request-reader.ts'
import type { HostUplinks } from '../../../ipkeeper-server/network/pod-network.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { VerbObserver } from '../../../ipkeeper-server/leases/verbs/verb-observer.ts'
import type { LeaseService } from '../../../ipkeeper-server/leases/verbs/service.ts'
import type { ClusterView } from '../../../ipkeeper-server/kubernetes/cluster-view.ts'

/** A host none of whose links is a port of a bridge of ours. */
const noUplinks: HostUplinks = {
  list: () => Promise.resolve([]),
  restore: bridge => Promise.reject(new Problem('IPK_UPLINK_UNKNOWN', bridge)),
}

/** One who counts nothing. */
const deafObserver: VerbObserver = {
  ended: () => undefined,
  tookOver: () => undefined,
  lateDel: () => undefined,
  undone: () => undefined,
}

/** A node on which no path is a namespace. */
export const plainNode: NodeFacts = {
  node: 'n1',
  bootId: 'boot-1',
  namespaceAt: () => ({ kind: 'absent' }),
  reachNetns: () => Promise.resolve(),
  readResolvConf: () => ({}),
  nodeLabels: () => undefined,
  sharedWithOtherNodes: () => false,
}

/** A configuration that says nothing. */
export const plainRules: RequestRules = {
  dialects: new Set(),
  namespaceDefaults: false,
  requireAnnotations: false,
}

/** The parts of an application that read requests, without a Kubernetes API unless one is given. */
export function readingParts(
  service: LeaseService,
  facts: Partial<NodeFacts> = {},
  rules: Partial<RequestRules> = {},
  cluster?: ClusterView,
): Pick<
  AppOptions,
  | 'nodeFacts'
  | 'requests'
  | 'tellPod'
  | 'askedAgain'
  | 'cluster'
  | 'config'
  | 'clusterStatus'
  | 'uplinks'
  | 'observer'
  | 'minAgeUnproved'
  | 'jumps'
  | 'metrics'
  | 'checkConfig'
> {
  const nodeFacts = { ...plainNode, ...facts }
  return {
    nodeFacts,
    requests: new RequestReader({
      cluster,
      rules: () => ({ ...plainRules, ...rules }),
      pools: service.pools,
      facts: nodeFacts,
    }),
    tellPod: () => undefined,
    askedAgain: () => Promise.resolve(),
    cluster,
    config: () => ({
      path: '/etc/ipkeeper/config.yaml',
      loadedAt: 0,
      problem: null,
      stricter: [],
      copy: null,
    }),
    checkConfig: () =>
      Promise.resolve({ refused: null, atStart: [], added: [], changed: [], removed: [], notes: [] }),
    clusterStatus: () => undefined,
    uplinks: noUplinks,
    observer: deafObserver,
    minAgeUnproved: () => 300_000,
    jumps: () => ({ count: 0, last: undefined }),
    metrics: () => Promise.resolve({ contentType: 'text/plain', text: '' }),
  }
}

/** All parts of an application that keeps its records in memory and logs nothing; those that a test is about come as `parts`. */
export function quietParts(service: LeaseService, parts: Partial<AppOptions> = {}): AppOptions {
  return {
    service,
    facts: {
      ...{ version: '1.2.3', startedAt: 0, stateDir: '/state', socket: '/s' },
      store: { kind: 'memory', location: 'memory' },
    },
    ...readingParts(service),
    deferredDels: () => Promise.resolve({ waiting: 0, quarantined: 0 }),
    logger: pino({ level: 'silent' }),
    ...parts,
  }
}

/** No pools of the daemon's configuration. */
export const noPools: PoolBook = {
  pools: [],
  standard: { retention: 'release', cooldown: 60_000, preferFor: 600_000, strategy: 'lowest-free' },
}

/** An ADD as it is read where there is neither a Kubernetes API nor a configured pool. */
export function readPlainly(request: CniRequest, facts: NodeFacts): AddRequest {
  const add = readAddInvocation(parseInvocation(request), plainRules)
  const { resolvConf, podAnnotations } = add.ipam
  const dns = resolvConf === undefined ? {} : (facts.readResolvConf(resolvConf) as ResultDns)
  const context = { facts, rules: plainRules, pools: noPools }
  return addRequestOf(add, { ...nothingKnown, annotations: podAnnotations }, dns, context)
}
