import { status } from '@grpc/grpc-js'
import { Problem } from '../../../shared/problem/problem.ts'

/**
 * What a failed call means. Codes are those of gRPC; etcd's own texts are in rpctypes/error.go.
 *
 * - unreachable: it was not sent.
 * - uncertain: no answer, or one that says nothing of what became of it.
 * - login: our token is not, or no longer, taken; nothing was done.
 * - refused: nothing was done, and trying again does not help.
 */
export type EtcdFailureKind = 'unreachable' | 'uncertain' | 'login' | 'refused'

const refusals: readonly status[] = [
  status.INVALID_ARGUMENT,
  status.PERMISSION_DENIED,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.DATA_LOSS,
  status.UNAUTHENTICATED,
]

/** How grpc-js begins the text of a call that found no connection. */
const unsent = /^No connection established|^Channel closed before call started/

/** A token that was forgotten, or is from before users were changed, or is missing where users were switched on. */
const staleLogin = /invalid auth token|revision of auth store is old|user name is empty/

const outOfSpace = /database space exceeded/

export function judge(code: status, text: string): EtcdFailureKind {
  if (staleLogin.test(text)) return 'login'
  if (outOfSpace.test(text)) return 'refused'
  if (unsent.test(text)) return 'unreachable'
  return refusals.includes(code) ? 'refused' : 'uncertain'
}

/** One call to one endpoint that failed. */
export class EtcdFailure extends Error {
  readonly endpoint: string
  readonly code: status
  readonly verdict: EtcdFailureKind

  /** @param verdict where the text does not tell */
  constructor(endpoint: string, code: status, text: string, verdict = judge(code, text)) {
    super(text)
    this.name = 'EtcdFailure'
    this.endpoint = endpoint
    this.code = code
    this.verdict = verdict
  }

  /** In one line, with the endpoint. */
  get line(): string {
    return `${this.endpoint}: ${this.message}`
  }
}

const hints: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [
    outOfSpace,
    'see `etcdctl alarm list`; then compact, `etcdctl defrag`, `etcdctl alarm disarm`, or raise --quota-backend-bytes of etcd',
  ],
  [
    /too many operations/,
    'the change has more records than one transaction of etcd may: raise --max-txn-ops of etcd',
  ],
  [
    /request is too large/,
    'the change is larger than one request of etcd may be: raise --max-request-bytes of etcd',
  ],
  [
    /permission denied/,
    'give the user of store.etcd a role that may read and write the prefix: `etcdctl role grant-permission ROLE --prefix=true readwrite PREFIX`',
  ],
  [/authentication failed/, 'correct "user" and "passwordFile" of store.etcd in the configuration'],
  [
    /user name is empty|invalid auth token/,
    'etcd wants a user: set "user" and "passwordFile" of store.etcd in the configuration',
  ],
]

/** What is said of a call that is refused whatever is tried again. */
export function refusal(failure: EtcdFailure): Problem {
  const hint = hints.find(([pattern]) => pattern.test(failure.message))?.[1] ?? 'see the log of etcd'
  return new Problem('IPK_STORE_FAILED', `etcd refuses: ${failure.line}`, { cause: failure, hint })
}
