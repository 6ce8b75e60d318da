import type { AddRequest } from '../../../ipkeeper-server/ipam/request/add-request.ts'
import type { Began, Holder } from '../../../ipkeeper-server/ipam/records/records.ts'
import { noRequest, type CandidateList } from '../../../ipkeeper-server/ipam/request/request.ts'
import { formatRetention } from '../../../ipkeeper-server/ipam/records/retention.ts'
import { parseAddress, type Address } from '../../../shared/net/address.ts'
import { holderId, sandboxId } from './ledger-view.ts'
import type { NodeCluster } from './node-cluster.ts'
import { namespaces, nodes, type PodWords } from './pods.ts'
import { addressAt, poolOfWords } from './pool-shapes.ts'
import type { AddStep } from './steps.ts'
import { addressOf, type Asker } from './world-state.ts'

/** Networks, with the pools that they name; those without either have ranges of their own or serve from any pool. */
const networks: readonly { readonly name: string; readonly pools: readonly string[] }[] = [
  { name: 'any', pools: [] },
  { name: 'flat', pools: [] },
  { name: 'pair', pools: ['prod', 'six'] },
  { name: 'annex', pools: [] },
  { name: 'lab', pools: ['lab'] },
]

export const networkNames = networks.map(({ name }) => name)

/** Where a pool has its addresses, so that most requests by address make sense. */
export const prefixes: Readonly<Record<string, Readonly<Partial<Record<4 | 6, string>>>>> = {
  prod: { 4: '10.1.0.' },
  dual: { 4: '10.2.0.', 6: 'fd00:2::' },
  six: { 6: 'fd00:6::' },
  tiny: { 4: '10.4.0.' },
  lab: { 4: '10.1.0.' },
  flat: { 4: '10.9.0.' },
  annex: { 4: '10.9.0.' },
}

/** An interface of a sandbox, and the run of the plugin that adds it. */
export interface Applicant {
  readonly pod: PodWords | undefined
  /** Places in the lists of namespaces, nodes and networks. */
  readonly namespace: number
  readonly node: number
  readonly network: number
  readonly ifname: string
  readonly container: string
  readonly uid: string | null
  readonly run: string
  readonly began: Began
  readonly netns: string
}

export interface Asking {
  readonly request: AddRequest
  readonly asker: Asker
  readonly words: string
}

export const keyOf = ({ network, container, ifname }: Applicant): AddRequest['key'] => ({
  network: networkNames[network] ?? '',
  containerId: container,
  ifname,
})

const at = <T>(list: readonly T[], index: number): T => {
  const found = list[index]
  if (found === undefined) throw new Error(`nothing at ${index}`)
  return found
}

export function parsed(text: string): Address {
  const address = parseAddress(text)
  if (!address) throw new Error(`${text} is no address`)
  return address
}

/** Neighbours in a list are one run, as in "10.1.0.2-10.1.0.4". */
function candidatesOf(list: readonly string[]): CandidateList {
  const runs: { first: bigint; last: bigint }[] = []
  for (const text of list) {
    const { value } = parsed(text)
    const run = runs.at(-1)
    if (run?.last === value - 1n) run.last = value
    else runs.push({ first: value, last: value })
  }
  return { family: parsed(at(list, 0)).family, runs, source: 'annotation ipkeeper.io/ips' }
}

