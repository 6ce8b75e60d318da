import { Problem } from '../../../shared/problem/problem.ts'
import { rulesYaml } from '../../kubernetes/access-rules.ts'
import { ApiError } from '../../kubernetes/api-error.ts'
import { EngineAway } from '../shared/engine.ts'
import { apiGroup, resources, type ResourceKind } from './resources.ts'

/** Milliseconds until the next try where the server asks to be left alone and does not say for how long. */
const standardPause = 1000

/** How to make the API server know the custom resources. */
export const installLine = 'kubectl apply -k deploy/crds'

const grantCommand = 'kubectl apply -f deploy/rbac/rbac.yaml'

/** The server has no such resource: it says so in a text of its own, since no part of it is there to answer. */
export function isUninstalled(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404 && error.reason === undefined
}

/** The object is not as the request had it: of another version, gone, or there already. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  return error.status === 409 || (error.status === 404 && error.reason === 'NotFound')
}

/** Milliseconds to wait before the same request may be sent again; undefined when it may have been carried out. */
export function pauseBeforeRetry(error: unknown): number | undefined {
  return error instanceof ApiError && error.status === 429 ? (error.retryAfter ?? standardPause) : undefined
}

/** The server refuses whatever is asked about a kind: it does not know it, or gives us no right to it. */
export class KindRefused extends Problem {
  readonly kind: ResourceKind
  /** What to type. */
  readonly remedy: string

  constructor(kind: ResourceKind, message: string, remedy: string, hint: string, cause: unknown) {
    super('IPK_STORE_FAILED', message, { hint, cause })
    this.kind = kind
    this.remedy = remedy
  }
}

/**
 * What a failed request means for whoever asked the engine: EngineAway where it may have been carried out or may work
 * later, else a Problem. Conflicts are the caller's.
 */
export function judgeFailure(error: unknown, kind: ResourceKind, verb: string): Error {
  if (!(error instanceof ApiError)) return error instanceof Error ? error : new Error(String(error))
  const { status, message } = error
  const { plural } = resources[kind]
  if (isUninstalled(error)) {
    return new KindRefused(
      kind,
      `the Kubernetes API has no ${plural}.${apiGroup}`,
      installLine,
      `install the custom resources: ${installLine}`,
      error,
    )
  }
  if (status === 403) {
    const missing = rulesYaml([{ group: apiGroup, resource: plural, verb, why: '' }])
    return new KindRefused(
      kind,
      `ipkeeper may not ${verb} ${plural}: ${message}`,
      grantCommand,
      `${grantCommand}, or add to its ClusterRole:\n${missing}`,
      error,
    )
  }
  const refused = status !== undefined && status >= 400 && status < 500 && ![401, 408, 429].includes(status)
  return refused
    ? new Problem('IPK_STORE_FAILED', `the Kubernetes API refuses a record: ${message}`, {
        hint: message.includes('ValidatingAdmissionPolicy')
          ? 'see what policies this cluster has: kubectl get validatingadmissionpolicybinding; docs/operations/node-policy.md is about our own'
          : `see whether deploy/crds is that of this version: ${installLine}`,
        cause: error,
      })
    : new EngineAway(message, { cause: error })
}
