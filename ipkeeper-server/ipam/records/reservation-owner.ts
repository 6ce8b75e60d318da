import { Problem } from '../../../shared/problem/problem.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import { isReservedFor, type Holder, type ReservationRecord, type Workload } from './records.ts'
import type { Retention } from './retention.ts'

/** Whom an address is promised to, as the record says it. */
export type ReservationOwner = Pick<ReservationRecord, 'namespace' | 'name' | 'kind'>

/** Kinds that a reservation may name, with what kubectl calls them for short. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  Pod: ['pod', 'pods', 'po'],
  StatefulSet: ['statefulset', 'statefulsets', 'sts'],
  Deployment: ['deployment', 'deployments', 'deploy'],
  DaemonSet: ['daemonset', 'daemonsets', 'ds'],
  Job: ['job', 'jobs'],
  CronJob: ['cronjob', 'cronjobs', 'cj'],
  ReplicaSet: ['replicaset', 'replicasets', 'rs'],
}

/** What a kind is called that is proposed: its full name. */
const proposed = Object.values(kinds).flatMap(([word = '']) => word)

const namespaceName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const objectName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

const externalPrefix = 'external:'

/** "StatefulSet" of "sts", in any case; undefined for a kind that no reservation names. */
export function fullKind(word: string): string | undefined {
  return Object.keys(kinds).find(kind => kinds[kind]?.includes(word.toLowerCase()))
}

const invalid = (text: string, what: string): Problem =>
  new Problem('IPK_REQUEST_INVALID', `owner "${text}" ${what}`, {
    hint: 'write for example shop/web-0 for a pod, shop/statefulset/web for a workload, or external:printer-3 for an owner that is no pod',
  })

/**
 * "shop/web-0", a pod; "shop/statefulset/web", any pod of a workload, in any case and as short as for kubectl;
 * "external:printer-3", an owner that is no pod. A word alone is none of them: somebody may have forgotten the namespace.
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export function parseReservationOwner(text: string): ReservationOwner {
  if (text.startsWith(externalPrefix)) {
    const name = text.slice(externalPrefix.length)
    if (!objectName.test(name)) throw invalid(text, `has no valid name: "${name}"`)
    return { namespace: '', name, kind: 'external' }
  }
  const parts = text.split('/')
  const [namespace = '', word = ''] = parts
  const name = parts.slice(-1).join('')
  if (parts.length < 2 || parts.length > 3)
    throw invalid(text, 'is neither NAMESPACE/POD, NAMESPACE/KIND/NAME nor external:NAME')
  if (!objectName.test(name)) throw invalid(text, `has no valid name: "${name}"`)
  if (!namespaceName.test(namespace)) throw invalid(text, `has no valid namespace: "${namespace}"`)
  if (parts.length === 2) return { namespace, name }
  const kind = fullKind(word)
  if (kind === undefined) {
    const meant = nearestWord(word, proposed)
    throw invalid(text, `names kind "${word}", which has no pods${meant ? `; did you mean "${meant}"?` : ''}`)
  }
  return kind === 'Pod' ? { namespace, name } : { namespace, name, kind }
}

/** The text that parseReservationOwner reads as this owner, the kind in lower case. */
export function formatReservationOwner({ namespace, name, kind }: ReservationOwner): string {
  if (kind === 'external') return `${externalPrefix}${name}`
  return kind === undefined ? `${namespace}/${name}` : `${namespace}/${kind.toLowerCase()}/${name}`
}

export function sameOwner(a: ReservationOwner, b: ReservationOwner): boolean {
  return a.namespace === b.namespace && a.name === b.name && a.kind === b.kind
}

/** What a reservation says becomes of its address after DEL, where the holder is whom it was promised to. */
export function reservedRetention(
  reservation: ReservationRecord | undefined,
  holder: Holder,
  workload: Workload | null,
): Retention | undefined {
  return reservation && isReservedFor(reservation, holder, workload) ? reservation.retain : undefined
}
