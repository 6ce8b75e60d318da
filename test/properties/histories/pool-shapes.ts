import type { PoolBook, PoolPolicy, PoolRules } from '../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { canonicalPool, type Pool } from '../../../ipkeeper-server/ipam/pools/pool.ts'
import type { Retention } from '../../../ipkeeper-server/ipam/records/retention.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { parseCidr } from '../../../shared/net/cidr.ts'

/**
 * The pools of the histories, each in several shapes that a reload may give it. A shape is written as numbers behind a
 * prefix, so that the model can list its addresses by counting.
 */

/** "10.1.0." and 2 are 10.1.0.2; "fd00:6::" and 10 are fd00:6::a. */
export function addressAt(prefix: string, number: number): string {
  return prefix + (prefix.includes(':') ? number.toString(16) : String(number))
}

export interface RangeWords {
  readonly prefix: string
  /** How many bits the subnet has beyond the prefix: 4 is a /28 or a /124. */
  readonly bits: number
  readonly from: number
  readonly to: number
  readonly gateway: number
  readonly exclude?: readonly number[]
}

export interface PoolWords {
  readonly name: string
  readonly segment: string
  /** Range sets, each of one or more ranges. */
  readonly sets: readonly (readonly RangeWords[])[]
}

const four = (prefix: string, from: number, to: number, exclude: readonly number[] = []): RangeWords => ({
  prefix,
  bits: 4,
  from,
  to,
  gateway: 1,
  exclude,
})

const pool =
  (name: string, segment = 'default') =>
  (...sets: readonly (readonly RangeWords[])[]): PoolWords => ({ name, segment, sets })

const prod = pool('prod')
const dual = pool('dual')
const six = pool('six')
const tiny = pool('tiny')
const lab = pool('lab', 'lab')
const flat = pool('flat')
const annex = pool('annex')

/** What each pool of the configuration may look like; the first shape is what a history begins with. */
export const configuredShapes: Readonly<Record<string, readonly PoolWords[]>> = {
  prod: [
    prod([four('10.1.0.', 2, 5)]),
    prod([four('10.1.0.', 2, 9)]),
    prod([four('10.1.0.', 3, 4)]),
    prod([four('10.1.0.', 6, 8), four('10.1.0.', 2, 3)]),
    prod([four('10.1.0.', 1, 6, [3, 4])]),
  ],
  dual: [
    dual([four('10.2.0.', 2, 4)], [four('fd00:2::', 2, 4)]),
    dual([four('10.2.0.', 2, 3)], [four('fd00:2::', 2, 2)]),
    dual([four('fd00:2::', 1, 5)], [four('10.2.0.', 1, 5)]),
  ],
  six: [six([four('fd00:6::', 2, 4)]), six([four('fd00:6::', 3, 3)])],
  tiny: [tiny([{ prefix: '10.4.0.', bits: 2, from: 1, to: 2, gateway: 1 }])],
  // The same addresses as prod, in a segment of their own.
  lab: [lab([four('10.1.0.', 2, 4)])],
}

/** Own ranges of networks. What annex has in its second shape overlaps flat. */
export const inlineShapes: Readonly<Record<string, readonly PoolWords[]>> = {
  flat: [flat([four('10.9.0.', 2, 4)]), flat([four('10.9.0.', 2, 8)])],
  annex: [annex([four('10.9.0.', 9, 11)]), annex([four('10.9.0.', 4, 7)])],
}

const parsed = (text: string): NonNullable<ReturnType<typeof parseAddress>> => {
  const address = parseAddress(text)
  if (!address) throw new Error(text)
  return address
}

const made = new Map<PoolWords, Pool>()

/** The pool as the daemon would read it from its configuration. Each shape is made once: there are few. */
export function poolOfWords(words: PoolWords): Pool {
  let canonical = made.get(words)
  if (!canonical) made.set(words, (canonical = makePool(words)))
  return canonical
}

function makePool({ name, segment, sets }: PoolWords): Pool {
  return canonicalPool(
    name,
    segment,
    sets.map(set =>
      set.map(({ prefix, bits, from, to, gateway, exclude = [] }) => {
        const at = (number: number): ReturnType<typeof parsed> => parsed(addressAt(prefix, number))
        const subnet = parseCidr(`${addressAt(prefix, 0)}/${(prefix.includes(':') ? 128 : 32) - bits}`)
        if (!subnet) throw new Error(prefix)
        return {
          subnet,
          rangeStart: at(from),
          rangeEnd: at(to),
          gateway: at(gateway),
          exclude: exclude.map(number => ({ first: at(number), last: at(number) })),
        }
      }),
    ),
  )
}

/** One pool of the configuration with its rules. */
export interface ConfiguredPool {
  readonly words: PoolWords
  readonly namespaces?: readonly string[]
  readonly nodes?: readonly string[]
  /** Namespaces with this value of the label "team". */
  readonly team?: string
  readonly quota?: number
  readonly retention: Retention
  /** Milliseconds. */
  readonly cooldown: number
  readonly preferFor: number
  readonly strategy: PoolPolicy['strategy']
}

/** How pools that are not configured treat their addresses. */
export const standard: PoolPolicy = {
  retention: 'release',
  cooldown: 60_000,
  preferFor: 600_000,
  strategy: 'lowest-free',
}

export function bookOf(pools: readonly ConfiguredPool[]): PoolBook {
  return {
    standard,
    pools: pools.map(({ words, namespaces, nodes, team, quota, ...policy }) => {
      const rules: PoolRules = {
        ...(namespaces && { namespaces }),
        ...(nodes && { nodes }),
        ...(team !== undefined && {
          namespaceSelector: { matchLabels: { team }, matchExpressions: [] },
        }),
        ...(quota !== undefined && { quotaPerNamespace: quota }),
      }
      const { retention, cooldown, preferFor, strategy } = policy
      return {
        pool: poolOfWords(words),
        rules,
        policy: { retention, cooldown, preferFor, strategy },
        network: {},
      }
    }),
  }
}
