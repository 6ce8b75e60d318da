import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import {
  misplaced,
  ownerKind,
  madeUp,
  podSuffixes,
  standardSurge,
  surgeOf,
} from '../../kubernetes/owner-kinds.ts'
import { withOwnersKeys } from '../../kubernetes/dialects/owner-keys.ts'
import { readManifestSources, type ManifestPath, type ManifestSource } from './manifest-source.ts'

/** A pod that a manifest describes, directly or by its template. */
export interface ManifestPod {
  readonly namespace: string
  readonly name: string
  readonly annotations: Readonly<Record<string, string>>
  readonly owner?: {
    readonly apiVersion: string
    readonly kind: string
    readonly name: string
    readonly ordinalsStart?: number
  }
  readonly podsAtOnce?: { readonly replicas: number; readonly surge: number }
  /** What a person should know: a made-up name, an annotation in the wrong place. */
  readonly notes: readonly string[]
}

/** How many pods of one StatefulSet are explained, and of a manifest. */
const mostReplicas = 20
const mostPods = 1000

/** An object of a manifest and where it stands. */
interface Place {
  readonly source: ManifestSource
  readonly object: JsonObject
  readonly path: ManifestPath
}

/** How many pods there are at once, as far as the manifest says so. */
type CountPods = (place: Place) => { readonly replicas: number; readonly surge: number } | undefined

interface WorkloadKind {
  /** Where the template of its pods is. */
  readonly template: readonly string[]
  readonly count: CountPods
}

const replicasOf = (place: Place, key = 'replicas', ...base: readonly string[]): number =>
  wholeNumber(place, [...base, 'spec', key], 1)

const kinds: Readonly<Record<string, WorkloadKind>> = {
  StatefulSet: {
    template: ['spec', 'template'],
    count: place => ({ replicas: replicasOf(place), surge: 0 }),
  },
  Deployment: {
    template: ['spec', 'template'],
    count: place => {
      const replicas = replicasOf(place)
      return { replicas, surge: surgeIn(place, replicas) }
    },
  },
  ReplicaSet: {
    template: ['spec', 'template'],
    count: place => ({ replicas: replicasOf(place), surge: 0 }),
  },
  // One for each node, which no manifest tells.
  DaemonSet: { template: ['spec', 'template'], count: () => undefined },
  Job: {
    template: ['spec', 'template'],
    count: place => ({ replicas: replicasOf(place, 'parallelism'), surge: 0 }),
  },
  CronJob: {
    template: ['spec', 'jobTemplate', 'spec', 'template'],
    count: place => ({ replicas: replicasOf(place, 'parallelism', 'spec', 'jobTemplate'), surge: 0 }),
  },
}

const podKinds = ['Pod', ...Object.keys(kinds)]

function at(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => (isJsonObject(found) ? found[key] : undefined), object)
}

function fault({ source, path }: Place, inner: readonly string[], what: string): Problem {
  return source.fault([...path, ...inner], what)
}

/** The text at a path; '' where there is none. */
function textAt(place: Place, path: readonly string[]): string {
  const value = at(place.object, path) ?? ''
  if (typeof value === 'string') return value
  throw fault(place, path, `${path.join('.')} is no text: put it in quotes`)
}

function wholeNumber(place: Place, path: readonly string[], standard: number): number {
  const value = at(place.object, path) ?? standard
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000) return value
  throw fault(place, path, `${path.join('.')} is no whole number up to 1000000`)
}

/** How many pods a rollout of a Deployment adds. */
function surgeIn(place: Place, replicas: number): number {
  if (textAt(place, ['spec', 'strategy', 'type']) === 'Recreate') return 0
  const path = ['spec', 'strategy', 'rollingUpdate', 'maxSurge']
  const value = at(place.object, path) ?? standardSurge
  if (typeof value === 'number') return wholeNumber(place, path, 0)
  const surge = surgeOf(value, replicas)
  if (surge === undefined) throw fault(place, path, 'maxSurge is neither a whole number nor a percentage')
  return surge
}

function annotationsAt(place: Place, base: readonly string[]): Record<string, string> {
  const path = [...base, 'metadata', 'annotations']
  const value = at(place.object, path) ?? {}
  if (!isJsonObject(value)) throw fault(place, path, 'annotations are no mapping of keys to texts')
  return Object.fromEntries(
    Object.entries(value).map(([key, text]): [string, string] => {
      if (typeof text === 'string') return [key, text]
      throw fault(place, [...path, key], `annotation ${key} is no text: put it in quotes`)
    }),
  )
}

/** The name of an object. A pod's may be one that the API server has to complete. */
function nameOf(place: Place, kind: string): { readonly name: string; readonly notes: readonly string[] } {
  const name = textAt(place, ['metadata', 'name'])
  if (name !== '') return { name, notes: [] }
  const prefix = textAt(place, ['metadata', 'generateName'])
  if (prefix === '') throw fault(place, ['metadata'], `a ${kind} without metadata.name`)
  const made = `${prefix}${madeUp.pod}`
  return { name: made, notes: [`${made} is a name made up from generateName`] }
}

/** The controller of a pod that was read from a cluster: above a ReplicaSet, the Deployment that its name tells. */
function controllerOf(place: Place): ManifestPod['owner'] {
  const references = at(place.object, ['metadata', 'ownerReferences'])
  const controller = (Array.isArray(references) ? references : [])
    .filter(isJsonObject)
    .find(reference => reference['controller'] === true)
  const { apiVersion, kind, name } = controller ?? {}
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string') return undefined
  // A static pod's mirror belongs to its Node, which is no workload.
  if (kind === 'Node') return undefined
  const hash = at(place.object, ['metadata', 'labels', 'pod-template-hash'])
  return kind === 'ReplicaSet' && typeof hash === 'string' && name.endsWith(`-${hash}`)
    ? { apiVersion, kind: 'Deployment', name: name.slice(0, -hash.length - 1) }
    : { apiVersion, kind, name }
}