/** Whoever asks, and for what: as the daemon would read it, as the model has it, and in words. */
export function askingOf(
  cluster: NodeCluster,
  applicant: Applicant,
  { ask, confirms }: Pick<AddStep, 'ask' | 'confirms'>,
  /** Places that somebody has, keeps, lets rest or was promised. */
  spokenFor: readonly string[],
): Asking {
  const { pod, container, ifname, uid, run, began, netns } = applicant
  const namespace = at(namespaces, applicant.namespace)
  const node = at(nodes, applicant.node)
  const { name: network, pools } = at(networks, applicant.network)
  const inline = cluster.inline.get(network)
  const owner = pod ? cluster.ownerOf(namespace.name, pod) : undefined

  const named = ask.pools.length > 0 ? ask.pools : pools
  const any = inline ? [network] : ['prod', 'dual', 'six', 'tiny']
  const wanted: Partial<Record<4 | 6, string>> =
    named.length > 0
      ? Object.assign({}, ...named.map(name => prefixes[name]))
      : (prefixes[at(any, ask.where % any.length)] ?? {})
  const where = ask.families.flatMap(family => wanted[family] ?? [])
  const theirs = ask.theirs === undefined ? undefined : spokenFor[ask.theirs % Math.max(spokenFor.length, 1)]
  const ips =
    ask.form !== 'address'
      ? []
      : theirs !== undefined
        ? [addressOf(theirs)]
        : where.map(prefix => addressAt(prefix, at(ask.numbers, 0)))
  const lists =
    ask.form === 'list' ? where.map(prefix => ask.numbers.map(number => addressAt(prefix, number))) : []

  const key = keyOf(applicant)
  const holder: Holder = pod
    ? { kind: 'pod', network, namespace: namespace.name, name: pod.name, ifname }
    : { kind: 'container', network, containerId: container, ifname }
  const request: AddRequest = {
    key,
    holder,
    podUid: uid,
    owner,
    node,
    bootId: began.bootId,
    netns: `/run/${netns}`,
    netnsInode: netns,
    main: undefined,
    invocationId: run,
    startedAt: began.startedAt,
    confirms: confirms !== 'no',
    inline: inline && poolOfWords(inline),
    networkPools: pools.map(name => ({ name, source: '"ipam.pool"' })),
    place: {
      namespace: pod && namespace.name,
      namespaceLabels: namespace.team === undefined ? undefined : { team: namespace.team },
      node,
      nodeLabels: {},
      sharedWithOtherNodes: false,
    },
    routes: [],
    dns: {},
    fallback: null,
    given: [],
    pod: {
      ...noRequest,
      addresses: ips.map(text => ({
        address: parsed(text),
        source: 'annotation ipkeeper.io/ip',
        channel: 'annotation' as const,
      })),
      candidates: lists.map(candidatesOf),
      pools: ask.pools.map(name => ({ name, source: 'annotation ipkeeper.io/pool' })),
      ...(ask.retain !== undefined && { retain: ask.retain }),
    },
  }
  const asker: Asker = {
    sandbox: sandboxId(key),
    holder: holderId(holder),
    pod: pod
      ? {
          namespace: namespace.name,
          team: namespace.team,
          name: pod.name,
          workload: cluster.workloadOf(namespace.name, pod, uid),
          index: pod.ordinal === undefined ? undefined : pod.ordinal - (owner?.ordinalsStart ?? 0),
        }
      : null,
    uid,
    node,
    bootId: began.bootId,
    netns,
    run,
    startedAt: began.startedAt,
    network: { name: network, pools, inline },
    ips,
    lists,
    pools: ask.pools,
    retain: ask.retain,
    confirms: confirms !== 'no',
    isLost: confirms === 'lost' && !cluster.marks.has(run),
  }
  const words = [
    `${node}: ADD ${pod ? `${namespace.name}/${pod.name}` : 'no pod'} (${uid ?? 'no uid'})`,
    `${container} ${ifname} on ${network}`,
    ...(ips.length > 0 ? [`ip ${ips.join()}`] : []),
    ...lists.map(list => `ips ${list.join()}`),
    ...(ask.pools.length > 0 ? [`pool ${ask.pools.join()}`] : []),
    ...(ask.retain === undefined ? [] : [`retain ${formatRetention(ask.retain)}`]),
    run,
    ...(confirms === 'lost' ? ['whose answer is lost'] : []),
  ].join(', ')
  return { request, asker, words }
}
