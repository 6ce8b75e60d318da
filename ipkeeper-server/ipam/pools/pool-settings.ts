import type { ResultDns, ResultRoute } from '../../../shared/cni/result.ts'
import type { Pool } from './pool.ts'
import type { StringMap } from '../records/pod-facts.ts'
import type { Retention } from '../records/retention.ts'

/** A Kubernetes label selector: every requirement has to hold (API conventions, LabelSelector). */
export interface LabelSelector {
  readonly matchLabels: StringMap
  readonly matchExpressions: readonly LabelRequirement[]
}

export interface LabelRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  /** Empty for Exists and DoesNotExist. */
  readonly values: readonly string[]
}

/** lowest-free: the lowest address nobody has. least-recently-used: never used before, else the longest unused. */
export type ChoiceStrategy = 'lowest-free' | 'least-recently-used'

/** Who may use a pool. Every rule that is given has to allow the pod; one that is absent allows all. */
export interface PoolRules {
  /** Names; "*" stands for any run of characters. */
  readonly namespaces?: readonly string[]
  readonly namespaceSelector?: LabelSelector
  readonly nodes?: readonly string[]
  readonly nodeSelector?: LabelSelector
  /** How many addresses of one family the pods of one namespace may have, kept ones included. */
  readonly quotaPerNamespace?: number
  /** Whether a pod may ask for a MAC; absent: it may. */
  readonly allowMac?: boolean
  /** Those of a file that is refused otherwise (stricter-rules.ts); they have to allow the pod as well. */
  readonly besides?: Omit<PoolRules, 'besides'>
}

/** How a pool treats its addresses; durations in milliseconds. */
export interface PoolPolicy {
  /** Of pods that say nothing. */
  readonly retention: Retention
  /** How long a freed address is left alone by dynamic choice. */
  readonly cooldown: number
  /** The same for an address that a pod had asked for by name. */
  readonly preferFor: number
  readonly strategy: ChoiceStrategy
}

/** What the pods of a pool get besides an address. */
export interface PoolNetwork {
  /** undefined leaves them to the network configuration. */
  readonly routes?: readonly ResultRoute[]
  readonly dns?: ResultDns
  readonly mtu?: number
}

/** A pool of the daemon's configuration. */
export interface PoolSettings {
  readonly pool: Pool
  readonly rules: PoolRules
  readonly policy: PoolPolicy
  readonly network: PoolNetwork
}

/** The pools of the daemon's configuration, in its order, and how every other pool treats its addresses. */
export interface PoolBook {
  readonly pools: readonly PoolSettings[]
  readonly standard: PoolPolicy
}

export function findPool({ pools }: PoolBook, name: string): PoolSettings | undefined {
  return pools.find(({ pool }) => pool.name === name)
}

/** How the pool of this name treats its addresses: as configured, else as by default. */
export function policyOf(book: PoolBook, name: string): PoolPolicy {
  return findPool(book, name)?.policy ?? book.standard
}
