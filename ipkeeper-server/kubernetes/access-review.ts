import type { ApiClient } from './api-client.ts'
import { accessRules, rulesYaml, type AccessRule } from './access-rules.ts'
import { at } from './kube-object.ts'

export interface AccessReport {
  /** Milliseconds since the epoch. */
  readonly checkedAt: number
  readonly missing: readonly AccessRule[]
  /** What to add to the ClusterRole, as YAML; empty when nothing is missing. */
  readonly add: string
}

export interface AccessNeeds {
  readonly watchNamespaces: boolean
  /** Whether the ledger is in custom resources. */
  readonly kubernetesStore: boolean
}

/** The rights that are needed with these options. */
export function neededRules(needs: AccessNeeds): readonly AccessRule[] {
  return accessRules.filter(({ onlyWith }) => onlyWith === undefined || needs[onlyWith])
}

/**
 * Asks the API which of the rights it would grant us: one SelfSubjectAccessReview each, across all namespaces. Rejects
 * with ApiError when that cannot be asked; a webhook of the cluster that cannot tell counts as a refusal, as it would
 * for a request.
 */
export async function reviewAccess(
  client: ApiClient,
  needs: AccessNeeds,
  now: number,
): Promise<AccessReport> {
  const answers = await Promise.all(
    neededRules(needs).map(async rule => {
      const { group, resource, verb } = rule
      const answer = await client.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { group, resource, verb } },
      })
      return { rule, allowed: at(answer, 'status', 'allowed') === true }
    }),
  )
  const missing = answers.filter(({ allowed }) => !allowed).map(({ rule }) => rule)
  return { checkedAt: now, missing, add: rulesYaml(missing) }
}
