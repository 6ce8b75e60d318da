import type { EngineName } from '../engines.ts'
import type { RecordBytes } from './measure.ts'

/** A cluster, as far as it matters to the ledger. */
export interface ClusterShape {
  readonly nodes: number
  readonly podsPerNode: number
  /** Addresses of each pod. */
  readonly families: 1 | 2
}

/** How often pods come and go. */
export interface PodTraffic {
  readonly name: string
  /** ADDs per second of the whole cluster, each with a DEL. */
  readonly podsPerSecond: number
}

/** Calls and changed records of one ADD or DEL or of the end of a cool-down. */
export interface VerbCost {
  readonly calls: number
  readonly changes: { readonly lease: number; readonly holder: number }
}

export interface PodCost {
  readonly add: VerbCost
  readonly del: VerbCost
  /** The record of an address that has rested goes; its own node sees to it. */
  readonly rested: VerbCost
}

/**
 * What one pod costs its engine in its life, without conflicts. etcd takes all of a change in one transaction; the
 * Kubernetes API takes one object at a time.
 */
export function podCost(engine: EngineName, families: number): PodCost {
  const changes = { lease: families, holder: 1 }
  const each = engine === 'etcd' ? 1 : 1 + families
  return {
    add: { calls: each, changes },
    del: { calls: each, changes },
    rested: { calls: engine === 'etcd' ? 1 : families, changes: { lease: families, holder: 0 } },
  }
}

export interface TrafficCost {
  readonly callsPerSecond: number
  /** Changes that every node hears of. */
  readonly eventsPerSecond: number
  readonly bytesPerNode: number
  /** What the engine sends to all nodes. */
  readonly bytesOfEngine: number
}

/** Per second. Every node hears of every change, since each answers from all of them. */
export function trafficCost(
  engine: EngineName,
  { nodes, families }: ClusterShape,
  { podsPerSecond }: PodTraffic,
  bytes: RecordBytes,
): TrafficCost {
  const verbs = Object.values(podCost(engine, families)) as VerbCost[]
  const sum = (of: (verb: VerbCost) => number): number =>
    podsPerSecond * verbs.reduce((total, verb) => total + of(verb), 0)
  const bytesPerNode = sum(({ changes }) => changes.lease * bytes.lease + changes.holder * bytes.holder)
  return {
    callsPerSecond: sum(({ calls }) => calls),
    eventsPerSecond: sum(({ changes }) => changes.lease + changes.holder),
    bytesPerNode,
    bytesOfEngine: bytesPerNode * nodes,
  }
}

/** Nodes at which what the engine sends fills a link, when each of them has so many pods per second. */
export function nodesAtBandwidth(
  engine: EngineName,
  shape: ClusterShape,
  podsPerSecondOfNode: number,
  bytes: RecordBytes,
  bytesPerSecond: number,
): number {
  // Both the events and those who hear of them grow with the nodes.
  const one = trafficCost(
    engine,
    { ...shape, nodes: 1 },
    { name: '', podsPerSecond: podsPerSecondOfNode },
    bytes,
  )
  return Math.floor(Math.sqrt(bytesPerSecond / one.bytesOfEngine))
}
