import { isJsonObject, type JsonObject } from '../../../../shared/json/fold.ts'
import type { Owner, StringMap } from '../../../ipam/records/pod-facts.ts'
import type { Holder } from '../../../ipam/records/records.ts'
import type { PodsAtOnce } from '../../../ipam/choose/too-few-addresses.ts'
import { at, readMeta, stringMap, type ObjectMeta } from '../../../kubernetes/kube-object.ts'
import { misplaced, ownerKind, podSuffixes, standardSurge, surgeOf } from '../../../kubernetes/owner-kinds.ts'

/** The pods that an object is, or brings by its template, as far as their addresses go. */
export interface BroughtPods {
  readonly namespace: string
  readonly annotations: StringMap
  /** One of them by its interface; `index` tells those of a StatefulSet apart. */
  readonly holder: (ifname: string, index?: number) => Holder
  /** null for a bare pod. Without a UID: of an object that need not exist yet. */
  readonly owner: Owner | null
  /** undefined for one pod, and where nobody can tell (a DaemonSet has one for each node). */
  readonly atOnce: PodsAtOnce | undefined
  /**
   * Whether a controller makes it of what it was told itself: then its numbers were looked at there, and who has its
   * addresses only an ADD can say, which knows all of its owners.
   */
  readonly controlled: boolean
  /** Annotations of ours where no pod sees them, one sentence each. */
  readonly misplaced: readonly string[]
}

const podTemplate = ['spec', 'template', 'metadata', 'annotations'] as const

const numberAt = (object: JsonObject, standard: number, ...path: readonly string[]): number => {
  const value = at(object, ...path)
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : standard
}

type CountPods = (object: JsonObject) => PodsAtOnce | undefined

const replicas: CountPods = object => ({ replicas: numberAt(object, 1, 'spec', 'replicas'), surge: 0 })

const counts: Readonly<Record<string, CountPods>> = {
  StatefulSet: replicas,
  ReplicaSet: replicas,
  Deployment: object => {
    const wanted = numberAt(object, 1, 'spec', 'replicas')
    if (at(object, 'spec', 'strategy', 'type') === 'Recreate') return { replicas: wanted, surge: 0 }
    const maxSurge = at(object, 'spec', 'strategy', 'rollingUpdate', 'maxSurge') ?? standardSurge
    return { replicas: wanted, surge: surgeOf(maxSurge, wanted) ?? 0 }
  },
  DaemonSet: () => undefined,
  Job: object => ({ replicas: numberAt(object, 1, 'spec', 'parallelism'), surge: 0 }),
  CronJob: object => ({
    replicas: numberAt(object, 1, 'spec', 'jobTemplate', 'spec', 'parallelism'),
    surge: 0,
  }),
}

function podOf({ name, namespace = '', annotations, controller }: ObjectMeta): BroughtPods {
  // The mirror of a static pod belongs to its Node, which is no workload.
  const owner = controller && controller.kind !== 'Node' ? { ...controller, uid: '' } : null
  return {
    namespace,
    annotations,
    holder: ifname => ({ kind: 'pod', network: '', namespace, name, ifname }),
    owner,
    atOnce: undefined,
    controlled: owner !== null,
    misplaced: [],
  }
}

/** The pods of an object; undefined for kinds that have none, and for what is no object of the API. */
export function broughtPods(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  object: JsonObject,
): BroughtPods | undefined {
  const meta = readMeta({ ...object, metadata: completed(object['metadata']) })
  const row = ownerKind({ apiVersion, kind })
  if (!meta || !row) return undefined
  if (kind === 'Pod') return podOf(meta)
  const { name, namespace = '', controller } = meta
  const start = numberAt(object, 0, 'spec', 'ordinals', 'start')
  const suffix = podSuffixes[kind]
  const nameOf = (index: number): string => `${name}${suffix ?? `-${start + index}`}`
  return {
    namespace,
    annotations: stringMap(at(object, ...(row.template ?? podTemplate))),
    holder: (ifname, index = 0) => ({
      ...{ kind: 'pod', network: '', namespace, ifname },
      name: nameOf(index),
    }),
    owner: { apiVersion, kind, name, uid: '', ...(kind === 'StatefulSet' && { ordinalsStart: start }) },
    atOnce: controller ? undefined : counts[kind]?.(object),
    controlled: controller !== undefined,
    misplaced: misplaced(object, row).map(
      ({ key, found, belongs }) =>
        `${key} is in ${found} of the ${kind}, where no pod sees it: move it to ${belongs}`,
    ),
  }
}

/** Metadata that reads as an object's: one that is about to be made may lack what only the store gives it. */
function completed(metadata: unknown): unknown {
  return isJsonObject(metadata) ? { uid: 'none', resourceVersion: '0', ...metadata } : metadata
}
