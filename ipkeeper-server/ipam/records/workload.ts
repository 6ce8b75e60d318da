import { bearsAllocationId, groupOf } from './allocation.ts'
import { kindsAgree, type Holder, type Workload } from './records.ts'
import type { Owner } from './pod-facts.ts'

/** A workload whose owner object the API told. */
export type KnownWorkload = { readonly [K in keyof Workload]: NonNullable<Workload[K]> }

/** Characters of the random parts of names (k8s.io/apimachinery/pkg/util/rand: no vowels, no 0, 1, 3). */
const random = '[bcdfghjklmnpqrstvwxz2456789]'
/** Those that a decimal number becomes in a pod template hash (rand.SafeEncodeString); dates and times have others. */
const hashed = '[456789bcdf]'
const replicaSetPod = new RegExp(`^(.+)-${hashed}{6,10}-[a-z0-9]{5}$`)
const generatedPod = new RegExp(`^(.+)-${random}{5}$`)
const ordinalPod = /^(.+)-(0|[1-9][0-9]{0,8})$/

/**
 * The workload behind a pod: its owner where the API told it, else what the pod's own name says. `web-0` is a
 * StatefulSet's, `web-6d4cf56db6-x2x5z` a Deployment's; `agent-x2x5z` is some controller's; `web.cache[0]` is an allocation of
 * Nomad's; any other name is a bare pod's, which is a workload of its own.
 */
export function workloadOf(
  holder: Holder,
  podUid: string | null,
  owner: Owner | null | undefined,
): Workload | null {
  if (holder.kind !== 'pod') return null
  const { namespace, name } = holder
  const group = groupOf(holder)
  if (group) return group
  if (owner)
    return {
      namespace,
      kind: owner.kind,
      name: owner.name,
      apiVersion: owner.apiVersion,
      uid: owner.uid || null,
    }
  if (owner === null) return { namespace, kind: 'Pod', name, apiVersion: 'v1', uid: podUid }
  const inferred = (kind: string | null, base: string | undefined): Workload => ({
    namespace,
    kind,
    name: base ?? name,
    apiVersion: null,
    uid: null,
  })
  const deployment = replicaSetPod.exec(name)
  if (deployment) return inferred('Deployment', deployment[1])
  const generated = generatedPod.exec(name)
  if (generated) return inferred(null, generated[1])
  const ordinal = ordinalPod.exec(name)
  return ordinal ? inferred('StatefulSet', ordinal[1]) : inferred('Pod', name)
}

/**
 * Whether two holders belong to one workload, as far as it is known of both. Two UIDs have to be the same, so that a
 * workload that was made anew is another one.
 */
export function sameWorkload(a: Workload | null | undefined, b: Workload | null | undefined): boolean {
  if (!a || !b) return false
  return (
    a.namespace === b.namespace &&
    a.name === b.name &&
    kindsAgree(a.kind, b.kind) &&
    (a.uid === null || b.uid === null || a.uid === b.uid)
  )
}

/**
 * The place of a pod in its StatefulSet: the ordinal at the end of its name, and its index from `spec.ordinals.start`.
 * undefined for pods whose names are generated. A bare pod named like a StatefulSet's has an ordinal too, so that the
 * answer does not depend on whether the API was there to ask (DESIGN.md, "Words").
 */
export function ordinalOf(
  holder: Holder,
  owner: Owner | null | undefined,
): { readonly ordinal: number; readonly index: number } | undefined {
  if (holder.kind !== 'pod') return undefined
  if (owner ? owner.kind !== 'StatefulSet' : isGeneratedName(holder.name)) return undefined
  const match = ordinalPod.exec(holder.name)
  if (!match) return undefined
  const ordinal = Number(match[2])
  return { ordinal, index: ordinal - (owner?.ordinalsStart ?? 0) }
}

/** Whether the name looks as if a controller had made it up. */
function isGeneratedName(name: string): boolean {
  return generatedPod.test(name) || replicaSetPod.test(name) || bearsAllocationId(name)
}

const makersOfNames = ['ReplicationController', 'ReplicaSet', 'Deployment', 'DaemonSet', 'Job', 'CronJob']

/**
 * Whether a pod's name was made up by its controller: no later pod will ever bear it. The kind tells where it is known;
 * the name of a StatefulSet's pod may look like a made-up one (web-24567), and a long one is cut until it does not.
 */
export function bearsGeneratedName(name: string, workload: Workload | null | undefined): boolean {
  const kind = workload?.kind ?? null
  if (kind !== null && makersOfNames.includes(kind)) return true
  return kindsAgree(kind, null) && isGeneratedName(name)
}

/** Whether the API told of it, so that it can be asked whether the owner is still there. */
export function isKnown(workload: Workload): workload is KnownWorkload {
  return workload.uid !== null && workload.kind !== null && workload.apiVersion !== null
}

/** "StatefulSet shop/web"; "workload shop/web" where the kind is not known. */
export function describeWorkload({ kind, namespace, name }: Workload): string {
  return `${kind ?? 'workload'} ${namespace}/${name}`
}