/** Annotations of ours where no pod sees them. */
function misplacedNotes(place: Place, apiVersion: string, kind: string): readonly string[] {
  const row = ownerKind({ apiVersion, kind })
  return (row ? misplaced(place.object, row) : []).map(
    ({ key, found, belongs }) =>
      `${key} is in ${found} of the ${kind}, where no pod sees it: move it to ${belongs}`,
  )
}

/** Ordinals to explain, from `start`: all, or the first ones and the last, which a short list fails first. */
function ordinals(start: number, replicas: number): readonly number[] {
  const count = Math.max(1, Math.min(replicas, mostReplicas))
  return Array.from(
    { length: count },
    (_, index) => start + (index === count - 1 ? Math.max(replicas, 1) - 1 : index),
  )
}

function podsOfWorkload(place: Place, namespace: string, kind: string, row: WorkloadKind): ManifestPod[] {
  const apiVersion = textAt(place, ['apiVersion'])
  if (apiVersion === '') throw fault(place, [], `a ${kind} without apiVersion`)
  if (!isJsonObject(at(place.object, row.template)))
    throw fault(place, row.template, `a ${kind} without ${row.template.join('.')}`)
  const { name, notes } = nameOf(place, kind)
  const podsAtOnce = row.count(place)
  const base = {
    namespace,
    annotations: withOwnersKeys(annotationsAt(place, row.template), annotationsAt(place, [])),
    ...(podsAtOnce && { podsAtOnce }),
  }
  const all = [...notes, ...misplacedNotes(place, apiVersion, kind)]
  const owner = { apiVersion, kind, name }
  const suffix = podSuffixes[kind]
  if (suffix !== undefined) {
    const made = `${name}${suffix}`
    return [{ ...base, name: made, owner, notes: [...all, `${made} is a name made up for one of its pods`] }]
  }
  const ordinalsStart = wholeNumber(place, ['spec', 'ordinals', 'start'], 0)
  const { replicas = 1 } = podsAtOnce ?? {}
  if (replicas === 0) all.push('replicas is 0: its first pod is explained all the same')
  if (replicas > mostReplicas)
    all.push(`of its ${replicas} pods the first ${mostReplicas - 1} and the last are explained`)
  return ordinals(ordinalsStart, replicas).map(ordinal => ({
    ...base,
    name: `${name}-${ordinal}`,
    owner: { ...owner, ordinalsStart },
    notes: all,
  }))
}

/** Objects of a list. Those of a PodList may say neither kind nor apiVersion. */
function podsOfList(place: Place, kind: string, standard: string): ManifestPod[] {
  const { source, path, object } = place
  const items = object['items'] ?? []
  if (!Array.isArray(items)) throw fault(place, ['items'], 'items is no list')
  const implied =
    kind === 'List' ? {} : { kind: kind.slice(0, -'List'.length), apiVersion: object['apiVersion'] }
  return items.flatMap((item: unknown, index) => {
    const inner = [...path, 'items', index]
    if (!isJsonObject(item)) throw source.fault(inner, 'an item that is no object')
    const member: Place = { source, object: { ...implied, ...item }, path: inner }
    // An anchor may stand for a list that it is in, which has no end.
    if (textAt(member, ['kind']).endsWith('List')) throw source.fault(inner, 'a list within a list')
    return podsOf(member, standard)
  })
}

function podsOf(place: Place, standard: string): ManifestPod[] {
  const kind = textAt(place, ['kind'])
  if (kind === '') throw fault(place, [], 'an object without kind')
  if (kind.endsWith('List')) return podsOfList(place, kind, standard)
  const meant = podKinds.find(known => known.toLowerCase() === kind.toLowerCase())
  if (meant === undefined) return []
  if (meant !== kind) throw fault(place, ['kind'], `kind "${kind}" is unknown; did you mean "${meant}"?`)
  const namespace = textAt(place, ['metadata', 'namespace']) || standard
  const row = kinds[kind]
  if (row) return podsOfWorkload(place, namespace, kind, row)
  const owner = controllerOf(place)
  return [
    { namespace, ...nameOf(place, kind), annotations: annotationsAt(place, []), ...(owner && { owner }) },
  ]
}

/**
 * The pods of a manifest (YAML or JSON, one or several documents): Pods as they are, one pod of each workload's template,
 * and those of a StatefulSet, of which a large one has but some. Other kinds are passed over.
 *
 * @param file for messages
 * @param namespace of objects that name none
 * @throws Problem IPK_REQUEST_INVALID with file, line and column
 */
export function readManifest(text: string, file: string, namespace: string): readonly ManifestPod[] {
  const pods = readManifestSources(text, file).flatMap(source => {
    if (!isJsonObject(source.value)) throw source.fault([], 'a document that is no object')
    return podsOf({ source, object: source.value, path: [] }, namespace)
  })
  if (pods.length === 0) {
    throw new Problem('IPK_REQUEST_INVALID', `${file}: no Pod and no workload with a pod template`, {
      hint: `kinds that have pods: ${podKinds.join(', ')}`,
    })
  }
  if (pods.length > mostPods) {
    throw new Problem('IPK_REQUEST_INVALID', `${file}: ${pods.length} pods, which is more than ${mostPods}`, {
      hint: 'explain parts of it',
    })
  }
  return pods
}
