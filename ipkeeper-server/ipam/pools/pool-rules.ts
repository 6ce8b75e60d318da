import { Problem } from '../../../shared/problem/problem.ts'
import { matchesPattern } from '../../../shared/text/matches-pattern.ts'
import type { StringMap } from '../records/pod-facts.ts'
import type { LabelRequirement, LabelSelector, PoolRules } from './pool-settings.ts'

/** Where a pod is to run, as pool rules see it. undefined: nobody could tell. */
export interface Whereabouts {
  /** undefined for a container without a pod. */
  readonly namespace: string | undefined
  readonly namespaceLabels: StringMap | undefined
  readonly node: string
  readonly nodeLabels: StringMap | undefined
  /** The API shows further nodes, and the store does not know what they give. */
  readonly sharedWithOtherNodes: boolean
  /** What asks for a MAC, such as "annotation ipkeeper.io/mac"; absent where nothing does. */
  readonly asksForMac?: string | undefined
}

function matchesName(patterns: readonly string[], name: string): boolean {
  return patterns.some(pattern => matchesPattern(pattern, name))
}

const operators: Readonly<
  Record<LabelRequirement['operator'], (value: string | undefined, values: readonly string[]) => boolean>
> = {
  In: (value, values) => value !== undefined && values.includes(value),
  // As in Kubernetes, an object without the label is not in the list either.
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: value => value !== undefined,
  DoesNotExist: value => value === undefined,
}

export function matchesSelector(
  { matchLabels, matchExpressions }: LabelSelector,
  labels: StringMap,
): boolean {
  const valueOf = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  return (
    Object.entries(matchLabels).every(([key, value]) => valueOf(key) === value) &&
    matchExpressions.every(({ key, operator, values }) => operators[operator](valueOf(key), values))
  )
}

/** "team=web, tier in (a, b)", as kubectl writes selectors. */
export function formatSelector({ matchLabels, matchExpressions }: LabelSelector): string {
  const words: Record<LabelRequirement['operator'], (key: string, values: string) => string> = {
    In: (key, values) => `${key} in (${values})`,
    NotIn: (key, values) => `${key} notin (${values})`,
    Exists: key => key,
    DoesNotExist: key => `!${key}`,
  }
  return [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values }) => words[operator](key, values.join(', '))),
  ].join(', ')
}

type Code =
  | 'IPK_NAMESPACE_REFUSED'
  | 'IPK_NODE_REFUSED'
  | 'IPK_FACTS_MISSING'
  | 'IPK_STORE_ONE_NODE'
  | 'IPK_MAC_REFUSED'

interface Refusal {
  readonly code: Code
  readonly message: string
}

/** Each rule with what it says against a place; undefined when it allows it. In the order in which they are told. */
const rules: readonly ((rules: PoolRules, place: Whereabouts) => Refusal | undefined)[] = [
  ({ namespaces }, { namespace }) => {
    if (!namespaces || (namespace !== undefined && matchesName(namespaces, namespace))) return undefined
    const who = namespace === undefined ? 'containers without a pod' : `namespace ${namespace}`
    return {
      code: 'IPK_NAMESPACE_REFUSED',
      message: `${who} may not use it; its namespaces are ${namespaces.join(', ')}`,
    }
  },
  ({ namespaceSelector: selector }, { namespace, namespaceLabels }) => {
    if (!selector) return undefined
    const rule = `its namespaces are those with labels ${formatSelector(selector)}`
    if (namespace === undefined)
      return { code: 'IPK_NAMESPACE_REFUSED', message: `containers without a pod may not use it; ${rule}` }
    if (!namespaceLabels)
      return {
        code: 'IPK_FACTS_MISSING',
        message: `the labels of namespace ${namespace} are not known; ${rule}`,
      }
    if (matchesSelector(selector, namespaceLabels)) return undefined
    return { code: 'IPK_NAMESPACE_REFUSED', message: `namespace ${namespace} may not use it; ${rule}` }
  },
  ({ nodes }, { node }) =>
    !nodes || matchesName(nodes, node)
      ? undefined
      : {
          code: 'IPK_NODE_REFUSED',
          message: `it is not for node ${node}; its nodes are ${nodes.join(', ')}`,
        },
  ({ nodeSelector: selector }, { node, nodeLabels }) => {
    if (!selector) return undefined
    const rule = `its nodes are those with labels ${formatSelector(selector)}`
    if (!nodeLabels)
      return { code: 'IPK_FACTS_MISSING', message: `the labels of node ${node} are not known; ${rule}` }
    return matchesSelector(selector, nodeLabels)
      ? undefined
      : { code: 'IPK_NODE_REFUSED', message: `it is not for node ${node}; ${rule}` }
  },
  ({ nodes }, { node, sharedWithOtherNodes }) =>
    sharedWithOtherNodes && !(nodes?.length === 1 && nodes[0] === node)
      ? {
          code: 'IPK_STORE_ONE_NODE',
          message: `the cluster has other nodes, and the embedded store of node ${node} does not know what they give`,
        }
      : undefined,
  ({ allowMac }, { asksForMac }) =>
    asksForMac !== undefined && allowMac === false
      ? { code: 'IPK_MAC_REFUSED', message: `${asksForMac} asks for a MAC, which its pods may not choose` }
      : undefined,
]

/** Why a pod at this place may not use the pool; undefined when every rule allows it. */
export function poolRefusal(pool: string, its: PoolRules, place: Whereabouts): Problem | undefined {
  for (const rule of rules) {
    const refusal = rule(its, place)
    if (refusal) return new Problem(refusal.code, `pool ${pool}: ${refusal.message}`)
  }
  return its.besides && poolRefusal(pool, its.besides, place)
}

/** How many addresses of one family the pods of one namespace may have; undefined: any number. */
export function quotaOf({ quotaPerNamespace, besides }: PoolRules): number | undefined {
  const quotas = [quotaPerNamespace, besides?.quotaPerNamespace].filter(quota => quota !== undefined)
  return quotas.length === 0 ? undefined : Math.min(...quotas)
}

/** Whether somebody has to know the labels of namespaces to tell who may use the pool. */
export function selectsNamespaces({ namespaceSelector, besides }: PoolRules): boolean {
  return namespaceSelector !== undefined || besides?.namespaceSelector !== undefined
}
